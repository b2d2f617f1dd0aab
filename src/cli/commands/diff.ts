import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ForeignTablesError, MissingKeyError, ProjectionError } from '../../../projections/problem.js'
import type { TableDifference } from '../../audit/compare-tables.js'
import { diffTables, type Diff } from '../../audit/compare-logs.js'
import { inOwnDirectory } from '../../basics/disk.js'
import { ConfigError } from '../../setup/config.js'
import { checkDataDirectory, lockDataDirectory, type DataPaths } from '../../setup/data-directory.js'
import { openLogReader } from '../../log/sqlite/log-reader.js'
import type { Output } from '../terminal/output.js'
import { ownMasterKeys } from '../access/own-keys.js'
import { runningServer, type CommandConfig, type Server } from '../access/server.js'

const rowMaxChars = 1_000
const cut = (row: string): string => (row.length > rowMaxChars ? `${row.slice(0, rowMaxChars - 1)}…` : row)
const count = (n: number, of: string): string => `${n.toLocaleString('en')} ${of}${n === 1 ? '' : 's'}`

const showTable = ({ table, live, replay, odd, rows }: TableDifference, out: Output): void => {
  out.line(
    `${table}: ${count(live, 'row')}, ${replay.toLocaleString('en')} in the replay; ${odd.toLocaleString('en')} without a counterpart`,
  )
  for (const { side, times, row } of rows) out.line(`  ${side} ${cut(row)}${times > 1 ? ` (${times} times)` : ''}`)
  const shown = rows.reduce((sum, { times }) => sum + times, 0)
  if (shown < odd) out.line(`  and ${(odd - shown).toLocaleString('en')} more`)
}

const show = ({ position, head, comparison, stopped }: Diff, out: Output): number => {
  const { tables, rows, shape, differences } = comparison
  for (const finding of shape) out.line(finding)
  for (const difference of differences) showTable(difference, out)
  const isEqual = shape.length === 0 && differences.length === 0
  if (isEqual) out.line(`The tables equal a replay up to position ${position}: ${count(tables, 'table')}, ${count(rows, 'row')}.`)
  else out.line(`THE TABLES DIFFER from a replay up to position ${position} (+ is only in the tables, - only in the replay).`)
  if (stopped !== undefined) out.line(`They cannot follow the log to its head, position ${head}: ${stopped}`)
  else if (head > position) out.line(`The log goes on to position ${head}, which the tables follow while the service runs.`)
  if (!isEqual) return 1
  return stopped === undefined ? 0 : 2
}

/** Runs with tables that do not change: a copy from the running server, or the locked file itself. */
const withTables = async <T>(config: CommandConfig, paths: DataPaths, run: (live: string, temporary: string) => Promise<T>): Promise<T> => {
  const server = await runningServer(config)
  const unlock = server ? () => undefined : lockDataDirectory(paths)
  try {
    return await inOwnDirectory(paths.temporary, 'diff-', async (temporary) =>
      run(server ? await copyOf(server, temporary) : paths.tablesFile, temporary),
    )
  } finally {
    unlock()
  }
}

const copyOf = async (server: Server, temporary: string): Promise<string> => {
  const live = join(temporary, 'live.duckdb')
  await server.download('/api/log/tables', live)
  return live
}

/**
 * `mindledger diff [--rows n]`: compares the live tables with a replay of the log. Exit status 0 when they are equal, 1 when they
 * differ, 2 when they could not be compared, or not up to the log's head.
 */
export const diff = async (config: CommandConfig, { rows }: { rows: number }, out: Output): Promise<number> => {
  const paths = checkDataDirectory(config.dataDirectory)
  if (ownMasterKeys(config, paths).length === 0)
    throw new ConfigError('recorded rows cannot be compared without the master key: set VAULT_KEY, or put vault.key back.')
  const log = openLogReader(config.dataDirectory, config.masterKeys, true)
  try {
    return await withTables(config, paths, async (live, temporary) => {
      if (!existsSync(live)) throw new ConfigError('there are no tables yet: they are built when the service starts.')
      return show(await diffTables({ live, log, temporary, rowsShown: rows, onProgress: (text) => out.progress(text) }), out)
    })
  } catch (error) {
    if (error instanceof ProjectionError) throw new ConfigError(`${error.message} "mindledger verify" says whether the log holds.`)
    if (error instanceof MissingKeyError)
      throw new ConfigError(`${error.message} It may have been replaced meanwhile: try again, with the key in use.`)
    if (!(error instanceof ForeignTablesError)) throw error
    out.line(`THE TABLES ARE NOT OF THIS LOG: ${error.message}.`)
    return 1
  } finally {
    log.close()
  }
}
