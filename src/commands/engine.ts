import type { Command } from '@event-driven-io/emmett'
import { unreachable, type JsonObject } from '../../events/common.js'
import type { EngineEvent } from '../../events/engine.js'
import { conflict, notFound, Problem } from '../basics/errors.js'
import { engineNamed, isEngineName, trainingHandlers } from '../catalogue/engines.js'
import { byExactName, type FactsOf } from '../log/contract/lookups.js'
import { newParams } from './rules/params.js'
import { decider } from './rules/decider.js'

type Target = { engine: string }
export type EngineCommand =
  | Command<'CreateEngine', Target & { handler: string; parameters: JsonObject; unlessExists?: boolean }>
  | Command<'DeleteEngine', Target & { ifExists?: boolean }>

const reads = ({ data }: EngineCommand) => ({ engine: byExactName('engine', data.engine) })

const decide = (command: EngineCommand, { engine }: FactsOf<ReturnType<typeof reads>>): EngineEvent[] => {
  const { data } = command
  switch (command.type) {
    case 'CreateEngine': {
      const { handler, parameters, unlessExists } = command.data
      const known = knownHandler(handler)
      const own = engineNamed(data.engine)
      if ((own || engine) && unlessExists) return []
      // Clients create `lightwood` before they use it; here it always exists.
      if (own && own === engineNamed(known)) return []
      if (own || engine) throw conflict('engine', data.engine)
      return [{ type: 'EngineCreated', data: { name: data.engine, handler: known, parameters: newParams(parameters) } }]
    }
    case 'DeleteEngine':
      if (isEngineName(data.engine))
        throw new Problem('refused_statement', 'Engines stay', `${data.engine} is not an engine that can be dropped`, {
          hint: 'It is part of this service; names that CREATE ML_ENGINE gave can be dropped.',
        })
      if (!engine && command.data.ifExists) return []
      if (!engine) throw notFound('engine', data.engine)
      return [{ type: 'EngineDeleted', data: {} }]
    default:
      return unreachable(command)
  }
}

const knownHandler = (handler: string): string => {
  const known = handler.toLowerCase()
  if (trainingHandlers.includes(known)) return known
  throw new Problem(
    'not_found',
    'ML handler not found',
    `There is no handler "${handler}" that trains models; there are ${trainingHandlers.join(', ')}`,
    { hint: `CREATE ML_ENGINE name FROM auto; SHOW ML_ENGINES lists the existing names.` },
  )
}

/** Decides the commands of the users' own names of engines. */
export const engineDecider = decider('engine', {
  commands: { CreateEngine: true, DeleteEngine: true },
  secrets: ['parameters'],
  rollback: null,
  reads,
  decide,
})
