import Database from 'better-sqlite3'
import { chmodSync, rmSync } from 'node:fs'
import { parseEnvelope } from '../../events/stored/envelope.js'
import { blobsOf, erasedBlobsOf, mayEraseBlobs, mayNameBlobs } from '../../events/catalogue/references.js'
import type { StoredEvent } from '../log/contract/log.js'
import { hasLaterPayloads } from '../log/storage/later-payloads.js'
import { forgetSharedBatch, type LogConnection } from '../log/storage/schema.js'

/**
 * Copies the log at one moment. Writers do not wait, because SQLite reads a snapshot. The copy is made from the rows, so that it has no
 * free pages with old contents. The copy of a node's replica of a shared log becomes an independent log. Returns false if it cannot be one,
 * because the node is behind, and has payloads as a later batch left them.
 */
export const copyLog = (from: string, to: string): boolean => {
  rmSync(to, { force: true })
  const db = new Database(from, { readonly: true, fileMustExist: true, timeout: 5_000 })
  try {
    db.prepare('VACUUM INTO ?').run(to)
  } finally {
    db.close()
  }
  chmodSync(to, 0o600)
  const copy = new Database(to)
  try {
    const isWhole = !hasLaterPayloads(copy)
    forgetSharedBatch(copy)
    return isWhole
  } finally {
    copy.close()
  }
}

/** The blobs that a log needs: all that its events name, except those erased since. */
export const neededBlobs = (db: LogConnection): Set<string> => {
  const needed = new Set<string>()
  const events = db.prepare<[], StoredEvent>('SELECT position, text FROM events ORDER BY position')
  for (const { text } of events.iterate()) {
    if (mayNameBlobs(text)) {
      const { type, data } = parseEnvelope(text)
      for (const hash of blobsOf(type, data)) needed.add(hash)
    } else if (mayEraseBlobs(text)) {
      const { type, data } = parseEnvelope(text)
      for (const hash of erasedBlobsOf(type, data)) needed.delete(hash)
    }
  }
  return needed
}
