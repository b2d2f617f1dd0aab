import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../../basics/errors.js'
import type { LogConnection } from './schema.js'

const retryMs = 50

/** Moves everything from the write-ahead log into the file and empties it. False when a reader still needs some of it. */
export const truncateWal = (db: LogConnection): boolean => {
  // Waiting for a reader inside SQLite would block everything else in this process.
  db.pragma('busy_timeout = 0')
  try {
    const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
    return result?.busy === 0
  } finally {
    db.pragma('busy_timeout = 5000')
  }
}

/**
 * Removes erased data from the file and its write-ahead log. SQLite overwrites deleted data (`secure_delete`). These pages reach the file
 * when the write-ahead log is moved into it and emptied. Waits for readers, which may be other processes, until the signal aborts.
 *
 * @example await wipe(async () => truncateWal(db)) // tried again after each wait; it throws when the log was closed
 * @throws Problem 503 when a reader still prevented this at the signal
 */
export const wipe = async (truncate: () => Promise<boolean>, signal?: AbortSignal): Promise<void> => {
  while (!(await truncate())) {
    if (signal?.aborted)
      throw new Problem(
        'busy',
        'Stopping',
        'the service is stopping while another process reads the log; the erased data is still in its files',
        {
          hint: 'It cannot be read any more, and is taken out of the files after the next start.',
          retryAfterSeconds: 5,
        },
      )
    await sleep(retryMs)
  }
}
