import { expect } from '@jest/globals'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { evolve, catalogue, kinds, type Kind, type States } from '../../../events/catalogue/catalogue.js'
import type { Envelope } from '../../../events/stored/envelope.js'
import type { Conversation } from '../../../events/conversation.js'
import type { Job } from '../../../events/job.js'
import type { Model } from '../../../events/model.js'

export type Row = Record<string, unknown>

/** Rows with parsed JSON columns and numeric values, so that they can be compared with states. */
export const rowsOf = async (connection: DuckDBConnection, sql: string): Promise<Row[]> => {
  const reader = await connection.runAndReadAll(sql)
  const types = reader.columnTypes()
  return reader.getRowObjectsJson().map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value], i) => {
        if (typeof value !== 'string') return [name, value]
        if (types[i]?.alias === 'JSON') return [name, JSON.parse(value) as unknown]
        return [name, types[i]?.toString() === 'BIGINT' ? Number(value) : value]
      }),
    ),
  )
}

/** All tables of the schema `ledger` as text, row by row in a fixed order: databases with the same content give the same text. */
export const dump = async (database: DuckDBInstance): Promise<Record<string, unknown[]>> => {
  const connection = await database.connect()
  const tables = await rowsOf(connection, `SELECT table_name FROM duckdb_tables() WHERE schema_name = 'ledger' ORDER BY 1`)
  const dumped: Record<string, unknown[]> = {}
  for (const { table_name } of tables) {
    dumped[String(table_name)] = await rowsOf(connection, `SELECT * FROM ledger.${String(table_name)} ORDER BY ALL`)
  }
  connection.closeSync()
  return dumped
}

/**
 * The number of rows of each table of the schema `ledger` that only one of two databases has; tables without differences are left out. The
 * position at which a file was begun differs between files, so it is ignored.
 *
 * @example expect(await differences(database, 'tables/analytics.duckdb')).toEqual({})
 */
export const differences = async (database: DuckDBInstance, file: string): Promise<Record<string, number>> => {
  const connection = await database.connect()
  await connection.run(`ATTACH '${file}' AS other`)
  const tables = await rowsOf(connection, `SELECT DISTINCT table_name FROM duckdb_tables() WHERE schema_name = 'ledger'`)
  const found: Record<string, number> = {}
  for (const { table_name } of tables) {
    const name = `ledger.${String(table_name)}`
    const columns = table_name === 'checkpoint' ? '* EXCLUDE (begun_at)' : '*'
    const alone = (left: string, right: string) =>
      `(SELECT count(*) FROM (SELECT ${columns} FROM ${left} EXCEPT ALL SELECT ${columns} FROM ${right}))`
    const [row] = await rowsOf(connection, `SELECT ${alone(name, `other.${name}`)} + ${alone(`other.${name}`, name)} AS n`)
    if (row?.['n'] !== 0) found[name] = Number(row?.['n'])
  }
  await connection.run('DETACH other')
  connection.closeSync()
  return found
}

/** The state of every resource of a kind after the events up to a position, folded with `evolve`. */
export const folded = <K extends Kind>(kind: K, envelopes: readonly Envelope[], position: number): Map<string, States[K]> => {
  const states = new Map<string, States[K]>()
  for (const event of envelopes.slice(0, position)) {
    if (catalogue.get(event.type)?.kind !== kind) continue
    const state = evolve(kind, states.get(event.stream), event)
    if (state === undefined) states.delete(event.stream)
    else states.set(event.stream, state)
  }
  return states
}

const jobRow = ({ project, name, query, if_query, start_at, end_at, schedule, next_run_at }: Job): Row => ({
  ...{ project, name, query, if_query, start_at, end_at, next_run_at },
  schedule: schedule?.said ?? null,
})

const conversationRow = ({ chatbot, name, channel }: Conversation): Row => ({ chatbot, name, channel })

