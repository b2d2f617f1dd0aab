import { errorCode, Problem } from './errors.js'
import type { Refusal } from './opened-file.js'

/** The code of an SQLite error; undefined for any other error. */
export const sqliteCode = (error: unknown): string | undefined => {
  const code = errorCode(error)
  return code.startsWith('SQLITE_') ? code : undefined
}

/** Whether SQLite itself failed; a refusal by `decide` is no such failure. */
export const isStorageError = (error: unknown): boolean => sqliteCode(error) !== undefined

/** The fault in SQLite's own words, which contain no file name. */
export const causeOf = (error: unknown): string =>
  String(typeof error === 'object' && error !== null && 'message' in error ? error.message : error)

/** The problem for a client that wants to write while all writes are refused until an operator acts. */
export const writesRefused = ({ cause, hint }: Refusal): Problem =>
  new Problem('storage_failed', 'Writes refused', `${cause}; nothing of this request was recorded`, { hint, retryAfterSeconds: 60 })

/** The problem for a client whose request met a storage failure. */
export const storageFailed = (what: 'read' | 'written', cause: unknown): Problem =>
  new Problem('storage_failed', 'Storage failed', `the log could not be ${what}; nothing of this request was recorded`, {
    hint: 'Free disk space or mend the disk, then send the request again.',
    retryAfterSeconds: 5,
    cause: causeOf(cause),
  })

/** The problem for all clients after the disk did not confirm a transaction: what is in the file may not be on the disk. */
export const unconfirmed = (cause: unknown): Problem =>
  new Problem('outcome_unknown', 'Outcome unknown', `the disk did not confirm what was written last (${causeOf(cause)})`, {
    hint: 'Whether it is recorded is not known, so nothing more is written or read. Check the disk and start the service again; then send the request with the same Idempotency-Key.',
    retryAfterSeconds: 60,
  })
