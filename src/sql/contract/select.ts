import type { RowFormat } from '../encode/chunks.js'
import type { TablesStatus } from '../relations/projections.js'
import type { Wanted } from './wanted.js'

/**
 * One SELECT. `upTo` is the last log position it may see, `asOf` an earlier one (a position or a UTC time) for all of it;
 * names without a database are looked up in `db`.
 */
export type SelectRequest = {
  sql: string
  db: string
  defaultProject: string
  upTo: number
  asOf?: number | string
  params?: Record<string, unknown>
  /** The time it may take, where that is not `sqlTimeoutMs`. */
  timeoutMs?: number
  /** Who asks. */
  user?: string
  /** The part of `sql` that is the query, when it stands in another statement. */
  within?: { start: number; end: number }
  /** What is answered instead of its rows. */
  wanted?: Wanted
  /** How the rows are written: JSON unless said otherwise. */
  format?: RowFormat
  /** It is answered beside the tables, which cannot be read; this is how they stand. */
  aside?: TablesStatus
}

/** Rows that were given in WHERE and answered one by one: what was sent, and what came of it. */
export type Served = {
  model: string
  version: number
  rows: { input: Record<string, unknown>; output: { value: unknown; confidence: number | null; min: number | null; max: number | null } }[]
}

/** Which version of a model scored how many rows. */
export type Scored = { model: string; version: number; rows: number }

/**
 * Parts of an answer: first the columns, then rows chunk by chunk, last the counts. `rows` holds JSON arrays joined by commas, or lines of CSV, in UTF-8.
 * What models did is told with the columns when it is over by then, so that it can be recorded before a row is given.
 */
export type Frame =
  | { columns: { name: string; type: string }[]; served?: Served[]; scored?: Scored[] }
  | { rows: Buffer }
  | { end: { rows: number; scored: Scored[] } }
