import { projections } from './all.js'
import { tablesOf, type Projection } from './projection.js'

/** A table of the ledger, and the column that says which event a row follows from. */
export type LedgerTable = { name: string; place: 'position' | 'valid_from' }

/** A table that a statement writes to. A projection adds rows of the batch to its own tables, and of earlier events to others. */
export type Written = { table: LedgerTable; sign: 1 | -1; isOwn: boolean }

/** One statement of a projection, and the table of the ledger that it writes to, if any. */
export type Step = { sql: string; writes?: Written }

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
}))

/** The statements that bring the tables up to date after events of these types, in order. */
export const stepsFor = (types: ReadonlySet<string>): Step[] =>
  compiled.flatMap(({ canHandle, steps }) => ([...types].some((type) => canHandle.has(type)) ? steps : []))

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
