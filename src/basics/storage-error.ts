import { Problem } from './errors.js'
import type { Refusal } from './opened-file.js'

/** The code of an error of SQLite's, seen by its shape: a native module's errors may be of another realm's Error. */
export const sqliteCode = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' && error.code.startsWith('SQLITE_')
    ? error.code
    : undefined

/** Whether SQLite itself failed, as opposed to a decision. */
export const isStorageError = (error: unknown): boolean => sqliteCode(error) !== undefined

/** What went wrong, in SQLite's own words, which name no file. */
export const causeOf = (error: unknown): string =>
  String(typeof error === 'object' && error !== null && 'message' in error ? error.message : error)

/** Nothing may be written until an operator has looked, as it is told to who wants to write. */
export const writesRefused = ({ cause, hint }: Refusal): Problem =>
  new Problem('storage_failed', 'Writes refused', `${cause}; nothing of this request was recorded`, { hint, retryAfterSeconds: 60 })

/** A failure of the storage as it is told to who asked. */
export const storageFailed = (what: 'read' | 'written', cause: unknown): Problem =>
  new Problem('storage_failed', 'Storage failed', `the log could not be ${what}; nothing of this request was recorded`, {
    hint: 'Free disk space or mend the disk, then send the request again.',
    retryAfterSeconds: 5,
    cause: causeOf(cause),
  })
