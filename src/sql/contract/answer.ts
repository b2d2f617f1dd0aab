import type { Json } from '../../../events/common.js'
import { shortDetail, shortened, type Problem } from '../../basics/errors.js'
import { exactJson } from '../../basics/exact-json.js'
import type { AsOf } from './as-of.js'
import type { RowFormat } from '../encode/chunks.js'

/**
 * The context that the client sends with each statement. The answer returns it, sometimes changed. The service keeps no context between
 * statements. With `as_of` the whole statement reads at that position or time.
 */
export type SqlContext = { db: string; show_secrets: false; as_of?: AsOf }

/**
 * The answer to a statement. `rows` are chunks of comma-joined JSON arrays, or lines of CSV, in order. The iteration throws a failure after
 * the first chunk. `positions` are the positions of the events that the statement recorded.
 */
export type SqlAnswer =
  | { type: 'ok'; affected_rows: number | null; context: SqlContext; positions: number[] }
  | { type: 'error'; error_code: 0; error_message: string; context: SqlContext; problem: Problem }
  | {
      type: 'table'
      columns: readonly Column[]
      rows: AsyncIterable<Buffer>
      format: RowFormat
      context: SqlContext
      positions: number[]
      /** Models score while the rows are read. If the reader leaves before the end, the scoring is not recorded. */
      scores?: true
      /** A statement was sent that may have changed something in a connected database. */
      changes?: true
      /** The Parquet file with the rows, if the request asked for it; `rows` describe it. */
      file?: string
      /** The data in the rows that may be erased later, if they are in a file. */
      erasable?: ErasableReads
    }

/** The data that a query reads and that may be erased later: contents of files, and whether it reads the log, knowledge bases or agents. */
export type ErasableReads = { contents: readonly string[]; records: boolean }

/** A column of an answer, and DuckDB's name for its type. */
export type Column = { name: string; type: string }

/** One chunk of rows that are already in memory. */
export async function* chunkOf(rows: readonly (readonly Json[])[]): AsyncGenerator<Buffer> {
  if (rows.length > 0) yield Buffer.from(rows.map((row) => JSON.stringify(row)).join(','))
}

/** The type that DuckDB would give a column of these values. */
const typeOf = (values: readonly Json[]): string => {
  const known = values.find((value) => value !== null)
  if (typeof known === 'boolean') return 'BOOLEAN'
  if (typeof known !== 'number') return 'VARCHAR'
  return values.every((value) => value === null || Number.isInteger(value)) ? 'BIGINT' : 'DOUBLE'
}

/** The answer of a statement whose rows are already in memory. */
export const tableOf = (
  names: readonly string[],
  rows: readonly (readonly Json[])[],
  context: SqlContext,
  positions: number[] = [],
): Extract<SqlAnswer, { type: 'table' }> => ({
  type: 'table',
  columns: names.map((name, i) => ({ name, type: typeOf(rows.map((row) => row[i] ?? null)) })),
  rows: chunkOf(rows),
  format: 'json',
  context,
  positions,
})

/** The rows of a chunk, which is JSON arrays separated by commas. No number loses a digit: one that would is a text. */
export const rowsIn = (chunk: Buffer): Json[][] => exactJson(`[${chunk.toString()}]`) as Json[][]

/** All rows of an answer that is known to be small. */
export const allRows = async (chunks: AsyncIterable<Buffer>): Promise<unknown[][]> => {
  const rows: unknown[][] = []
  for await (const chunk of chunks) for (const row of rowsIn(chunk)) rows.push(row)
  return rows
}

/**
 * Rows whose reader may leave before it has begun. Their source is notified of this, which a generator around it would not do. A query
 * without this notice would keep its place.
 */
export const rowsFrom = (next: () => Promise<IteratorResult<Buffer>>, source: AsyncIterator<Buffer>): AsyncIterableIterator<Buffer> => {
  const rows: AsyncIterableIterator<Buffer> = {
    next,
    return: async () => {
      await source.return?.()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => rows,
  }
  return rows
}

/** The same answer if it has a row, otherwise undefined. Its rows must be read or closed, like those of the first answer. */
export const unlessEmpty = async (answer: SqlAnswer): Promise<SqlAnswer | undefined> => {
  if (answer.type !== 'table') return answer
  const source = answer.rows[Symbol.asyncIterator]()
  const first = await source.next()
  if (first.done === true) return undefined
  let isFirst = true
  const next = async () => {
    if (!isFirst) return source.next()
    isFirst = false
    return first
  }
  return { ...answer, rows: rowsFrom(next, source) }
}

/** Ends an answer whose rows nobody reads any more. Otherwise its query would keep its place. */
export const leave = async ({ rows }: { rows: AsyncIterable<Buffer> }): Promise<void> => {
  await rows[Symbol.asyncIterator]().return?.()
}

/** Whether an answer has a row. Its other rows are not read. */
export const hasRows = async (answer: SqlAnswer): Promise<boolean> => {
  if (answer.type !== 'table') return true
  const rows = answer.rows[Symbol.asyncIterator]()
  const first = await rows.next()
  await rows.return?.()
  return first.done !== true
}

/** A problem as one text with its hint, because an error of SQL has no other field for the hint. */
export const errorMessage = ({ detail, extras: { hint } }: Problem): string =>
  hint === undefined || detail.includes(hint) ? shortDetail(detail) : shortened(`${shortDetail(detail)}\n${hint}`)
