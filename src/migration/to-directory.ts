import { hasHash, sync } from '../basics/disk.js'
import { neededBlobs } from '../backup/log-copy.js'
import { isProblem } from '../basics/errors.js'
import { holding } from '../files/blob-store.js'
import { openSharedStore, type SharedPlace } from '../files/shared/open-store.js'
import { blobDamaged, isBlobDamaged } from '../files/shared/problems.js'
import type { SharedBlobs } from '../files/shared/shared-blobs.js'
import { shownNodes } from '../log/shared/nodes.js'
import { closeAfter } from '../log/shared/postgres/tables.js'
import { ownLogIn } from '../log/shared/replica.js'
import { SharedLog } from '../log/shared/shared-log.js'
import { hasLaterPayloads } from '../log/storage/later-payloads.js'
import { forgetSharedBatch, openForWriting, readSharedBatch, type LogConnection } from '../log/storage/schema.js'
import { ConfigError } from '../setup/config.js'
import type { DataPaths } from '../setup/data-directory.js'
import type { Vault } from '../vault/vault.js'
import { inSession } from './sender.js'
import { refuseWhileServed } from './serving.js'
import type { MigrationResult } from './to-postgres.js'

export type DirectoryMigration = {
  from: SharedPlace
  /** The data directory: empty, or one that follows this log. */
  paths: DataPaths
  vault: Vault
  /** Nodes may serve the log, and it goes on in PostgreSQL, too: the directory becomes another log with the same past. */
  copy: boolean
  onProgress: (text: string) => void
}

/** @throws ConfigError when the database has no log, or when nodes serve it that would go on */
const checkEnded = async ({ from, copy }: DirectoryMigration): Promise<void> => {
  if (copy) await shownNodes(from.url)
  else await refuseWhileServed(from.url, 'With --copy they go on, and the directory becomes another log.')
}

const follow = async (asked: DirectoryMigration): Promise<number> => {
  const { from, paths, vault } = asked
  if (ownLogIn(paths.log) !== undefined)
    throw new ConfigError(`${paths.root} has a log of its own: name an empty directory, or that of a node`)
  await checkEnded(asked)
  const log = await SharedLog.open({ url: from.url, file: paths.log, vault })
  try {
    return (await log.head()).position
  } finally {
    await log.close()
  }
}

/** Fetches a blob. One that is here already, but that the disk has spoiled, is fetched again. @throws Problem not_found, storage_failed */
const fetchBlob = async (blobs: Pick<SharedBlobs, 'hold' | 'forget'>, hash: string): Promise<void> => {
  const isWhole = () => holding(blobs, async (fileOf) => hasHash(await fileOf(hash), hash))
  if (await isWhole()) return
  blobs.forget(hash)
  if (!(await isWhole())) throw blobDamaged(hash, 'the disk here does not keep its bytes')
}

const fetchBlobs = async (
  db: LogConnection,
  { from, paths, onProgress }: DirectoryMigration,
): Promise<Omit<MigrationResult, 'position'>> => {
  const needed = [...neededBlobs(db)]
  const missing: string[] = []
  const { blobs, close } = await openSharedStore(from, { folder: paths.blobs, maxBytes: Infinity, keepFree: 0 })
  try {
    for (const [done, hash] of needed.entries()) {
      try {
        await fetchBlob(blobs, hash)
      } catch (error) {
        if (!isProblem(error) || (error.code !== 'not_found' && !isBlobDamaged(error))) throw error
        missing.push(hash)
      }
      onProgress(`${done + 1} of ${needed.length} blobs`)
    }
  } finally {
    await close()
  }
  await sync(paths.blobs)
  return { blobs: needed.length - missing.length, missing }
}

/** From now on no node opens the log in PostgreSQL. @throws ConfigError when a node began meanwhile, or wrote */
const closeThere = async (db: LogConnection, asked: DirectoryMigration): Promise<void> => {
  await checkEnded(asked)
  const seq = readSharedBatch(db)?.seq ?? 0
  if (await inSession(asked.from.url, (session) => closeAfter(session, seq))) return
  throw new ConfigError('a node wrote to the log meanwhile: end all nodes, and run it again')
}

/**
 * Makes a data directory from the present state of a log that nodes share. Its nodes have ended, and none opens the log again; with `copy`
 * the log in PostgreSQL continues, too. Each event is checked against the chain, and each blob against its hash. A run after an interruption continues where the last
 * one ended.
 *
 * @example (await toDirectory({ from: { url: 'postgres://db/ledger', s3: undefined }, paths, vault, copy: false, onProgress })).missing // []
 * @throws ConfigError when PostgreSQL cannot be reached or has no log, nodes serve it or write, or the directory has another log; Problem
 * storage_failed
 */
export const toDirectory = async (asked: DirectoryMigration): Promise<MigrationResult> => {
  const position = await follow(asked)
  const db = openForWriting(asked.paths.log, () => {
    throw new Error('the log has gone')
  })
  try {
    if (hasLaterPayloads(db)) throw new ConfigError('nodes wrote to the log while it was copied: run it again')
    const moved = await fetchBlobs(db, asked)
    if (!asked.copy) await closeThere(db, asked)
    // From now on the directory has its own log, and follows no other.
    forgetSharedBatch(db)
    db.pragma('wal_checkpoint(TRUNCATE)')
    return { position, ...moved }
  } finally {
    db.close()
  }
}
