import { Problem } from '../../basics/errors.js'
import type { AnswerColumn, ColumnType, NumberTexts } from '../contract/types.js'
import { ValueError } from './value-error.js'
import type { Vector } from './vector.js'

/** How to read the values of a column. The driver gives a text or bytes for each. */
export type ColumnReading<V> = { type: ColumnType; numbers?: NumberTexts; put: (vector: Vector, row: number, value: V) => void }

/** The column that a reading gives. */
export const columnOf = (name: string, { type, numbers }: Pick<AnswerColumn, 'type' | 'numbers'>): AnswerColumn => ({
  name,
  type,
  ...(numbers && { numbers }),
})

/** A reading that depends on the values, for example of numbers without a declared scale. The first rows decide it. */
export type UnsettledReading<V> = { settle: (values: readonly (V | null)[]) => ColumnReading<V> }

/** Rows of an answer that arrived together. `put` writes some of them into the vectors, one for each column. */
export type Rows = { count: number; bytes: number; put: (vectors: readonly Vector[], from: number, to: number) => void }

const misfit = (column: string, type: ColumnType, { message, hint }: ValueError): Problem =>
  new Problem('query_failed', 'A value cannot be read', `In the column "${column}" ${message}`, { hint, column_type: type.type })

/**
 * Reads values of a column.
 *
 * @example readColumn('price', type, () => put(vector, 0, '12.50'))
 * @throws Problem query_failed that names the column, for a value that does not fit its type
 */
export const readColumn = <T>(column: string, type: ColumnType, read: () => T): T => {
  try {
    return read()
  } catch (error) {
    if (error instanceof ValueError) throw misfit(column, type, error)
    throw error
  }
}

/** The vector of a column. @throws TypeError when there is none */
export const vectorOf = (vectors: readonly Vector[], index: number): Vector => {
  const vector = vectors[index]
  if (!vector) throw new TypeError('an answer has a vector for each column')
  return vector
}

/**
 * The readings of all columns; the first rows decide the open ones.
 *
 * @example settle([{ settle: (texts) => … }], ['price'], [['1.5'], [null]])
 * @throws Problem query_failed that names the column
 */
export const settle = <V>(
  readings: readonly (ColumnReading<V> | UnsettledReading<V>)[],
  names: readonly string[],
  rows: readonly (readonly (V | null)[])[],
): ColumnReading<V>[] =>
  readings.map((reading, index) => {
    if (!('settle' in reading)) return reading
    const values = rows.map((row) => row[index] ?? null)
    return readColumn(names[index] ?? '', { type: 'VARCHAR' }, () => reading.settle(values))
  })

const putColumn = <V>(
  rows: readonly (readonly (V | null)[])[],
  index: number,
  { put }: ColumnReading<V>,
  vector: Vector,
  from: number,
  to: number,
): void => {
  for (let row = from; row < to; row++) {
    const value = rows[row]?.[index] ?? null
    if (value === null) vector.setNull(row - from)
    else put(vector, row - from, value)
  }
}

/** Rows of values, written into vectors column by column. Writing throws a Problem that names the column of a wrong value. */
export const rowsOf = <V>(
  rows: readonly (readonly (V | null)[])[],
  readings: readonly ColumnReading<V>[],
  names: readonly string[],
  bytes: number,
): Rows => ({
  count: rows.length,
  bytes,
  put: (vectors, from, to) =>
    readings.forEach((reading, index) => {
      const vector = vectorOf(vectors, index)
      readColumn(names[index] ?? '', reading.type, () => putColumn(rows, index, reading, vector, from, to))
    }),
})
