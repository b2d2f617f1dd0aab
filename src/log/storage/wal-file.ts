import { close, existsSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../../basics/errors.js'
import type { LogConnection } from './schema.js'

const datasync = promisify(fdatasync)
const walOf = (logFile: string): string => `${logFile}-wal`

/** Brings what was committed to the disk. */
export type Wal = {
  /** Resolves when all transactions that were committed before the call are on the disk. @throws the error of the system */
  sync(): Promise<void>
  close(): void
}

/**
 * The write-ahead log of a file that SQLite has open. Its bytes are brought to the disk without SQLite, so that the thread does not wait:
 * a disk that other processes keep busy can take a second.
 *
 * @example const wal = new WalFile('data/log.sqlite'); await wal.sync(); wal.close()
 */
export class WalFile implements Wal {
  readonly #descriptor: number

  /** @throws the error of the system if SQLite has not opened the file yet */
  constructor(logFile: string) {
    this.#descriptor = openSync(walOf(logFile), 'r')
  }

  sync(): Promise<void> {
    return datasync(this.#descriptor)
  }

  close(): void {
    // Nothing was written through it, so an error means nothing.
    close(this.#descriptor, () => undefined)
  }
}

/** The write-ahead log of a file that another process may write; undefined when there is none: the file then has everything. */
export const openWalIn = (logFile: string): WalFile | undefined => (existsSync(walOf(logFile)) ? new WalFile(logFile) : undefined)

/**
 * Resolves when the disk has everything that was read from a file before the call. A process beside a running service calls this before
 * it signs, stores or sends what it read, so that a loss of power cannot remove any of it from the log.
 *
 * @example const note = signedFileHead(db, signer); await syncWalOf('data/log.sqlite'); print(note)
 */
export const syncWalOf = async (logFile: string): Promise<void> => {
  const wal = openWalIn(logFile)
  await wal?.sync().finally(() => wal.close())
}

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
