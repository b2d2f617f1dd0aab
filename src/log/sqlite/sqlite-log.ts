/**
 * Room: a log over a file: its writer, its turns, and its answers to repeated commands. It imports only events, projections, basics, setup,
 * vault, log/contract, log/storage and log/proof.
 */

import { openKeys } from '../storage/keys.js'
import { readLogId, refuseCopyOfShared } from '../storage/schema.js'
import { truncateWal } from '../storage/wal-file.js'
import { FileLog } from './file-log.js'
import { FileWriteQueue, type QueueOptions } from './file-write-queue.js'

/** Opens the file. The vault takes over the keys of the file. */
const openQueue = (options: QueueOptions): { id: string; queue: FileWriteQueue } => {
  const queue = new FileWriteQueue(options)
  const { db } = queue.connect()
  try {
    refuseCopyOfShared(db)
    const id = readLogId(db)
    openKeys(db, options.vault)
    // Removes erased data that a crash left in the file. It does not wait for a reader that prevents this.
    truncateWal(db)
    return { id, queue }
  } catch (error) {
    queue.disconnect()
    throw error
  }
}

/**
 * The log in one SQLite file. Only this process writes it.
 *
 * @example
 * const log = new SqliteLog({ file: 'log.sqlite', vault: new Vault(randomBytes(32)) })
 * await log.submit({ origin, lookups: {}, decide: () => [{ stream, event }], payloads: [] })
 */
export class SqliteLog extends FileLog {
  /** @throws Error when the file is not a log, or its end is broken; ConfigError when it is a copy of a log that nodes share */
  constructor(options: QueueOptions) {
    const { id, queue } = openQueue(options)
    super(id, queue, options.vault)
  }
}
