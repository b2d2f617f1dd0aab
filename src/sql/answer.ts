import type { Json } from '../../events/common.js'
import type { Problem } from '../errors.js'
import type { AsOf } from './as-of.js'

/**
 * What the client sends with each statement and gets back changed: nothing of it is kept here between statements. With `as_of`
 * all of it reads at that position or time.
 */
export type SqlContext = { db: string; show_secrets: false; as_of?: AsOf }

/**
 * The answer to a statement. `rows` are chunks of comma-joined JSON arrays, in order; a failure after the first chunk
 * throws out of the iteration. `positions` are the events that the statement recorded.
 */
export type SqlAnswer =
  | { type: 'ok'; affected_rows: number | null; context: SqlContext; positions: number[] }
  | { type: 'error'; error_code: 0; error_message: string; context: SqlContext; problem: Problem }
  | { type: 'table'; columns: string[]; rows: AsyncIterable<string>; context: SqlContext; positions: number[] }

/** One chunk for rows that are at hand. */
export async function* chunkOf(rows: readonly (readonly Json[])[]): AsyncGenerator<string> {
  if (rows.length > 0) yield rows.map((row) => JSON.stringify(row)).join(',')
}

async function* withFirst(first: string, rest: AsyncIterator<string>): AsyncGenerator<string> {
  try {
    yield first
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}

/** The same answer when it has a row, and else undefined. */
export const unlessEmpty = async (answer: SqlAnswer): Promise<SqlAnswer | undefined> => {
  if (answer.type !== 'table') return answer
  const rows = answer.rows[Symbol.asyncIterator]()
  const first = await rows.next()
  return first.done === true ? undefined : { ...answer, rows: withFirst(first.value, rows) }
}

/** A problem in one text, the hint with it: SQL's error has no other place. */
export const errorMessage = ({ detail, extras: { hint } }: Problem): string =>
  hint === undefined || detail.includes(hint) ? detail : `${detail}\n${hint}`
