import { createHash } from 'node:crypto'
import type { DuckDBConnection } from '@duckdb/node-api'
import { catalogue } from '../events/catalogue/catalogue.js'
import { leafHash } from '../events/stored/chain.js'
import { projections } from './all.js'
import { recordForm } from './payloads/long-records.js'
import { noRows, type RowCounts } from './tables.js'
import { takeApart, type PreparedEvent } from './staging.js'

/**
 * The position that the tables have reached, and the hash of the event there: another log would have another hash. `begunAt` is the head of
 * the log when the file was begun. Data that was erased before never came into the file. Data that was erased later may have left bytes of
 * deleted rows in it. `isCurrent` says whether this release's code built the tables.
 */
export type Checkpoint = { position: number; leaf: string | null; begunAt: number; isCurrent: boolean; counts: RowCounts }

// `counts` says how many rows each table has, as a JSON object.
const table = `
  CREATE SCHEMA IF NOT EXISTS ledger;
  CREATE TABLE ledger.checkpoint (
    position BIGINT NOT NULL, leaf VARCHAR, fingerprint VARCHAR NOT NULL, begun_at BIGINT NOT NULL, counts VARCHAR NOT NULL
  )`

/**
 * A fingerprint of the code that built the tables: the DDL, the SQL, the form of long records, and the number of upcasters of each event (a
 * released upcaster never changes). It does not contain the text of functions, because a bundler changes names in it. If the fingerprint
 * differs, the tables are rebuilt from the log.
 */
export const fingerprint = (): string => {
  const upcasters = [...catalogue].map(([type, { upcasters: steps }]) => `${type} ${steps.length}`)
  const statements = projections.flatMap(({ init, evolve, begin }) => [init, ...evolve, ...(begin?.evolve ?? [])])
  return createHash('sha256')
    .update([table, takeApart, recordForm, ...statements, ...upcasters].join('\0'))
    .digest('hex')
}

/** The hash by which a checkpoint identifies its event. */
export const leafOf = (text: string): string => leafHash(text).toString('hex')

const isThere = async (connection: DuckDBConnection): Promise<boolean> => {
  const found = await connection.runAndReadAll(
    `SELECT 1 FROM duckdb_tables() WHERE schema_name = 'ledger' AND table_name = 'checkpoint' AND NOT temporary`,
  )
  return found.currentRowCount > 0
}

/** Creates the tables of every projection, empty, in one transaction. */
const createTables = async (connection: DuckDBConnection, head: number): Promise<void> => {
  await connection.run(`BEGIN; ${table}; ${projections.map(({ init }) => init).join(';')}`)
  await connection.run('INSERT INTO ledger.checkpoint VALUES (0, NULL, $1, $2, $3)', [fingerprint(), BigInt(head), JSON.stringify(noRows)])
  await connection.run('COMMIT')
}

/** Reads the checkpoint. If there are no tables, creates them for a log with this head. */
export const readCheckpoint = async (connection: DuckDBConnection, head: number): Promise<Checkpoint> => {
  if (!(await isThere(connection))) await createTables(connection, head)
  const read = await connection.runAndReadAll('SELECT * FROM ledger.checkpoint')
  const { position, leaf, fingerprint: built, begun_at, counts } = read.getRowObjectsJson()[0] ?? {}
  return {
    position: Number(position),
    leaf: typeof leaf === 'string' ? leaf : null,
    begunAt: Number(begun_at),
    isCurrent: built === fingerprint(),
    // Tables of an older release have no counts; they are not continued.
    counts: JSON.parse(typeof counts === 'string' ? counts : '{}') as RowCounts,
  }
}

/** Moves the checkpoint, in the transaction that applied the events up to it and left these row counts. */
export const moveCheckpoint = async (
  connection: DuckDBConnection,
  { position, stored }: PreparedEvent,
  counts: RowCounts,
): Promise<void> => {
  const values = [BigInt(position), leafOf(stored), JSON.stringify(counts)]
  await connection.run('UPDATE ledger.checkpoint SET position = $1, leaf = $2, counts = $3', values)
}
