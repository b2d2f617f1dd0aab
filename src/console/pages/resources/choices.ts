import type { Field } from '../../api/schemas.js'
import type { ListedResource } from '../../basics/kinds.js'

/** Members of a body that name a resource, and its kind. */
const kindsNamed: Readonly<Record<string, string>> = { skills: 'skill', agent_name: 'agent', database_name: 'database' }

/**
 * What may be written in a field: the names of resources that it can refer to, or what the API's own document proposes. Others may be
 * written, too.
 *
 * @example choicesOf({ name: 'skills', … }, 'shop', resources) // ['rents']
 */
export const choicesOf = ({ name, examples }: Field, project: string | null, all: readonly ListedResource[]): readonly string[] => {
  const kind = kindsNamed[name]
  if (kind === undefined) return examples
  return all.filter((one) => one.kind === kind && (one.project === null || one.project === project)).map((one) => one.name)
}
