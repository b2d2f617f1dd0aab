import { foldName } from '../../events/common.js'
import { Problem } from '../basics/errors.js'

/** @throws Problem when two columns have the same name, compared without regard to case */
export const checkNames = (columns: readonly { name: string }[], what: string): void => {
  const seen = new Set<string>()
  for (const { name } of columns) {
    const folded = foldName(name)
    if (folded === '')
      throw new Problem('bad_statement', 'A column has no name', `A column of the ${what} has no name`, { hint: 'Name it with AS.' })
    if (seen.has(folded))
      throw new Problem('bad_statement', 'Two columns have one name', `Two columns of the ${what} are called "${name}"`, {
        hint: 'Give each its own name with AS, or leave one out: * EXCLUDE (…). Names are compared without case.',
      })
    seen.add(folded)
  }
}
