import type { Command } from '@event-driven-io/emmett'
import { unreachable } from '../../events/common.js'
import type { ViewEvent } from '../../events/view.js'
import { conflict, notFound } from '../basics/errors.js'
import { byName, byExactName, type FactsOf } from '../log/contract/lookups.js'
import { recordedDatabase } from './rules/data-source.js'
import { namesakes, refuseTakenName } from './rules/taken-names.js'
import { decider } from './rules/decider.js'
import { updatedTo } from './rules/rollback.js'

type Target = { project: string; view: string }
/** `database` is where the query's unqualified names are looked up. The view's own project is stored as an empty text. */
type Query = { query: string; database: string }
export type ViewCommand =
  | Command<'CreateView', Target & Query & { unlessExists?: boolean }>
  | Command<'UpdateView', Target & Query>
  | Command<'PutView', Target & Query>
  | Command<'DeleteView', Target & { ifExists?: boolean }>

const reads = ({ type, data }: ViewCommand) => ({
  project: byName('project', data.project),
  view: (type === 'CreateView' ? byExactName : byName)('view', data.view, data.project),
  ...namesakes(data.view, data.project),
})

const decide = (command: ViewCommand, facts: FactsOf<ReturnType<typeof reads>>): ViewEvent[] => {
  const { data } = command
  const { project, view } = facts
  if (!project) throw notFound('project', data.project)
  switch (command.type) {
    case 'CreateView':
    case 'PutView':
    case 'UpdateView': {
      const { query } = command.data
      // A view of its own project still reads it after the project is renamed.
      const database = recordedDatabase(command.data.database, project)
      if (view && command.type === 'CreateView' && command.data.unlessExists) return []
      if (view && command.type === 'CreateView') throw conflict('view', data.view)
      if (view) return [{ type: 'ViewUpdated', data: { query, database } }]
      if (command.type === 'UpdateView') throw notFound('view', data.view)
      refuseTakenName('view', data.view, facts)
      return [{ type: 'ViewCreated', data: { project: project.stream, name: data.view, query, database } }]
    }
    case 'DeleteView':
      if (!view && command.data.ifExists) return []
      if (!view) throw notFound('view', data.view)
      return [{ type: 'ViewDeleted', data: {} }]
    default:
      return unreachable(command)
  }
}

/** Decides the commands of views. Queries that hold a secret are refused. */
export const viewDecider = decider('view', {
  commands: { CreateView: true, UpdateView: true, PutView: true, DeleteView: true },
  secrets: [],
  rollback: { events: updatedTo('ViewUpdated', ['query', 'database'], 'ViewRenamed') },
  reads,
  decide,
})
