import type { ClassLabel, TargetType } from './task.js'
import { cellOf, readCell, unusable, type ColumnType } from './values.js'

/** The expected value of a request, by column type. */
const expectations: Record<ColumnType, string> = {
  number: 'a number, or one as text such as "823.5"',
  integer: 'a number, or one as text such as "823"',
  boolean: 'true or false',
  text: 'a text',
  date: 'a date as text such as "2024-05-31"',
  timestamp: 'a time as text such as "2024-05-31T12:30:00Z"',
}

const fits = (type: ColumnType, value: unknown): boolean => {
  switch (type) {
    case 'number':
    case 'integer':
      return typeof value === 'number' || (typeof value === 'string' && readCell(type, value) !== undefined)
    case 'boolean':
      return typeof value === 'boolean'
    case 'text':
      return typeof value === 'string'
    case 'date':
    case 'timestamp':
      return typeof value === 'string' && readCell(type, value) !== undefined
    default:
      return type
  }
}

/**
 * Refuses a value in a request's row that does not fit its column. Numbers may be sent as text; nothing else is converted.
 *
 * @throws Problem that names the row, the column and what was expected
 * @example checkValue({ name: 'sqft', type: 'number' }, 'abc', 0) // Row 0, column "sqft": "abc" is not usable as number
 */
export const checkValue = ({ name, type }: { name: string; type: ColumnType }, value: unknown, rowIndex: number): void => {
  if (value === null || fits(type, value)) return
  throw unusable(cellOf(rowIndex, name), value, type, `Expected ${expectations[type]}, or null where it is not known.`)
}

/**
 * Reads a reported truth in the target's own type; numbers may be sent as text here as well.
 *
 * @throws Problem that names the place and what was expected
 * @example readTruth('integer', '2900', 'Outcome 0') // 2900
 */
export const readTruth = (type: TargetType, value: unknown, place: string): ClassLabel => {
  if (!fits(type, value)) throw unusable(place, value, type, `Expected ${expectations[type]}.`)
  if (type === 'text') return String(value)
  const number = readCell(type, value) ?? NaN
  return type === 'boolean' ? number === 1 : number
}
