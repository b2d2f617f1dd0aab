import { Problem } from '../../../basics/errors.js'
import { editDistance } from '../../../basics/nearest.js'
import { nameThere, type Tables } from '../../contract/requests.js'

/**
 * The refusal of a missing table, with the nearest existing one. A table of that name in another schema is named with its schema.
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
  let nearest: { distance: number; name: string } | undefined
  for (const each of tables) {
    const full = schema === undefined || each.schema === null ? each.name : `${each.schema}.${each.name}`
    const edits = editDistance(wanted.toLowerCase().slice(0, 255), full.toLowerCase().slice(0, 255))
    // The same name in another schema is nearer than any other name.
    const distance = each.name.toLowerCase() === table.toLowerCase() ? edits / 1_000 : edits
    // Tables that are found by their name alone come first.
    if (!nearest || distance < nearest.distance || (distance === nearest.distance && each.isUsual))
      nearest = { distance, name: nameThere(each) }
  }
  const name = nearest && (connection === undefined ? `"${nearest.name}"` : `${connection}.${nearest.name}`)
  const hint = name === undefined ? 'It has no tables that this user may see.' : `Did you mean ${name}?`
  return new Problem('not_found', 'Table not found', `The database has no table "${wanted}"`, { hint })
}
