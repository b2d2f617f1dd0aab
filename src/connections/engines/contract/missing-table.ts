import { Problem } from '../../../basics/errors.js'
import { nearest } from '../../../basics/nearest.js'
import { nameThere, type Tables } from '../../contract/requests.js'

/**
 * The refusal of a missing table, with the nearest existing one. A table of that name in another schema is nearer than any other name, and
 * is named with its schema.
 *
 * @param connection the name of the connection: the hint can then be copied into the statement
 * @example missingTable({ table: 'orders' }, tables, 'pg').extras.hint // 'Did you mean pg.shop.orders?'
 */
export const missingTable = (
  { schema, table }: { schema?: string | undefined; table: string },
  { tables }: Tables,
  connection?: string,
): Problem => {
  const wanted = schema === undefined ? table : `${schema}.${table}`
  const namesakes = tables.filter(({ name }) => name.toLowerCase() === table.toLowerCase())
  // Tables that are found by their name alone come first among equals.
  const known = (namesakes.length > 0 ? namesakes : tables).toSorted((one, other) => Number(other.isUsual) - Number(one.isUsual))
  const names = known.map((each) => (schema === undefined || each.schema === null ? each.name : `${each.schema}.${each.name}`))
  const meant = known[names.indexOf(nearest(wanted, names))]
  const name = meant && (connection === undefined ? `"${nameThere(meant)}"` : `${connection}.${nameThere(meant)}`)
  const hint = name === undefined ? 'It has no tables that this user may see.' : `Did you mean ${name}?`
  return new Problem('not_found', 'Table not found', `The database has no table "${wanted}"`, { hint })
}
