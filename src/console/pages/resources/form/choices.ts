import type { Field } from '../../../api/schemas.js'
import type { ListedResource } from '../../../basics/kinds.js'

/** The members of a body that name another resource, and its kind. */
const kindsNamed: Readonly<Record<string, string>> = { skills: 'skill', agent_name: 'agent', database_name: 'database' }

/** The kinds of these resources. */
export const kindsOfChoices: readonly string[] = Object.values(kindsNamed)

/**
 * The proposals for a field: the names of resources that it can refer to, or the examples in the API's document. Other values are allowed,
 * too.
 *
 * @example choicesOf({ name: 'skills', … }, 'shop', resources) // ['rents']
 */
export const choicesOf = ({ name, examples }: Field, project: string | null, all: readonly ListedResource[]): readonly string[] => {
  const kind = kindsNamed[name]
  if (kind === undefined) return examples
  return all.filter((one) => one.kind === kind && (one.project === null || one.project === project)).map((one) => one.name)
}
