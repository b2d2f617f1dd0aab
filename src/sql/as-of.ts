import { evolve, upcast, type Kind, type States } from '../../events/catalogue.js'
import { streamId, type StreamId } from '../../events/common.js'
import { parseEnvelope } from '../../events/envelope.js'
import { Problem } from '../errors.js'
import type { Found, Log, Resources } from '../log/log.js'
import type { Parameters, Statement, StatementKind } from './statements/statement.js'

/** A log position, or a time (without a zone: UTC), at which a whole statement reads. */
export type AsOf = number | string

const reading: ReadonlySet<StatementKind> = new Set<StatementKind>([
  'select',
  'system_select',
  'explain',
  'show',
  'describe',
  'describe_model',
  'evaluate',
  'use',
  'chatter',
])

/** The past is only read: a statement that writes would do so now, whatever `as_of` says. */
export const refuseWriteAsOf = ({ kind }: Statement, asOf: AsOf): void => {
  if (reading.has(kind)) return
  throw new Problem('refused_statement', 'The past cannot be changed', `as_of ${asOf} is for statements that read; this one writes`, {
    hint: 'Send it without "as_of" in the context.',
  })
}

/** Runs a SELECT of our own at a position, or at whatever the session says, and gives its rows. */
export type Ask = (sql: string, params?: Parameters) => Promise<unknown[][]>

/** The position that the session's `as_of` names. @throws Problem when there is none */
export const positionAsOf = async (ask: Ask): Promise<number> => Number((await ask('SELECT max(position) FROM log.events'))[0]?.[0])

/** Where each kind has its history, and the rows there that are of the kind. */
const histories: Record<Kind, string> = {
  project: `databases_history WHERE "TYPE" = 'project'`,
  database: `databases_history WHERE "TYPE" = 'data'`,
  file: 'files_history WHERE true',
  skill: 'skills_history WHERE true',
  agent: 'agents_history WHERE true',
  chatbot: 'chatbots_history WHERE true',
  view: 'views_history WHERE true',
  job: 'job_definitions_history WHERE true',
  model: 'model_activations_history WHERE true',
  config: 'config_history WHERE true',
  engine: 'ml_engines_history WHERE true',
}

const pageMaxEvents = 1_000

/** A resource folded from its own events up to a position. */
const foldedUpTo = async <K extends Kind>(
  log: Pick<Log, 'readStream'>,
  kind: K,
  stream: StreamId,
  position: number,
): Promise<Found<K> | undefined> => {
  let found: Found<K> | undefined
  for (let version = 0; ; version += pageMaxEvents) {
    const page = await log.readStream(stream, version, pageMaxEvents)
    for (const event of page) {
      if (event.position > position) return found
      const { type, schema, data, recorded_at: time, version: at } = parseEnvelope(event.text)
      const state: States[K] | undefined = evolve(kind, found?.state, { type, data: upcast(type, schema, data) })
      const created = found ?? { id: event.position, created_at: time }
      found = state && { kind, stream, id: created.id, version: at, created_at: created.created_at, updated_at: time, state }
    }
    if (page.length < pageMaxEvents) return found
  }
}

/** Resources by name as they were at a position. `ask` reads there. */
export const resourcesAsOf = (log: Pick<Log, 'readStream'>, position: number, ask: Ask): Pick<Resources, 'one'> => ({
  async one(kind, name, project) {
    const named = `"NAME" = :name AND "VALID_TO" IS NULL${project ? ' AND "PROJECT" = :project' : ''}`
    const params = { name, ...(project && { project: project.state.name }) }
    const rows = await ask(`SELECT "STREAM" FROM information_schema.${histories[kind]} AND ${named}`, params)
    const stream = streamId.safeParse(rows[0]?.[0])
    return stream.success ? foldedUpTo(log, kind, stream.data, position) : undefined
  },
})