/** The runs of all jobs up to a position, computed from the events. */
const expectedRuns = (envelopes: readonly Envelope[], position: number): Row[] => {
  const seen = envelopes.slice(0, position)
  return seen
    .filter(({ type }) => type === 'JobRunStarted')
    .map((begun) => {
      const ended = seen.find(
        ({ type, stream, data }) => type === 'JobRunFinished' && stream === begun.stream && data['run'] === begun.data['run'],
      )
      const { outcome = 'running', error = null, statements = null } = ended?.data ?? {}
      return {
        position: begun.position,
        run: begun.data['run'],
        actor: begun.actor,
        outcome,
        error,
        statements,
        ended: ended?.position ?? null,
      }
    })
}

/** The rows of a kind's history table at a position, computed with `evolve`. */
const expectedRows = (kind: Kind, envelopes: readonly Envelope[], position: number): Row[] =>
  [...folded(kind, envelopes, position)]
    .map(([stream, state]) => {
      if (kind === 'job') return { stream, ...jobRow(state as Job) }
      if (kind === 'conversation') return { stream, ...conversationRow(state as Conversation) }
      if (kind !== 'model') return { stream, ...state }
      const { project, name, active, recording } = state as Model
      return { stream, project, name, active, recording }
    })
    .sort((a, b) => (a.stream < b.stream ? -1 : 1))

/** The versions of all models at a position, computed with `evolve`. */
const expectedVersions = (envelopes: readonly Envelope[], position: number): Row[] =>
  [...folded('model', envelopes, position)]
    .flatMap(([stream, { versions }]) =>
      versions.map(({ result, using, ...request }) => {
        const none = { artefact: null, matrix: null, read_at: null, rows: null, accuracy: null, report: null, runtime: null, seconds: null }
        return { stream, keep_training_data: null, ...request, options: using, ...none, ...result }
      }),
    )
    .sort((a, b) => (a.stream === b.stream ? a.version - b.version : a.stream < b.stream ? -1 : 1))

/** A history table with all versions of its rows, in the order of the computed ones. */
const historyOf = (connection: DuckDBConnection, table: string, order: string): Promise<Row[]> =>
  rowsOf(
    connection,
    `SELECT * EXCLUDE (id, created_at, changed_at, changed_by, change, request) FROM ledger.${table}_history ORDER BY ${order}`,
  )

/** The rows of a history table that are valid at a position. */
const rowsAt = (history: readonly Row[], position: number): Row[] =>
  history
    .filter(({ valid_from, valid_to }) => Number(valid_from) <= position && (valid_to === null || Number(valid_to) > position))
    .map(({ valid_from: _, valid_to: __, ...row }) => row)

/** The runs that had begun by a position. A run that ended later counts as running. */
const runsAt = (runs: readonly Row[], position: number): Row[] =>
  runs
    .filter((run) => Number(run['position']) <= position)
    .map((run) => {
      const hasEnded = run['ended'] !== null && Number(run['ended']) <= position
      return hasEnded ? run : { ...run, outcome: 'running', error: null, statements: null, ended: null }
    })

/** Compares every history table, at several positions, with the states that `evolve` computes from the events. */
export const expectTables = async (
  connection: DuckDBConnection,
  envelopes: readonly Envelope[],
  positions: readonly number[],
): Promise<void> => {
  const histories = new Map<Kind, Row[]>()
  for (const kind of kinds) histories.set(kind, await historyOf(connection, `${kind}s`, 'stream'))
  const versions = await historyOf(connection, 'model_versions', 'stream, version')
  const runs = await rowsOf(
    connection,
    `SELECT s.position, s.run, s.actor, f.outcome, f.error, f.statements, f.position AS ended
     FROM ledger.job_runs_started AS s LEFT JOIN ledger.job_runs_finished AS f ON f.job = s.job AND f.run = s.run ORDER BY s.position`,
  )
  for (const position of positions) {
    for (const [kind, history] of histories) expect(rowsAt(history, position)).toEqual(expectedRows(kind, envelopes, position))
    expect(runsAt(runs, position)).toEqual(expectedRuns(envelopes, position))
    const seen = rowsAt(versions, position).map(({ requested_at: _, ...version }) => version)
    expect(seen).toEqual(expectedVersions(envelopes, position))
  }
}
