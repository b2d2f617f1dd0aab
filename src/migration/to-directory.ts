import { hasHash, sync } from '../basics/disk.js'
import { neededBlobs } from '../backup/log-copy.js'
import { isProblem } from '../basics/errors.js'
import { holding } from '../files/blob-store.js'
import { openSharedStore, type SharedPlace } from '../files/shared/open-store.js'
import { blobDamaged, isBlobDamaged } from '../files/shared/problems.js'
import type { SharedBlobs } from '../files/shared/shared-blobs.js'
import { ownLogIn } from '../log/shared/replica.js'
import { SharedLog } from '../log/shared/shared-log.js'
import { forgetSharedBatch, openForWriting, type Connection } from '../log/storage/schema.js'
import { ConfigError } from '../setup/config.js'
import type { DataPaths } from '../setup/data-directory.js'
import type { Vault } from '../vault/vault.js'
import type { MigrationResult } from './to-postgres.js'

export type DirectoryMigration = {
  from: SharedPlace
  /** The data directory: empty, or one that follows this log. */
  paths: DataPaths
  vault: Vault
  onProgress: (text: string) => void
}

const follow = async ({ from, paths, vault }: DirectoryMigration): Promise<number> => {
  if (ownLogIn(paths.log) !== undefined)
    throw new ConfigError(`${paths.root} has a log of its own: name an empty directory, or that of a node`)
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

const fetchBlobs = async (db: Connection, { from, paths, onProgress }: DirectoryMigration): Promise<Omit<MigrationResult, 'position'>> => {
  const needed = [...neededBlobs(db)]
  const missing: string[] = []
  const { blobs, close } = await openSharedStore(from, { folder: paths.blobs, maxBytes: Infinity })
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

/**
 * Makes a data directory from the present state of a log that nodes share. Its nodes have ended, or the log continues without this
 * directory. Each event is checked against the chain, and each blob against its hash. A run after an interruption continues where the last
 * one ended.
 *
 * @example (await toDirectory({ from: { url: 'postgres://db/ledger', s3: undefined }, paths, vault, onProgress })).missing // []
 * @throws ConfigError when PostgreSQL cannot be reached or the directory has another log; Problem storage_failed
 */
export const toDirectory = async (asked: DirectoryMigration): Promise<MigrationResult> => {
  const position = await follow(asked)
  const db = openForWriting(asked.paths.log, () => {
    throw new Error('the log has gone')
  })
  try {
    const moved = await fetchBlobs(db, asked)
    // From now on the directory has its own log, and follows no other.
    forgetSharedBatch(db)
    db.pragma('wal_checkpoint(TRUNCATE)')
    return { position, ...moved }
  } finally {
    db.close()
  }
}
