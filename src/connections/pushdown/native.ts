import { Problem, wrong } from '../../basics/errors.js'
import type { NativeRequest } from '../contract/requests.js'

/** Spaces and comments before the first word, but not a comment inside a comment: databases end those at different places. */
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
const onlyRead: Reason = {
  because: 'this connection only reads',
  hint: 'A connection with the parameter "writable": true takes statements that write.',
}

/** The connection is writable, but this kind of request only reads. */
const onlyAsked: Reason = {
  because:
    'queries of agents and knowledge bases, plans, views, trainings, questions about the past and requests that may not write only read',
  hint: 'Send it by itself: SELECT * FROM database (statement).',
}

const functions =
  'A function that reads stands in a SELECT: SELECT * FROM database (SELECT * FROM a_function()), in MySQL (SELECT a_function()).'

/** The same for a procedure, in whose place a function may do. */
const withFunction = ({ because, hint }: Reason): Reason => ({ because, hint: `${hint} ${functions}` })

/** Why a statement that was not allowed to write must read. */
export const reasonToRead = (isWritable: boolean): Reason => (isWritable ? onlyAsked : onlyRead)

/** The refusal of a statement that would write. */
export const refusedToWrite = (detail: string, { because, hint }: Reason): Problem =>
  new Problem('refused_statement', 'Only statements that read', `${detail}, and ${because}`, { hint })

/**
 * Whether MySQL could write a file. Comments may stand between the two words, and a number right before the first. So any statement that
 * has both words counts.
 */
const writesFile = (native: string): boolean => {
  const text = native.toLowerCase()
  const into = text.indexOf('into')
  return into >= 0 && ['outfile', 'dumpfile'].some((word) => text.includes(word, into))
}

/** A statement without the spaces and comments before it. */
export const beginOf = (native: string): string => native.replace(before, '')

/** Statements that begin or end a transaction, or a part of one. `BEGIN NOT ATOMIC` of MariaDB begins a block of statements instead. */
const ofTransactions =
  /^(?:begin(?!\s+not\s+atomic\b)|start\s+transaction|commit|end|rollback|abort|savepoint|release|prepare\s+transaction|xa)\b/i

/**
 * Refuses a statement about transactions, also on a writable connection: it would end the transaction around it, and have no effect on the
 * statements that its sender means.
 */
const refuseTransaction = (native: string): void => {
  const [words] = ofTransactions.exec(beginOf(native)) ?? []
  if (words === undefined) return
  throw new Problem(
    'refused_statement',
    'No transaction of your own',
    `The statement begins with ${words.toUpperCase().replaceAll(/\s+/g, ' ')}, and each statement is a transaction of its own`,
    { hint: 'Send what belongs together as one statement: WITH … AS (INSERT …) in PostgreSQL, or CALL of a procedure.' },
  )
}

/**
 * Checks a statement that may only read: it must begin as one that reads. The database refuses to write as well, in a
 * transaction that is read-only; this is for statements that end a transaction, or act outside of any.
 */
const checkReading = (native: string, reason: Reason): void => {
  // MySQL runs the text of such a comment, and the check below skips comments.
  if (/\/\*M?!/i.test(native)) throw refusedToWrite('The statement has a comment that databases run', reason)
  const [word = ''] = /^[a-z]+/i.exec(beginOf(native)) ?? []
  if (/^call$/i.test(word))
    throw refusedToWrite('The statement begins with CALL, whose procedure may write and commit', withFunction(reason))
  if (!readers.includes(word.toUpperCase()))
    throw refusedToWrite(`The statement begins with ${word === '' ? 'no word' : word.toUpperCase()}`, reason)
  if (writesFile(native)) throw refusedToWrite('The statement writes a file where the database runs', reason)
}

/**
 * Whether a statement may write: its sender must ask for that, and its connection must allow it. Any other statement must begin as one
 * that reads. `reason` says why, and is in the refusal.
 *
 * @example mayWrite({ native: 'DELETE FROM homes', writes: true }, true) // true
 * @throws Problem refused_statement, wrong_arguments for a NUL
 */
export const mayWrite = ({ native, writes }: NativeRequest, isWritable: boolean, reason = reasonToRead(isWritable)): boolean => {
  // In the protocols a NUL ends a text: the rest would be read as something else.
  if (native.includes('\0')) throw wrong('The statement has a character NUL, which ends it in the protocol of the database')
  refuseTransaction(native)
  if (writes === true && isWritable) return true
  checkReading(native, reason)
  return false
}
