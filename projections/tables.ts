import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api'
import { projections } from './all.js'
import { OtherRowsError } from './problem.js'
import { tablesOf, type Projection } from './contract/projection.js'

/** A table of the ledger, and the column with the position of the event that a row comes from. */
export type LedgerTable = { name: string; place: 'position' | 'valid_from' }

/** A table that a statement writes. A projection adds rows of the batch to its own tables, and rows of earlier events to other tables. */
export type WrittenTable = { table: LedgerTable; sign: 1 | -1; isOwn: boolean }

/** One statement of a projection, and the table of the ledger that it writes to, if any. */
export type Step = { sql: string; writes?: WrittenTable }

const asTable = (name: string): LedgerTable => ({ name, place: name.endsWith('_history') ? 'valid_from' : 'position' })

/** Every table that projections keep. */
export const ledgerTables: readonly LedgerTable[] = projections.flatMap(tablesOf).map(asTable)

/** `INSERT INTO ledger.events SELECT …` → `['INSERT INTO', 'ledger.events']` */
const written = /^\s*(INSERT INTO|DELETE FROM) (ledger\.\w+)/

const stepOf = (projection: Projection, sql: string): Step => {
  const [, verb, name] = written.exec(sql) ?? []
  if (name === undefined) return { sql }
  return { sql, writes: { table: asTable(name), sign: verb === 'INSERT INTO' ? 1 : -1, isOwn: tablesOf(projection).includes(name) } }
}

const compiled = projections.map((projection) => ({
  canHandle: new Set<string>(projection.canHandle),
  steps: projection.evolve.map((sql) => stepOf(projection, sql)),
  begin: projection.begin && { type: projection.begin.type, steps: projection.begin.evolve.map((sql) => stepOf(projection, sql)) },
}))

/** The statements that bring the tables up to date after events of these types, in order. */
export const stepsFor = (types: ReadonlySet<string>): Step[] =>
  compiled.flatMap(({ canHandle, steps, begin }) => {
    const handled = [...types].filter((type) => canHandle.has(type))
    if (handled.length === 0) return []
    return begin && handled.every((type) => type === begin.type) ? begin.steps : steps
  })

/**
 * Whether events of these types may share a transaction: it must not insert into a table twice. See
 * docs/decisions/projections/one-insert.md.
 *
 * @example fitTogether(new Set(['PredictionsServed', 'DataErased'])) // false: both insert into ledger.predictions
 */
export const fitTogether = (types: ReadonlySet<string>): boolean => {
  const inserted = stepsFor(types).flatMap(({ writes }) => (writes?.sign === 1 ? [writes.table.name] : []))
  return new Set(inserted).size === inserted.length
}

/** The change of a table in a transaction. `ofBatch` is the number of rows that it added for its own events, if it added no other rows. */
export type Change = { table: LedgerTable; rows: number; ofBatch: number | undefined }

/** The number of rows of each table, by its name, after the transactions so far. */
export type RowCounts = Readonly<Record<string, number>>

/** The counts of empty tables. */
export const noRows: RowCounts = Object.fromEntries(ledgerTables.map(({ name }) => [name, 0]))

/** The counts after changes. */
export const countsAfter = (counts: RowCounts, changes: readonly Change[]): RowCounts => {
  const after = { ...counts }
  for (const { table, rows } of changes) after[table.name] = (after[table.name] ?? 0) + rows
  return after
}

const same = (table: string, expected: number, found: unknown): void => {
  if (expected !== Number(found)) throw new OtherRowsError(table, expected, Number(found))
}

/** Checks, in the way of every query, that the tables show the rows that were added to them. */
export class RowCheck {
  readonly #ofBatch = new Map<string, DuckDBPreparedStatement>()

  constructor(private readonly connection: DuckDBConnection) {}

  /** Checks the row counts of all tables, which reads no rows. @throws OtherRowsError */
  async all(counts: RowCounts): Promise<void> {
    const queries = ledgerTables.map(({ name }) => `SELECT '${name}', count(*) FROM ${name}`)
    const read = await this.connection.runAndReadAll(queries.join(' UNION ALL '))
    for (const [name, rows] of read.getRows()) same(String(name), counts[String(name)] ?? 0, rows)
  }

  /** Checks the rows that a committed transaction added for its events from `first` to `last`. @throws OtherRowsError */
  async added(changes: readonly Change[], first: number, last: number): Promise<void> {
    for (const { table, ofBatch } of changes) {
      if (ofBatch === undefined) continue
      const statement = await this.#statementOf(table)
      statement.bindBigInt(1, BigInt(first))
      statement.bindBigInt(2, BigInt(last))
      const read = await statement.runAndReadAll()
      same(table.name, ofBatch, read.getRows()[0]?.[0])
    }
  }

  close(): void {
    for (const statement of this.#ofBatch.values()) statement.destroySync()
  }

  /** Prepared, because it runs for each batch: planning it would take longer than running it. */
  async #statementOf({ name, place }: LedgerTable): Promise<DuckDBPreparedStatement> {
    const known = this.#ofBatch.get(name)
    if (known) return known
    const statement = await this.connection.prepare(`SELECT count(*) FROM ${name} WHERE ${place} BETWEEN $1 AND $2`)
    this.#ofBatch.set(name, statement)
    return statement
  }
}
