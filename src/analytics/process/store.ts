import { existsSync, rmSync, statfsSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'
import { ForeignTablesError, StaleTablesError } from '../../../projections/problem.js'
import { Replay, type EventReader, type PayloadReader } from '../../../projections/replay.js'
import { removeTables, type DataPaths } from '../../setup/data-directory.js'
import { quoteName, quoteText } from '../../dialect/strings.js'
import { spillDirectory } from '../contract/confinement.js'
import type { Settings } from '../contract/messages.js'
import type { RebuildReason } from '../contract/rebuilds.js'

/** The open tables: one instance of DuckDB, what makes them follow the log, and why they had to be begun anew, if so. */
export type Store = { instance: DuckDBInstance; replay: Replay; rebuilt: RebuildReason | null }

const mebibyte = 1024 * 1024

/** A query that spills must never fill the disk that the log is on. */
const spillMaxBytes = (directory: string): number => {
  const { bavail, bsize } = statfsSync(directory)
  return Math.floor((bavail * bsize) / 4)
}

const megabytes = (bytes: number): string => `${Math.max(1, Math.floor(bytes / mebibyte))}MiB`

/** Opens DuckDB and locks it in: it reaches its own file, its spill, the blobs and the tables that are being written, and no other file. */
const openInstance = async (paths: DataPaths, settings: Settings): Promise<DuckDBInstance> => {
  const instance = await DuckDBInstance.create(paths.analytics, {
    // Half of what the process may take. The rest is for results, for functions in JavaScript, and for what DuckDB does not count.
    memory_limit: megabytes(settings.memoryMaxBytes / 2),
    threads: String(settings.threads),
    temp_directory: spillDirectory(paths.root),
    max_temp_directory_size: megabytes(spillMaxBytes(paths.root)),
    // A checkpoint rewrites what the batch touched, so that many small ones would cost a rebuild half its time.
    checkpoint_threshold: megabytes(settings.walMaxBytes),
    // Errors tell their place as a number, from which the place in the user's text is found.
    errors_as_json: 'true',
    autoload_known_extensions: 'false',
    autoinstall_known_extensions: 'false',
  })
  const connection = await instance.connect()
  // A time without a zone is UTC, in an AT as in an answer, whatever the zone of the machine.
  await connection.run(`SET GLOBAL TimeZone = 'UTC'`)
  await connection.run(`SET allowed_directories = [${[paths.blobs, paths.tables].map(quoteText).join(', ')}]`)
  await connection.run('SET enable_external_access = false')
  await connection.run('SET lock_configuration = true')
  connection.closeSync()
  return instance
}

/** The log, as far as the tables follow from it, and the position of its last erasure. */
export type TablesLog = EventReader & PayloadReader & { erasedAt(): number }

const openTables = async (paths: DataPaths, settings: Settings, log: TablesLog): Promise<Omit<Store, 'rebuilt'>> => {
  const instance = await openInstance(paths, settings)
  try {
    const replay = await Replay.open({ events: log, payloads: log, database: instance })
    if (replay.begunAt >= log.erasedAt()) return { instance, replay }
    // Deleted rows leave bytes in the file. Usually a copy has taken its place by now (supervisor.ts), but not before this start.
    replay.close()
    throw new StaleTablesError('erasure')
  } catch (error) {
    instance.closeSync()
    throw error
  }
}

/**
 * Whether new tables would help: everything in the file follows from the log. A new file would fail for some reasons as well; and
 * tables that know more than the log are evidence that something is wrong with the log.
 */
const worthRebuilding = (error: unknown): boolean => {
  if (error instanceof StaleTablesError) return true
  if (error instanceof ForeignTablesError) return false
  if (!(error instanceof Error) || 'code' in error) return false
  return !/could not set lock|permission denied|no space|read-only/i.test(error.message)
}

const reasonOf = (error: unknown): RebuildReason => (error instanceof StaleTablesError ? error.reason : 'damaged file')

/**
 * Opens the tables of a data directory, or builds new ones when there are none, others built them, or the file is damaged.
 * New tables are empty: they catch up like any others, and go on where they stand when the process is killed meanwhile.
 */
export const openStore = async (paths: DataPaths, settings: Settings, log: TablesLog): Promise<Store> => {
  const remove = () => removeTables(paths)
  const missing = !existsSync(paths.analytics) ? 'missing file' : null
  if (settings.rebuild) remove()
  try {
    return { ...(await openTables(paths, settings, log)), rebuilt: settings.rebuild ? 'damaged file' : missing }
  } catch (error) {
    if (!worthRebuilding(error)) throw error
    remove()
    return { ...(await openTables(paths, settings, log)), rebuilt: reasonOf(error) }
  }
}

let copies = 0

/**
 * Writes the tables as they are into a new file, which holds nothing else: no byte of a row that was deleted. The file must
 * lie where DuckDB may write, and must not be there yet. Gives the position of the log that the copy stands at.
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
      // This also brings everything into the one file.
      await connection.run(`DETACH ${copy}`)
    }
  } catch (error) {
    for (const suffix of ['', '.wal']) rmSync(into + suffix, { force: true })
    throw error
  } finally {
    connection.closeSync()
  }
}
