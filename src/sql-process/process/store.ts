import { existsSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'
import { ForeignTablesError, StaleTablesError } from '../../../projections/problem.js'
import { Replay, type EventReader, type PayloadReader, type ReplayProgress } from '../../../projections/replay.js'
import { freeBytes } from '../../basics/disk.js'
import { copyOfTables, exchangeTables, removeTables, removeTablesFile, type DataPaths } from '../../setup/data-directory.js'
import { quoteName, quoteText } from '../../dialect/strings.js'
import { spillDirectory } from '../contract/confinement.js'
import type { Settings } from '../contract/messages.js'
import type { RebuildReason } from '../contract/rebuilds.js'

/**
 * The open tables: one instance of DuckDB, and the replay that makes them follow the log. `rebuilt` is the reason of a rebuild, if there
 * was one, and `isPurged` says whether a copy without erased rows took their place first.
 */
export type Store = { instance: DuckDBInstance; replay: Replay; rebuilt: RebuildReason | null; isPurged: boolean }

const mebibyte = 1024 * 1024

/** A query that spills must never fill the disk of the log. */
const spillMaxBytes = (directory: string): number => Math.floor(freeBytes(directory) / 4)

const megabytes = (bytes: number): string => `${Math.max(1, Math.floor(bytes / mebibyte))}MiB`

/** Opens DuckDB. Until it is confined, only statements of this service may run. */
const openInstance = async (paths: DataPaths, settings: Settings): Promise<DuckDBInstance> => {
  const instance = await DuckDBInstance.create(paths.tablesFile, {
    // Half of the memory of the process. The rest is for results, for functions in JavaScript, and for memory that DuckDB does not count.
    memory_limit: megabytes(settings.memoryMaxBytes / 2),
    threads: String(settings.threads),
    temp_directory: spillDirectory(paths.root),
    max_temp_directory_size: megabytes(spillMaxBytes(paths.root)),
    // A checkpoint rewrites the parts that the batch changed: many small checkpoints would take half the time of a rebuild.
    checkpoint_threshold: megabytes(settings.walMaxBytes),
    // Errors have their place as a number, which is mapped to the user's text.
    errors_as_json: 'true',
    autoload_known_extensions: 'false',
    autoinstall_known_extensions: 'false',
  })
  const connection = await instance.connect()
  // A time without a zone is UTC, in an AT and in an answer. The zone of the machine does not matter.
  await connection.run(`SET GLOBAL TimeZone = 'UTC'`)
  connection.closeSync()
  return instance
}

/** Confines DuckDB to its own file, its spill files, the blobs, and the tables that are being written. */
const confine = async (instance: DuckDBInstance, paths: DataPaths): Promise<void> => {
  const connection = await instance.connect()
  await connection.run(`SET allowed_directories = [${[paths.blobs, paths.tables].map(quoteText).join(', ')}]`)
  await connection.run('SET enable_external_access = false')
  await connection.run('SET lock_configuration = true')
  connection.closeSync()
}

/** The part of the log that the tables need, and the position of its last erasure. */
export type TablesLog = EventReader & PayloadReader & { erasedAt(): number }

type OpenTables = Pick<Store, 'instance' | 'replay'>

const openFile = async (paths: DataPaths, settings: Settings, log: TablesLog): Promise<OpenTables> => {
  const instance = await openInstance(paths, settings)
  try {
    return { instance, replay: await Replay.open({ events: log, payloads: log, database: instance }) }
  } catch (error) {
    instance.closeSync()
    throw error
  }
}

/**
 * Puts a compact copy in the place of the tables, and closes them: deleted rows leave bytes in their file. The copy lies beside the file,
 * because the process may move files only within a directory.
 */
const purge = async ({ instance, replay }: OpenTables, { paths, upTo, onProgress }: Purge): Promise<void> => {
  const copy = copyOfTables(paths)
  try {
    onProgress(replay.position, upTo)
    await replay.catchUp(upTo, onProgress)
    await copyTables(instance, copy)
  } finally {
    replay.close()
    instance.closeSync()
  }
  await exchangeTables(paths, copy)
}

type Purge = { paths: DataPaths; upTo: number; onProgress: ReplayProgress }

/** Opens the tables. Usually a copy without erased rows has already replaced the file (`sql-process.ts`); else it does so now. */
const openTables = async (
  paths: DataPaths,
  settings: Settings,
  log: TablesLog,
  onProgress: ReplayProgress,
): Promise<Omit<Store, 'rebuilt'>> => {
  // Whoever erases more from now on purges the tables again.
  const upTo = log.erasedAt()
  let tables = await openFile(paths, settings, log)
  const isPurged = tables.replay.begunAt < upTo
  if (isPurged) {
    try {
      await purge(tables, { paths, upTo, onProgress })
    } catch {
      throw new StaleTablesError('erasure')
    }
    tables = await openFile(paths, settings, log)
  }
  await confine(tables.instance, paths)
  return { ...tables, isPurged }
}

/**
 * Whether new tables would help, since the log can rebuild everything in the file. For some reasons a new file would fail as well. And
 * tables that know more than the log must stay, as evidence that the log lost events.
 */
const worthRebuilding = (error: unknown): boolean => {
  if (error instanceof StaleTablesError) return true
  if (error instanceof ForeignTablesError) return false
  if (!(error instanceof Error) || 'code' in error) return false
  return !/could not set lock|permission denied|no space|read-only/i.test(error.message)
}

const reasonOf = (error: unknown): RebuildReason => (error instanceof StaleTablesError ? error.reason : 'damaged file')

/**
 * Opens the tables of a data directory. Builds new ones if there are none, if another release built them, or if the file is damaged. New
 * tables are empty and catch up like all others; if the process is killed meanwhile, they continue from their position. If the file may
 * have bytes of erased rows, a copy without them takes its place first, and `onProgress` is called.
 */
export const openStore = async (paths: DataPaths, settings: Settings, log: TablesLog, onProgress: ReplayProgress): Promise<Store> => {
  const remove = () => removeTables(paths)
  const missing = !existsSync(paths.tablesFile) ? 'missing file' : null
  // A process that ended while it made a copy left it behind.
  removeTablesFile(copyOfTables(paths))
  if (settings.rebuild) remove()
  try {
    return { ...(await openTables(paths, settings, log, onProgress)), rebuilt: settings.rebuild ? 'damaged file' : missing }
  } catch (error) {
    if (!worthRebuilding(error)) throw error
    remove()
    return { ...(await openTables(paths, settings, log, onProgress)), rebuilt: reasonOf(error) }
  }
}

let copies = 0

/**
 * Writes the current tables into a new file, which has no byte of a deleted row. The file must lie where DuckDB may write, and must not
 * exist yet. Returns the log position of the copy.
 *
 * @example await copyTables(instance, 'copy.duckdb') // 1200
 */
export const copyTables = async (instance: DuckDBInstance, into: string): Promise<number> => {
  const copy = `copy_${++copies}`
  const connection = await instance.connect()
  try {
    const [[own] = []] = (await connection.runAndReadAll('SELECT current_database()')).getRows()
    await connection.run(`ATTACH ${quoteText(into)} AS ${copy}`)
    try {
      await connection.run(`COPY FROM DATABASE ${quoteName(String(own))} TO ${copy}`)
      await connection.run(`UPDATE ${copy}.ledger.checkpoint SET begun_at = position`)
      const read = await connection.runAndReadAll(`SELECT position FROM ${copy}.ledger.checkpoint`)
      return Number(read.getRows()[0]?.[0])
    } finally {
      // This also moves everything into the one file.
      await connection.run(`DETACH ${copy}`)
    }
  } catch (error) {
    removeTablesFile(into)
    throw error
  } finally {
    connection.closeSync()
  }
}
