import type { NativeRequest } from '../../contract/requests.js'
import { beginOf, mayWrite, reasonToRead } from '../../pushdown/native.js'

/** What to do with VACUUM, CREATE INDEX CONCURRENTLY and the like, and with a procedure that commits. */
export const noTransaction =
  'Each statement is sent in a transaction of its own, so that it has its effect once or not at all, and the database does not run this ' +
  'one there. Run it in a client of the database, such as psql; CREATE INDEX also works without CONCURRENTLY.'

/** Statements that PostgreSQL runs in no transaction, by how they begin. Only a hint depends on this: PostgreSQL itself refuses them. */
const inNone = new RegExp(
  [
    ...['vacuum', 'alter\\s+system', 'discard\\s+all', '(?:create|drop|reindex)\\s+(?:database|tablespace|subscription|system)'],
    '(?:create|drop|reindex)(?:\\s+unique|\\s+index|\\s+table|\\s+schema|\\s*\\([^)]*\\))*\\s+concurrently',
  ]
    .map((form) => `^${form}\\b`)
    .join('|'),
  'i',
)

/**
 * Whether a statement may write, see `mayWrite`. The refusal of one that PostgreSQL runs in no transaction does not lead to a writable
 * connection, which would refuse it as well.
 *
 * @example mayWriteThere({ native: 'VACUUM homes' }, false) // throws: The statement begins with VACUUM …, with the hint to run it in psql
 * @throws Problem refused_statement, wrong_arguments for a NUL
 */
export const mayWriteThere = (query: NativeRequest, isWritable: boolean): boolean => {
  const { because, hint } = reasonToRead(isWritable)
  return mayWrite(query, isWritable, { because, hint: inNone.test(beginOf(query.native)) ? noTransaction : hint })
}
