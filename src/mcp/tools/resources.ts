import * as z from 'zod'
import { isInProject, kinds, pluralOf, type Kind } from '../../../events/catalogue/catalogue.js'
import type { Json } from '../../../events/common.js'
import { wrong } from '../../basics/errors.js'
import { versionOf } from '../../commands/model.js'
import type { Moment } from '../../http/reads/read-routes.js'
import { projectNamed } from '../../log/read/by-name.js'
import type { AnyResource, Resource } from '../../log/contract/log.js'
import { maskSecrets } from '../../vault/seal-secrets.js'

/** The names of kinds of resources in tools: `agent`, `view` … */
export const kindSchema = z.enum(kinds as [Kind, ...Kind[]])

/** The names of lists in tools: `agents`, `views` …, each with its kind. */
export const lists: ReadonlyMap<string, Kind> = new Map(kinds.map((kind) => [pluralOf(kind), kind]))

/** The project of a kind's resources; none for kinds outside of projects. @throws Problem 404 */
export const projectFor = async (
  moment: Pick<Moment, 'resources'>,
  kind: Kind,
  name: string | undefined,
  defaultProject: string,
): Promise<Resource<'project'> | undefined> => {
  if (isInProject(kind)) return projectNamed(moment, name ?? defaultProject)
  if (name !== undefined) throw wrong(`project: ${pluralOf(kind)} are in no project`, 'Leave it out.')
  return undefined
}

/** A resource without its own record in REST, or with a record that contains less than its state. */
const stateOf = ({ id, created_at, updated_at, state }: AnyResource): object => {
  const { project: _, ...own } = state as { project?: string }
  return { id, created_at, updated_at, ...(maskSecrets(own as Json) as object) }
}

/** A resource in the form of REST; secrets show as ******. */
export const recordOf = async (found: AnyResource, project: Resource<'project'> | undefined, { records }: Moment): Promise<object> => {
  if (found.kind === 'database') return records.database(found)
  if (!project) return stateOf(found)
  switch (found.kind) {
    case 'skill':
      return records.skill(found, project)
    case 'agent':
      return records.agent(found, project)
    case 'chatbot':
      return records.chatbotDetail(found, project)
    case 'model':
      return records.model(found, versionOf(found.state, null), project)
    case 'job':
      return records.job(found, project)
    case 'project':
    case 'view':
    case 'conversation':
    case 'knowledge_base':
    case 'file':
    case 'config':
    case 'engine':
      return stateOf(found)
  }
}
