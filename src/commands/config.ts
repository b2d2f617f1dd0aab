import type { Command } from '@event-driven-io/emmett'
import type { JsonObject, StreamId } from '../../events/common.js'
import { configNames, type ConfigEvent, type ConfigName } from '../../events/config.js'
import type { NewEvent } from '../log/contract/log.js'
import { byExactName, type FactsOf } from '../log/contract/lookups.js'
import { refuseMovedKeys } from './rules/bound-keys.js'
import { replacedParams } from './rules/params.js'
import { decider } from './rules/decider.js'

/** The whole new value of each default; an empty one resets the default. `streams` are for new defaults. */
export type ConfigCommand = Command<
  'UpdateConfig',
  { parameters: { [N in ConfigName]?: JsonObject }; streams: Record<ConfigName, StreamId> }
>

const reads = (_: ConfigCommand) => ({
  default_llm: byExactName('config', 'default_llm'),
  default_embedding_model: byExactName('config', 'default_embedding_model'),
  default_reranking_model: byExactName('config', 'default_reranking_model'),
  llm_prices: byExactName('config', 'llm_prices'),
})

type Facts = FactsOf<ReturnType<typeof reads>>

const withoutNulls = (value: JsonObject): JsonObject => Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))

const change = (name: ConfigName, sent: JsonObject, found: Facts[ConfigName]): ConfigEvent[] => {
  const value = replacedParams(found?.state.value ?? {}, withoutNulls(sent))
  const isEmpty = Object.keys(value).length === 0
  if (found) refuseMovedKeys({ params: found.state.value }, { params: value })
  if (!found) return isEmpty ? [] : [{ type: 'ConfigCreated', data: { name, value } }]
  if (isEmpty) return [{ type: 'ConfigDeleted', data: {} }]
  return JSON.stringify(value) === JSON.stringify(found.state.value) ? [] : [{ type: 'ConfigUpdated', data: { value } }]
}

const decide = ({ data }: ConfigCommand, facts: Facts): NewEvent[] =>
  configNames.flatMap((name) => {
    const sent = data.parameters[name]
    if (!sent) return []
    const stream = facts[name]?.stream ?? data.streams[name]
    return change(name, sent, facts[name]).map((event) => ({ stream, event }))
  })

/** Decides the commands of defaults. */
export const configDecider = decider('config', {
  commands: { UpdateConfig: true },
  secrets: ['parameters'],
  rollback: null,
  reads,
  decide,
})
