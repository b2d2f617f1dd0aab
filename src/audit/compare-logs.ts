import { errorText } from '../basics/errors.js'
import { DuckDBInstance } from '@duckdb/node-api'
import { join } from 'node:path'
import { fingerprint } from '../../projections/checkpoint.js'
import { ForeignTablesError, ProjectionError } from '../../projections/problem.js'
import { assertSameLog, Replay, replaySettings, type EventReader, type PayloadReader } from '../../projections/replay.js'
import { tablesCheckpoint } from '../sql-process/tables-checkpoint.js'
import { ConfigError } from '../setup/config.js'
import type { LogReader } from '../log/sqlite/log-reader.js'
import { compareTables, type Comparison } from './compare-tables.js'

type Source = EventReader & PayloadReader & Pick<LogReader, 'erasedAt'>

/** The result of comparing live tables with a replay. */
export type Diff = {
  /** The position of the live tables, and the log's head. */
  position: number
  head: number
  comparison: Comparison
  /** If projections cannot follow the log beyond this position, the reason. */
  stopped: string | undefined
}

export type DiffOptions = {
  /** The live tables, or a copy of them; no process writes to them meanwhile. */
  live: string
  log: Source
  /** A directory used only by this comparison. */
  temporary: string
  rowsShown: number
  onProgress: (text: string) => void
}

type Checkpoint = { position: number; leaf: string | null }

const firstLine = (error: unknown): string => errorText(error).split('\n', 1).join('')

const readCheckpoint = async (live: string): Promise<Checkpoint> => {
  const rows = await tablesCheckpoint(live).catch((error: unknown) => {
    throw new ConfigError(`the tables cannot be read: ${firstLine(error)}`)
  })
  const [position, leaf, builtBy] = rows[0] ?? []
  if (rows.length !== 1) throw new ForeignTablesError(`the tables say ${rows.length} times where they stand`)
  if (builtBy !== fingerprint())
    throw new ConfigError('the tables were built by another release. Start the service once: it builds them anew.')
  return { position: Number(position), leaf: typeof leaf === 'string' ? leaf : null }
}

/** An erasure removes rows by its own event: tables from before that event have rows that no replay can make today. */
const checkErasures = (log: Source, position: number): void => {
  const erasedAt = log.erasedAt()
  if (erasedAt > position)
    throw new ConfigError(
      `the tables stand at position ${position}, before the erasure at ${erasedAt}. Try again; where no service runs, start it once: it brings them up to date.`,
    )
}

/**
 * Replays the log up to the position of the live tables, into a separate file, and compares the two row by row.
 *
 * @example (await diffTables({ live, log: openLogReader('./data'), temporary, rowsShown: 10, onProgress })).comparison.differences
 * @throws ForeignTablesError when the tables cannot be of this log; ConfigError when they cannot be compared; ProjectionError
 * when an event before their position cannot be projected
 */
export const diffTables = async ({ live, log, temporary, rowsShown, onProgress }: DiffOptions): Promise<Diff> => {
  const checkpoint = await readCheckpoint(live)
  const { position } = checkpoint
  const head = await log.head()
  await assertSameLog(log, checkpoint)
  checkErasures(log, position)
  const replay = join(temporary, 'replay.duckdb')
  const build = async (until: number) => {
    const database = await DuckDBInstance.create(replay, replaySettings)
    try {
      const tables = await Replay.open({ events: log, payloads: log, database })
      try {
        await tables.catchUp(until, (done, total) => onProgress(`replayed ${done} of ${total} events`))
      } finally {
        tables.close()
      }
    } finally {
      database.closeSync()
    }
  }
  await build(position)
  const comparison = await compareTables({
    live,
    replay,
    temporary,
    except: 'ledger.checkpoint',
    rowsShown,
    onTable: (table, done, of) => onProgress(`compared ${done} of ${of} tables: ${table}`),
  })
  // Data that was erased during the replay is in the live tables alone.
  if (comparison.differences.length > 0) checkErasures(log, position)
  // A replay may also fail at events that the live tables have not followed yet.
  const stopped = await build(head).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof ProjectionError) return error.message
      throw error
    },
  )
  return { position, head, comparison, stopped }
}
