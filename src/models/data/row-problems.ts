import { shown } from '../../basics/shown.js'
import { wrong, type Problem } from '../../basics/errors.js'
import { nearest } from '../../basics/nearest.js'
import type { ColumnType } from './values.js'

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
