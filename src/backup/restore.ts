import { existsSync, readdirSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { dataPaths, makeDirectory, removeTables, type DataPaths } from '../setup/data-directory.js'
import { ConfigError } from '../setup/config.js'
import { copyDurably, syncAll, type FileDigest } from './durable-files.js'
import { readManifest, type Manifest } from './manifest.js'

export type RestoreOptions = {
  backup: string
  into: string
  /** Checks the restored directory before it is moved into place, and makes the changes that it needs. */
  check: (staged: DataPaths, head: string) => Promise<boolean>
  onProgress: (text: string) => void
}

const damaged = (file: string) =>
  new ConfigError(`${file} differs from the backup's manifest. The backup is damaged; restore from another one.`)

/** Removes the files of an interrupted restore. A restore needs a directory without a log. */
const clear = async (paths: DataPaths): Promise<void> => {
  if (!existsSync(paths.restoring)) return
  for (const name of readdirSync(paths.root))
    if (name === 'FORMAT' || name === 'blobs' || name.startsWith('log.sqlite')) await rm(join(paths.root, name), { recursive: true })
  await rm(paths.restoring, { recursive: true })
}

const requireEmpty = ({ root, format, log, blobs }: DataPaths): void => {
  if (!existsSync(format) && !existsSync(log) && (!existsSync(blobs) || readdirSync(blobs).length === 0)) return
  throw new ConfigError(`${root} holds a log already. Restore into another directory, or move that one away.`)
}

/** SQLite would write what such a file has into a log that is put beside it. */
const requireNoneBeside = ({ root, log }: DataPaths): void => {
  const beside = ['-wal', '-shm', '-journal'].map((suffix) => `${log}${suffix}`).find((file) => existsSync(file))
  if (beside === undefined) return
  throw new ConfigError(`${beside} belongs to a log that is not in ${root}. Put that log back, or move the file away; then restore again.`)
}

/** The digest of a file that was copied from a backup; undefined if the backup lacks it. Other errors are no fault of the backup. */
const copied = (from: string, to: string): Promise<FileDigest | undefined> =>
  copyDurably(from, to).catch((error: unknown) => {
    if (!existsSync(from)) return undefined
    throw error
  })

const copyIn = async (backup: string, staged: DataPaths, { files, blobs }: Manifest, onProgress: RestoreOptions['onProgress']) => {
  for (const { name, sha256 } of files) {
    if ((await copied(join(backup, name), join(staged.root, name)))?.sha256 !== sha256) throw damaged(join(backup, name))
  }
  for (const [done, { sha256 }] of blobs.entries()) {
    const file = join(dataPaths(backup).blobs, sha256)
    if ((await copied(file, join(staged.blobs, sha256)))?.sha256 !== sha256) throw damaged(file)
    onProgress(`${done + 1} of ${blobs.length} blobs`)
  }
}

/**
 * Restores a backup into a data directory. Everything is first copied and checked below `restore.part`. While that exists, no command
 * accepts the directory as complete, and another restore starts over. Keys in the directory stay.
 *
 * @example const manifest = await restoreBackup({ backup: '/mnt/b/1', into: './data', check, onProgress })
 * @returns undefined when the check failed, and the directory is as it was
 * @throws ConfigError when the backup is not complete, or the directory already has a log or the rest of one
 */
export const restoreBackup = async ({ backup, into, check, onProgress }: RestoreOptions): Promise<Manifest | undefined> => {
  const manifest = readManifest(backup)
  const paths = dataPaths(into)
  const staged = dataPaths(paths.restoring)
  makeDirectory(into)
  await clear(paths)
  requireEmpty(paths)
  requireNoneBeside(paths)
  await mkdir(staged.blobs, { recursive: true, mode: 0o700 })
  const isWhole = await copyIn(backup, staged, manifest, onProgress)
    .then(() => check(staged, join(staged.root, 'head')))
    .catch(async (error: unknown) => {
      await rm(paths.restoring, { recursive: true })
      throw error
    })
  if (isWhole) await putInPlace(paths, staged)
  else await rm(paths.restoring, { recursive: true })
  return isWhole ? manifest : undefined
}

const putInPlace = async (paths: DataPaths, staged: DataPaths): Promise<void> => {
  await rm(paths.blobs, { recursive: true, force: true })
  // Tables and indexes of an earlier log in this directory may be newer than the backup.
  removeTables(paths)
  await rm(paths.knowledge, { recursive: true, force: true })
  await rename(staged.blobs, paths.blobs)
  await rename(staged.log, paths.log)
  await rename(staged.format, paths.format)
  await syncAll(paths.blobs, paths.root)
  await rm(paths.restoring, { recursive: true })
  await syncAll(paths.root)
}
