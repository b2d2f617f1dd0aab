import { Vault } from '../vault/vault.js'
import { checkDataDirectory, findMasterKey } from './data-directory.js'
import type { StoredEvent } from './log.js'
import { payloadReader } from './sqlite/payloads.js'
import { openForReading, prepareErasedAt, readHeadKeys, readLogId } from './sqlite/schema.js'
import { readTree } from './tree/open-tree.js'
import { Proofs } from './tree/proofs.js'

/** The log as another process reads it, beside the server or without one. */
export type LogReader = {
  logId: string
  head(): number
  /** Events after a position, in order. */
  read(after: number, limit: number): StoredEvent[]
  /** What can be asked of the tree over the events that there are now. */
  proofs(): Proofs
  /** The verifier keys of those who signed its heads, the newest first. */
  headKeys(): string[]
  payload(hash: string): Buffer | undefined
  /** The position of the last erasure; 0 when there was none. */
  erasedAt(): number
  close(): void
}

/**
 * Opens the log of a data directory for reading.
 *
 * @throws ConfigError when there is none
 * @example const reader = openLogReader('./data'); reader.read(0, 10); reader.close()
 */
export const openLogReader = (dataDirectory: string, vaultKey?: Buffer): LogReader => {
  const paths = checkDataDirectory(dataDirectory)
  const key = findMasterKey(paths, vaultKey)
  const db = openForReading(paths.log)
  const head = db.prepare<[], number | null>('SELECT max(position) FROM events').pluck()
  const read = db.prepare<[number, number], StoredEvent>('SELECT position, text FROM events WHERE position > ? ORDER BY position LIMIT ?')
  return {
    logId: readLogId(db),
    head: () => head.get() ?? 0,
    read: (after, limit) => read.all(after, limit),
    // In one transaction, so that the events and the tiles are of one moment.
    proofs: db.transaction(() => new Proofs(readTree(db, head.get() ?? 0))),
    // Without the key the log is whole, and payloads are unreadable.
    headKeys: () => readHeadKeys(db),
    payload: key ? payloadReader(db, new Vault(key)) : () => undefined,
    erasedAt: prepareErasedAt(db),
    close: () => db.close(),
  }
}
