import type { Field } from '../../../api/schemas.js'
import { searchOf, type SearchOptions } from '../../../lists/choices.js'

/** The members of a body that name another resource, and its kind. */
const kindsNamed: Readonly<Record<string, string>> = { skills: 'skill', agent_name: 'agent', database_name: 'database' }

/**
 * The search in the resources that a field can refer to; undefined for a field that names none. Other values are allowed, too.
 *
 * @example resourcesFor({ name: 'skills', … }, 'shop')
 */
export const resourcesFor = ({ name }: Field, project: string | null): SearchOptions | undefined => {
  const kind = kindsNamed[name]
  if (kind === undefined) return undefined
  return searchOf({
    query: 'SELECT name AS value, name FROM log.resources WHERE kind = :kind AND (project IS NULL OR project = :project)',
    params: { kind, project },
  })
}
