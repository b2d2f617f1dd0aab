import { setTimeout as sleep } from 'node:timers/promises'
import { readMeta, type Connection } from './schema.js'
import { findRemnants, overwriteRemnants } from './unallocated.js'

/** The log's file, open twice: as a database, and as bytes. The second is closed last, as closing it gives up SQLite's locks. */
export type OpenFile = { db: Connection; bytes: number }

const retryMs = 50
/** What is split while the file is looked through may move a remnant to a page that was passed already. */
const passes = 2

/** Moves everything from the write-ahead log into the file and empties it. False when a reader still needs some of it. */
const truncateWal = (db: Connection): boolean => {
  // Waiting for a reader inside SQLite would hold up everything else in this process.
  db.pragma('busy_timeout = 0')
  try {
    const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
    return result?.busy === 0
  } finally {
    db.pragma('busy_timeout = 5000')
  }
}

/** A file of an earlier release has many remnants, also in free pages: it is written anew, once. */
const rewriteOnce = (db: Connection): void => {
  if (readMeta(db, 'secure_delete') === 'always') return
  db.exec('VACUUM')
  db.prepare(`INSERT OR REPLACE INTO meta VALUES ('secure_delete', 'always')`).run()
}

/** Runs something when the write-ahead log is empty, with nothing cached and nobody writing. */
const onEmptyWal = async (open: () => OpenFile, run: (file: OpenFile) => void): Promise<void> => {
  for (;;) {
    const file = open()
    if (truncateWal(file.db)) {
      file.db.pragma('shrink_memory')
      run(file)
      return
    }
    await sleep(retryMs)
  }
}

/**
 * Sees to it that what was erased is in no part of the file any more, nor in its write-ahead log. Waits for readers.
 *
 * @example await wipe(() => file) // asked for anew after each wait, and throws when the log was closed
 */
export const wipe = async (open: () => OpenFile): Promise<void> => {
  rewriteOnce(open().db)
  await onEmptyWal(open, () => undefined)
  for (let pass = 0; pass < passes; pass++) {
    const remnants = await findRemnants(open().bytes)
    if (remnants.length === 0) return
    await onEmptyWal(open, ({ bytes }) => overwriteRemnants(bytes, remnants))
  }
}
