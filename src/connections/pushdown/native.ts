import { Problem } from '../../basics/errors.js'

/** Spaces and comments before the first word; not a comment in a comment, which databases end at different places. */
const before = /^(?:\s+|--[^\n]*(?:\n|$)|#[^\n]*(?:\n|$)|\/\*(?:(?!\/\*)[\s\S])*?\*\/|\()*/

const readers: readonly string[] = [
  'SELECT',
  'WITH',
  'VALUES',
  'TABLE',
  'SHOW',
  'EXPLAIN',
  'DESCRIBE',
  'DESC',
  'PRAGMA',
  'FROM',
  'SUMMARIZE',
]

const refused = (detail: string): Problem =>
  new Problem('refused_statement', 'Only statements that read', detail, {
    hint: 'A connection with the parameter "writable": true takes statements that write.',
  })

/**
 * Checks a statement for a database that is only read: it must begin as one that reads. The database refuses to write as well, in a
 * transaction that is read-only; this is for statements that end a transaction, or act outside of any.
 *
 * @throws Problem refused_statement
 */
export const checkReading = (native: string): void => {
  // MySQL runs what stands in such a comment, and this reads over it.
  if (/\/\*M?!/i.test(native)) throw refused('The statement has a comment that databases run')
  const [word = ''] = /^[a-z]+/i.exec(native.replace(before, '')) ?? []
  if (!readers.includes(word.toUpperCase()))
    throw refused(`The statement begins with ${word === '' ? 'no word' : word.toUpperCase()}, and this connection is only read`)
  if (/\binto\s+(?:outfile|dumpfile)\b/i.test(native)) throw refused('The statement writes a file where the database runs')
}
