import type { Command } from '@event-driven-io/emmett'
import { foldName, unreachable } from '../../events/common.js'
import type { ProjectEvent } from '../../events/project.js'
import { conflict, notFound, Problem } from '../basics/errors.js'
import { endOf } from './job.js'
import type { NewEvent } from '../log/contract/log.js'
import { byName, byExactName, contentsOf, type FactsOf } from '../log/contract/lookups.js'
import { systemDatabases } from '../catalogue/system-databases.js'
import { listed } from './rules/listed.js'
import { decider } from './rules/decider.js'

export type ProjectCommand =
  | Command<'CreateProject', { project: string; unlessExists?: boolean }>
  | Command<'RenameProject', { project: string; name: string; defaultProject: string }>
  | Command<'DeleteProject', { project: string; defaultProject: string; ifExists?: boolean }>

/** Names that SQL reserves. */
export const reservedDatabases: readonly string[] = [...systemDatabases, 'system', 'ledger', 'main', 'temp', 'pg_catalog']

const reads = ({ type, data }: ProjectCommand) => ({
  project: (type === 'CreateProject' ? byExactName : byName)('project', data.project),
  clash: byExactName('project', type === 'RenameProject' ? data.name : data.project),
  database: byExactName('database', type === 'RenameProject' ? data.name : data.project),
  // Only a deletion needs it: a project may hold a hundred thousand resources.
  contents: contentsOf(type === 'DeleteProject' ? data.project : ''),
})

const decide = (
  command: ProjectCommand,
  { project, clash, database, contents }: FactsOf<ReturnType<typeof reads>>,
): (ProjectEvent | NewEvent)[] => {
  const { data } = command
  switch (command.type) {
    case 'CreateProject':
      if (project && command.data.unlessExists) return []
      refuseTaken(data.project, project ?? database)
      return [{ type: 'ProjectCreated', data: { name: data.project } }]
    case 'RenameProject': {
      if (!project) throw notFound('project', data.project)
      refuseDefault(project.state.name, command.data.defaultProject, 'renamed')
      if (command.data.name === project.state.name) return []
      refuseTaken(command.data.name, (clash?.stream === project.stream ? undefined : clash) ?? database)
      return [{ type: 'ProjectRenamed', data: { name: command.data.name } }]
    }
    case 'DeleteProject': {
      if (!project) {
        if (command.data.ifExists) return []
        throw notFound('project', data.project)
      }
      refuseDefault(project.state.name, command.data.defaultProject, 'deleted')
      const { jobs, others, firstOthers } = contents
      if (others > 0)
        throw new Problem(
          'not_empty',
          'Project is not empty',
          `Project '${project.state.name}' can not be deleted, because it contains: ${listed(firstOthers, others)}`,
          { hint: 'Delete or move its contents first.' },
        )
      // Jobs do not prevent the deletion of their project: they end with it.
      return [...jobs.flatMap((job) => endOf(job).map((event) => ({ stream: job.stream, event }))), { type: 'ProjectDeleted', data: {} }]
    }
    default:
      return unreachable(command)
  }
}

const refuseTaken = (name: string, taken: unknown): void => {
  if (taken) throw conflict('project', name)
  if (reservedDatabases.includes(foldName(name))) throw new Problem('already_exists', 'Name conflict', `${name} is a reserved name of SQL`)
}

const refuseDefault = (name: string, defaultProject: string, what: string): void => {
  if (foldName(name) === foldName(defaultProject))
    throw new Problem('not_empty', 'Default project', `Project '${name}' can not be ${what}, because it is the default project`, {
      hint: 'Another default is chosen with the setting DEFAULT_PROJECT.',
    })
}

/** Decides the commands of projects. */
export const projectDecider = decider('project', {
  commands: { CreateProject: true, RenameProject: true, DeleteProject: true },
  secrets: [],
  rollback: null,
  reads,
  decide,
})
