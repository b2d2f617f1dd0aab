import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from './schema.js'

const retryMs = 50

/** Moves everything from the write-ahead log into the file and empties it. False when a reader still needs some of it. */
export const truncateWal = (db: Connection): boolean => {
  // Waiting for a reader inside SQLite would hold up everything else in this process.
  db.pragma('busy_timeout = 0')
  try {
    const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
    return result?.busy === 0
  } finally {
    db.pragma('busy_timeout = 5000')
  }
}

/**
 * Sees to it that what was erased is in no part of the file any more, nor in its write-ahead log. Waits for readers.
 *
 * @example await wipe(() => db) // asked for anew after each wait, and throws when the log was closed
 */
export const wipe = async (connection: () => Connection): Promise<void> => {
  while (!truncateWal(connection())) await sleep(retryMs)
}
