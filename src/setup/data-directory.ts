import { errorText } from '../basics/errors.js'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { ConfigError } from './config.js'
import { writeWhole } from '../basics/disk.js'
import { sqliteCode } from '../basics/storage-error.js'

/** The version of the data directory's layout. A newer layout is refused; an older one is migrated after a copy of the log was made. */
export const dataFormat = 1

/** The paths in a data directory. */
export type DataPaths = {
  root: string
  format: string
  lock: string
  /** The address of the running server. */
  server: string
  log: string
  /** The id of this node, if several nodes share a log. */
  node: string
  vaultKey: string
  /** The next key, which becomes `vaultKey` once it wraps the keys of all payloads. */
  nextVaultKey: string
  headKey: string
  /** Exists while a restore into the directory is running, or after it was interrupted. */
  restoring: string
  /** Exists only in a backup. */
  manifest: string
  blobs: string
  /** The tables, in a directory of their own: the process that opens them can write there, but not outside. */
  tablesFile: string
  /** The number of times that the tables were rebuilt. */
  rebuilds: string
  temporary: string
  /** The state of the trusted clock. */
  clock: string
  /** The directory where queries write tables before these become blobs. */
  tables: string
  /** The indexes of knowledge bases, which follow the log. */
  knowledge: string
}

/**
 * The paths in a data directory. Nothing is created.
 *
 * @example dataPaths('/var/lib/mindledger').log // '/var/lib/mindledger/log.sqlite'
 */
export const dataPaths = (root: string): DataPaths => ({
  root,
  format: join(root, 'FORMAT'),
  lock: join(root, 'lock.sqlite'),
  server: join(root, 'server.json'),
  log: join(root, 'log.sqlite'),
  node: join(root, 'node.id'),
  vaultKey: join(root, 'vault.key'),
  nextVaultKey: join(root, 'vault.key.next'),
  headKey: join(root, 'head.key'),
  restoring: join(root, 'restore.part'),
  manifest: join(root, 'manifest.json'),
  blobs: join(root, 'blobs'),
  tablesFile: join(root, 'tables', 'analytics.duckdb'),
  rebuilds: join(root, 'analytics.json'),
  temporary: join(root, 'tmp'),
  clock: join(root, 'clock.json'),
  tables: join(root, 'tmp', 'tables'),
  knowledge: join(root, 'knowledge'),
})

const readFormat = (paths: DataPaths): number => {
  const found = Number(readFileSync(paths.format, 'utf8').trim())
  if (!Number.isInteger(found) || found < 1)
    throw new ConfigError(`${paths.format} does not hold a format number; is ${paths.root} a data directory?`)
  if (found > dataFormat)
    throw new ConfigError(
      `${paths.root} has data format ${found}; this release knows up to ${dataFormat}. Start the newer release that wrote it.`,
    )
  return found
}

const refuseHalf = ({ root, restoring }: DataPaths): void => {
  if (existsSync(restoring)) throw new ConfigError(`a restore into ${root} was cut off. Run it again; it starts from the beginning.`)
}

/**
 * Checks a data directory without changing it. @throws ConfigError when it does not exist, has no log, or was written by a newer release
 */
export const checkDataDirectory = (root: string): DataPaths => {
  const paths = dataPaths(root)
  refuseHalf(paths)
  if (!existsSync(paths.format)) {
    const what = existsSync(root) ? 'it has no FORMAT file' : 'it does not exist'
    throw new ConfigError(`${root} is not a data directory: ${what}. Set DATA_DIR to the one you mean; "mindledger serve" makes one.`)
  }
  readFormat(paths)
  if (!existsSync(paths.log)) throw new ConfigError(`${root} holds no log. "mindledger serve" begins one; a backup brings one back.`)
  return paths
}

/**
 * Makes a directory and its parents. Node's recursive `mkdir` never returns for a file system without directories: `/proc/x`.
 *
 * @throws the error of the system
 */
export const makeDirectory = (path: string): void => {
  if (existsSync(path)) return
  if (dirname(path) !== path) makeDirectory(dirname(path))
  mkdirSync(path, { mode: 0o700 })
}

/** Refuses a backup: a write would make its manifest wrong. */
const refuseBackup = ({ root, manifest }: DataPaths): void => {
  if (!existsSync(manifest)) return
  throw new ConfigError(`${root} is a backup, which stays as it is. "mindledger restore ${root}" makes a data directory of it.`)
}

/**
 * Refuses a path that DuckDB does not take as a name alone: it looks for files that match `*`, `?` and `[`, and adds a column to the rows
 * below a folder like `site=berlin`.
 *
 * @throws ConfigError
 */
