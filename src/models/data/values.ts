import { wrong, type Problem } from '../../basics/errors.js'
import { nearest } from '../../basics/nearest.js'
import { shown } from '../../basics/shown.js'
import { dayMs, isoMilliseconds } from '../numerics/dates.js'

/** The engines' types of columns. */
export type ColumnType = 'number' | 'integer' | 'boolean' | 'text' | 'date' | 'timestamp'
export type ColumnDescriptor = { name: string; type: ColumnType }

const reductions: readonly [RegExp, ColumnType][] = [
  [/^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER)$/, 'integer'],
  [/^(FLOAT|DOUBLE|DECIMAL(\(.*\))?)$/, 'number'],
  [/^BOOLEAN$/, 'boolean'],
  [/^(VARCHAR|UUID|ENUM(\(.*\))?)$/s, 'text'],
  [/^DATE$/, 'date'],
  [/^TIMESTAMP(_S|_MS|_NS| WITH TIME ZONE)?$/, 'timestamp'],
]

/**
 * The engines' type for a DuckDB type name; `undefined` for types that cannot be learned from (lists, blobs, intervals …).
 *
 * @example columnTypeOf('DECIMAL(18,2)') // 'number'
 */
export const columnTypeOf = (duckdbType: string): ColumnType | undefined =>
  reductions.find(([pattern]) => pattern.test(duckdbType.toUpperCase()))?.[1]

const numeric = /^[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?$/

// Adding 0 turns -0 into 0 everywhere here: equal values must have equal bytes.

const readNumber = (value: unknown): number | undefined => {
  if (typeof value === 'number') return value + 0
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'string' || !numeric.test(value.trim())) return undefined
  const parsed = Number(value)
  return Number.isFinite(parsed) ? parsed + 0 : undefined
}

const booleans = new Map<unknown, number>([
  [true, 1],
  [1, 1],
  [1n, 1],
  ['true', 1],
  ['1', 1],
  [false, 0],
  [0, 0],
  [0n, 0],
  ['false', 0],
  ['0', 0],
])

const readBoolean = (value: unknown): number | undefined => booleans.get(typeof value === 'string' ? value.trim().toLowerCase() : value)

const readTimestamp = (value: unknown): number | undefined => {
  if (typeof value === 'string') return isoMilliseconds(value)
  if (value instanceof Date) return value.getTime() + 0
  return typeof value === 'number' || typeof value === 'bigint' ? readNumber(value) : undefined
}

const readDate = (value: unknown): number | undefined => {
  if (typeof value === 'number' || typeof value === 'bigint') return Math.floor(Number(value)) + 0
  const milliseconds = readTimestamp(value)
  return milliseconds === undefined ? undefined : Math.floor(milliseconds / dayMs)
}

/**
 * Reads one plain value (JSON, a DuckDB vector's item, a Date) as the number its column holds: numbers as they are, booleans as 0 and 1,
 * dates as days and timestamps as milliseconds since 1970. Missing values (null, undefined, NaN, ±Infinity) are NaN; `undefined` means that
 * the value does not fit the type. All values reach an engine through this function, so a row over REST and the same row in SQL give the
 * same bits.
 *
 * @example readCell('number', '823') // 823
 */
export const readCell = (type: Exclude<ColumnType, 'text'>, value: unknown): number | undefined => {
  if (value === null || value === undefined || (typeof value === 'number' && !Number.isFinite(value))) return NaN
  switch (type) {
    case 'number':
    case 'integer':
      return readNumber(value)
    case 'boolean':
      return readBoolean(value)
    case 'date':
      return readDate(value)
    case 'timestamp':
      return readTimestamp(value)
    default:
      return unknownType(type)
  }
}

const unknownType = (type: never): never => {
  throw new Error(`unknown column type ${String(type)}`)
}

/** Reads one plain value of a text column; `null` is missing, `undefined` does not fit. Numbers and booleans become text. */
export const readText = (value: unknown): string | null | undefined => {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return null
  return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint' ? String(value) : undefined
}

/** The place of a value, as refusals name it. */
export const cellOf = (row: number, column: string): string => `Row ${row}, column "${column}"`

/** The refusal of a value that does not fit its column. */
export const unusable = (place: string, value: unknown, type: ColumnType, hint?: string): Problem =>
  wrong(`${place}: ${shown(value)} is not usable as ${type}`, hint)

/** The refusal of a column that the model does not have; `known` are its columns. */
export const unknownColumn = (row: number, sent: string, known: readonly string[]): Problem =>
  wrong(
    `Row ${row}: the model has no column "${sent}"`,
    `Did you mean "${nearest(sent, known)}"? It has ${known.map((name) => `"${name}"`).join(', ')}`,
  )

/** The refusal of a row that names a column twice. */
export const sentTwice = (row: number, column: string): Problem =>
  wrong(`Row ${row}: the column "${column}" is there twice, names are compared without case`)
