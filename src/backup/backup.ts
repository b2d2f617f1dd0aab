/** Room: copies of a data directory, and their restore. It imports only events, basics, setup, vault, log, commands, files and erasure. */

import { existsSync, rmSync } from 'node:fs'
import { readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError } from '../setup/config.js'
import { hasHash, hashFile, sync } from '../basics/disk.js'
import { limits } from '../basics/limits.js'
import { holding, type BlobStore } from '../files/blob-store.js'
import { dataFormat, dataPaths, makeDirectory, type DataPaths } from '../setup/data-directory.js'
import { isBehind, openForReading, readLogId, type LogConnection } from '../log/storage/schema.js'
import { syncWalOf } from '../log/storage/wal-file.js'
import { erasedInFile, type ErasedSince } from '../log/storage/erased-blobs.js'
import { readTail } from '../log/storage/events.js'
import { copyDurably, linked, syncAll, writeDurably } from './durable-files.js'
import { masterKeyIds } from '../log/storage/keys.js'
import { copyLog, neededBlobs } from './log-copy.js'
import { writeManifest, type Manifest } from './manifest.js'

export type BackupOptions = {
  /** The data directory, whether a server uses it or not. */
  from: Pick<DataPaths, 'log'>
  /** The blobs that its log names. */
  store: Pick<BlobStore, 'has' | 'hold'>
  /** Given if the file of the log may not know all erasures: that of a node may be behind. */
  erasedSince?: ErasedSince | undefined
  into: string
  /** An earlier backup: blobs that it has are linked instead of copied. */
  like: string | undefined
  /** The head of the copied log, in the form for keeping elsewhere. */
  headOf: (db: LogConnection) => string
  onProgress: (text: string) => void
}

const followLookMs = 100

const sizeOf = async (file: string): Promise<number> => (await stat(file)).size

/** Copies a blob that an event names; false if it is missing, for example after an erasure since the copy of the log. */
const copyBlob = async (hash: string, to: string, { store, like }: Pick<BackupOptions, 'store' | 'like'>): Promise<boolean> => {
  if (like !== undefined && (await linked(join(dataPaths(like).blobs, hash), to))) {
    // The disk may have spoiled it in the earlier backup, or another user may have made that.
    if (await hasHash(to, hash)) return true
    rmSync(to)
  }
  if (!(await store.has(hash))) return false
  const copied = await holding(store, async (fileOf) => copyDurably(await fileOf(hash), to)).catch(async (error: unknown) => {
    rmSync(to, { force: true })
    if (!(await store.has(hash))) return undefined
    throw error
  })
  if (copied && copied.sha256 !== hash)
    throw new ConfigError(
      `the blob ${hash} is damaged: its bytes are not those that were stored. "mindledger verify" lists the events that name it.`,
    )
  return copied !== undefined
}

/** Makes a directory hold exactly the needed blobs; returns those that are missing. */
const copyBlobs = async (needed: ReadonlySet<string>, part: DataPaths, { store, like, onProgress }: BackupOptions): Promise<string[]> => {
  const there = new Set(await readdir(part.blobs))
  for (const hash of there) if (!needed.has(hash)) await rm(join(part.blobs, hash))
  const missing: string[] = []
  let done = 0
  for (const hash of needed) {
    if (!there.has(hash) && !(await copyBlob(hash, join(part.blobs, hash), { store, like }))) missing.push(hash)
    onProgress(`${++done} of ${needed.size} blobs`)
  }
  return missing
}

/** Waits until the file of the log has followed so far. @throws ConfigError if it stays behind */
const untilFollowed = async (hasFollowed: () => boolean, otherwise: string): Promise<void> => {
  const until = Date.now() + limits.backupFollowWaitMs
  while (!hasFollowed()) {
    if (Date.now() > until) throw new ConfigError(otherwise)
    await sleep(followLookMs)
  }
}

/** Waits until the log knows the erasures of missing blobs. @throws ConfigError if they were not erased, or the log stays behind */
const untilKnown = async (missing: readonly string[], position: number, { from, erasedSince }: BackupOptions): Promise<void> => {
  const erasedHere = () => erasedInFile(from.log, position)
  const erased = erasedSince ? await erasedSince(position) : erasedHere()
  const lost = missing.find((hash) => !erased.has(hash))
  if (lost !== undefined)
    throw new ConfigError(`the blob ${lost} is missing, and was not erased. "mindledger verify" lists the events that name it.`)
  if (!erasedSince) return
  const isKnown = () => {
    const known = erasedHere()
    return missing.every((hash) => known.has(hash))
  }
  await untilFollowed(isKnown, 'another node erased contents that this node still has in its log: start this node, and try again.')
}

const isLogBehind = (logFile: string): boolean => {
  const db = openForReading(logFile)
  try {
    return isBehind(db)
  } finally {
    db.close()
  }
}

/**
 * Copies the log and its blobs of one moment. If an erasure removes blobs meanwhile, or a node shows erasures that its log lacks, the log
 * is copied again.
 */
const copyAll = async (
  part: DataPaths,
  options: BackupOptions,
): Promise<{ needed: Set<string>; about: Pick<Manifest, 'log' | 'position' | 'master_keys'>; head: string }> => {
  for (;;) {
    options.onProgress('copying the log')
    if (!copyLog(options.from.log, part.log)) {
      await untilFollowed(
        () => !isLogBehind(options.from.log),
        'the log of this node lacks erasures that its data shows: start this node, and try again when it has caught up with the others.',
      )
      continue
    }
    await syncWalOf(options.from.log)
    const db = openForReading(part.log)
    try {
      const needed = neededBlobs(db)
      const missing = await copyBlobs(needed, part, options)
      const { position } = readTail(db)
      if (missing.length > 0) {
        await untilKnown(missing, position, options)
        continue
      }
      const about = { log: readLogId(db), position, master_keys: masterKeyIds(db) }
      return { needed, about, head: options.headOf(db) }
    } finally {
      db.close()
    }
  }
}

/**
 * Writes a backup of a data directory into a new directory: the log at one position, its blobs, and its head. It never has keys. It has no
 * tables, because the log can rebuild them. The name of an unfinished backup ends with `.part`.
 *
 * @example (await takeBackup({ from: dataPaths('./data'), store: new Blobs('./data/blobs'), into: '/mnt/b/1', like: undefined, headOf, onProgress })).position
 * @throws ConfigError when the directory exists, a blob is damaged or missing, or the file of a node stays behind erasures of others
 */
export const takeBackup = async (options: BackupOptions): Promise<Manifest> => {
  const { into } = options
  if (existsSync(into)) throw new ConfigError(`${into} exists already; a backup is a new directory`)
  const part = dataPaths(`${into}.part`)
  await rm(part.root, { recursive: true, force: true })
  makeDirectory(part.blobs)
  const { needed, about, head } = await copyAll(part, options)
  await sync(part.log)
  await writeDurably(part.format, `${dataFormat}\n`)
  await writeDurably(join(part.root, 'head'), head)
  const files = []
  for (const name of ['FORMAT', 'log.sqlite', 'head'] as const) {
    const file = join(part.root, name)
    files.push({ name, sha256: await hashFile(file), bytes: await sizeOf(file) })
  }
  const blobs = []
  for (const hash of [...needed].sort()) blobs.push({ sha256: hash, bytes: await sizeOf(join(part.blobs, hash)) })
  const manifest: Manifest = { mindledger_backup: 1, ...about, taken_at: new Date().toISOString(), files, blobs }
  await writeManifest(part.root, manifest)
  await syncAll(part.blobs, part.root)
  await rename(part.root, into)
  await sync(dirname(into))
  return manifest
}