const refusePatterns = (root: string): void => {
  const [sign] = /[*?[=]/.exec(root) ?? []
  if (sign !== undefined)
    throw new ConfigError(
      `${root} cannot be used as data directory: its path has a "${sign}". Rename the folder, or set DATA_DIR to another one.`,
    )
}

/** Makes a data directory, or checks the existing one. */
export const prepareDataDirectory = (root: string): DataPaths => {
  refusePatterns(root)
  const paths = dataPaths(root)
  try {
    makeDirectory(root)
    refuseHalf(paths)
    refuseBackup(paths)
    if (existsSync(paths.format)) readFormat(paths)
    else if (existsSync(paths.log))
      throw new ConfigError(`${root} holds a log but no FORMAT file; restore the file (it says ${dataFormat}) or the whole directory.`)
    else writeWhole(paths.format, `${dataFormat}\n`)
    mkdirSync(paths.blobs, { recursive: true })
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw unusable(root, error)
  }
  return paths
}

/** Earlier releases stored the tables beside the log. */
const takeInTables = ({ root, tablesFile }: DataPaths): void => {
  const before = join(root, 'analytics.duckdb')
  if (!existsSync(before) || existsSync(tablesFile)) return
  mkdirSync(dirname(tablesFile), { recursive: true, mode: 0o700 })
  for (const suffix of ['.wal', '']) if (existsSync(before + suffix)) renameSync(before + suffix, tablesFile + suffix)
}

/**
 * Locks the directory for this process, and empties its temporary part. The lock is released when the process ends, for any reason. Returns
 * a function that releases it.
 *
 * @throws ConfigError when another server has locked it, or it is a backup
 */
export const lockDataDirectory = (paths: DataPaths): (() => void) => {
  refuseBackup(paths)
  let lock: Database.Database | undefined
  try {
    lock = new Database(paths.lock, { timeout: 0 })
    lock.pragma('journal_mode = DELETE')
    lock.exec('BEGIN EXCLUSIVE')
    // Unfinished files of an earlier server are useless.
    rmSync(paths.temporary, { recursive: true, force: true })
    mkdirSync(paths.temporary, { recursive: true, mode: 0o700 })
    rmSync(paths.server, { force: true })
    takeInTables(paths)
  } catch (error) {
    lock?.close()
    if (sqliteCode(error)?.startsWith('SQLITE_BUSY'))
      throw new ConfigError(`${paths.root} is in use by another server. Stop it first, or set DATA_DIR to another directory.`)
    throw unusable(paths.root, error)
  }
  const held = lock
  return () => held.close()
}

/** Whether a process has locked the directory. It changes nothing, so it also works in a read-only directory. */
export const isDataDirectoryHeld = (paths: DataPaths): boolean => {
  if (!existsSync(paths.lock)) return false
  let lock: Database.Database | undefined
  try {
    lock = new Database(paths.lock, { readonly: true, timeout: 0 })
    lock.prepare('SELECT count(*) FROM sqlite_schema').get()
    return false
  } catch (error) {
    if (sqliteCode(error)?.startsWith('SQLITE_BUSY')) return true
    throw unusable(paths.root, error)
  } finally {
    lock?.close()
  }
}

const unusable = (root: string, error: unknown) => new ConfigError(`${root} cannot be used as data directory: ${errorText(error)}`)

/**
 * The refusal when something beside the log has events that the log does not have. New events would then make a second history of the same
 * log.
 *
 * @param found the finding: `the tables stand at position 350, and the log ends at 300`
 * @param accept the operator's way to continue with the log as it is
 */
export const olderLog = (found: string, accept: string): string =>
  `the log is an older copy, or another one: ${found}. Put the newer log back. Only if it is lost: ${accept}, and start again (docs/operate/running.md, "An older copy of the log").`

/** The place of the copy of the tables that the process for SQL makes when it opens them. */
export const copyOfTables = ({ tablesFile }: DataPaths): string => `${tablesFile}.copy`

/** The files that DuckDB writes for a file of tables: the file, its WAL, and a folder for data that does not fit into memory. */
export const filesOfTables = (file: string): string[] => [file, `${file}.wal`, `${file}.tmp`]

/** Removes a file of tables, with all that DuckDB writes beside it. */
export const removeTablesFile = (file: string): void => {
  for (const one of filesOfTables(file)) rmSync(one, { recursive: true, force: true })
}

/** Removes the tables of a data directory, and a copy that replaces them. */
export const removeTables = (paths: DataPaths): void => {
  removeTablesFile(paths.tablesFile)
  removeTablesFile(copyOfTables(paths))
}

/**
 * Replaces the tables by a copy, while no process has them open. After a crash either the copy or the old tables are there; the next start
 * recognises old ones by their `begun_at`, and copies them. A file system may write the whole copy to the disk for this, so nobody waits.
 */
export const exchangeTables = async ({ tablesFile }: DataPaths, copy: string): Promise<void> => {
  const [, ...beside] = filesOfTables(tablesFile)
  for (const one of beside) await rm(one, { recursive: true, force: true })
  await rename(copy, tablesFile)
}

/** The id of the node that owns this directory; the first start makes it. @throws ConfigError when the file has other content */
export const nodeIdOf = ({ node }: Pick<DataPaths, 'node'>): string => {
  if (!existsSync(node)) writeWhole(node, `${randomUUID()}\n`)
  const id = readFileSync(node, 'utf8').trim()
  if (/^[0-9a-f-]{36}$/.test(id)) return id
  throw new ConfigError(`${node} does not hold the id of a node. Delete it, and the next start makes another one.`)
}
