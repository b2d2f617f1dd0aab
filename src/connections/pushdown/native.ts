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

/** Why a statement must read, and what to do about it. */
export type Reason = { because: string; hint: string }

/** The connection is not writable. */
export const onlyRead: Reason = {
  because: 'this connection is only read',
  hint: 'A connection with the parameter "writable": true takes statements that write.',
}

/** The connection is writable, but who asks only wants to know. */
export const onlyAsked: Reason = {
  because: 'plans, views, trainings and questions about the past only read',
  hint: 'Send it by itself: SELECT * FROM database (statement).',
}

const refused = (detail: string, { because, hint }: Reason): Problem =>
  new Problem('refused_statement', 'Only statements that read', `${detail}, and ${because}`, { hint })

/**
 * Checks a statement that may only read: it must begin as one that reads. The database refuses to write as well, in a
 * transaction that is read-only; this is for statements that end a transaction, or act outside of any.
 *
 * @throws Problem refused_statement
 */
export const checkReading = (native: string, reason: Reason): void => {
  // MySQL runs what stands in such a comment, and this reads over it.
  if (/\/\*M?!/i.test(native)) throw refused('The statement has a comment that databases run', reason)
  const [word = ''] = /^[a-z]+/i.exec(native.replace(before, '')) ?? []
  if (!readers.includes(word.toUpperCase()))
    throw refused(`The statement begins with ${word === '' ? 'no word' : word.toUpperCase()}`, reason)
  if (/\binto\s+(?:outfile|dumpfile)\b/i.test(native)) throw refused('The statement writes a file where the database runs', reason)
}
