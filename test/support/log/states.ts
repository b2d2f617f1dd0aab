import { expect } from '@jest/globals'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { evolve, catalogue, kinds, type Kind, type States } from '../../../events/catalogue.js'
import type { Envelope } from '../../../events/stored/envelope.js'
import type { Job } from '../../../events/job.js'
import type { Model } from '../../../events/model.js'

export type Row = Record<string, unknown>

/** Rows with JSON columns parsed and numbers as numbers, so that they compare with states. */
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

/** Every table of the schema `ledger`, row by row, in a fixed order: databases with the same content give the same text. */
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
 * How many rows a table of the schema `ledger` has in one of two databases alone; tables without such rows are missing. Where the log
 * stood when a file was begun is the file's own, and is left out.
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

/** The runs of all jobs up to a position, according to the events. */
export const expectedRuns = (envelopes: readonly Envelope[], position: number): Row[] => {
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

/** The rows of a kind's history table at a position, according to the fold. */
export const expectedRows = (kind: Kind, envelopes: readonly Envelope[], position: number): Row[] =>
  [...folded(kind, envelopes, position)]
    .map(([stream, state]) => {
      if (kind === 'job') return { stream, ...jobRow(state as Job) }
      if (kind !== 'model') return { stream, ...state }
      const { project, name, active, recording } = state as Model
      return { stream, project, name, active, recording }
    })
    .sort((a, b) => (a.stream < b.stream ? -1 : 1))

/** The versions of all models at a position, according to the fold. */
export const expectedVersions = (envelopes: readonly Envelope[], position: number): Row[] =>
  [...folded('model', envelopes, position)]
    .flatMap(([stream, { versions }]) =>
      versions.map(({ result, using, ...request }) => {
        const none = { artefact: null, matrix: null, read_at: null, rows: null, accuracy: null, report: null, runtime: null, seconds: null }
        return { stream, ...request, options: using, ...none, ...result }
      }),
    )
    .sort((a, b) => (a.stream === b.stream ? a.version - b.version : a.stream < b.stream ? -1 : 1))

export const allKinds = kinds

const at = (table: string, position: number, order: string) =>
  `SELECT * EXCLUDE (id, valid_from, valid_to, created_at, changed_at, changed_by, change, request)
   FROM ledger.${table}_history WHERE valid_from <= ${position} AND (valid_to IS NULL OR valid_to > ${position}) ORDER BY ${order}`

const without = (rows: Row[], column: string) =>
  rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => name !== column)))

/** Compares every history table, as it is at a position, with a fold of the events up to it. */
export const expectTables = async (connection: DuckDBConnection, envelopes: readonly Envelope[], position: number): Promise<void> => {
  for (const kind of allKinds) {
    expect(await rowsOf(connection, at(`${kind}s`, position, 'stream'))).toEqual(expectedRows(kind, envelopes, position))
  }
  const runs = `SELECT s.position, s.run, s.actor, coalesce(f.outcome, 'running') AS outcome, f.error, f.statements, f.position AS ended
    FROM ledger.job_runs_started AS s LEFT JOIN ledger.job_runs_finished AS f ON f.job = s.job AND f.run = s.run AND f.position <= ${position}
    WHERE s.position <= ${position} ORDER BY s.position`
  expect(await rowsOf(connection, runs)).toEqual(expectedRuns(envelopes, position))
  const versions = await rowsOf(connection, at('model_versions', position, 'stream, version'))
  expect(without(versions, 'requested_at')).toEqual(expectedVersions(envelopes, position))
}
