import { close, existsSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'

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
