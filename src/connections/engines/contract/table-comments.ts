import type { TableComments } from '../../contract/requests.js'

/**
 * The comments in rows of a name and a comment. The comment on the table itself stands beside an empty name.
 *
 * @example commentsIn([['', 'What was sold'], ['word', 'in German']]).table // 'What was sold'
 */
export const commentsIn = (rows: readonly (readonly string[])[]): TableComments => {
  const said = rows.flatMap(([name = '', comment = '']) => (comment === '' ? [] : [{ name, comment }]))
  return { table: said.find(({ name }) => name === '')?.comment ?? null, columns: said.filter(({ name }) => name !== '') }
}
