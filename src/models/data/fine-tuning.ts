import { wrong } from '../../basics/errors.js'
import { columnNamed } from './columns.js'
import type { Matrix } from './matrix.js'
import type { ColumnDescriptor, ColumnType } from './values.js'

/** The base version of a fine-tuning, and the file of its kept matrix. */
export type Base = { version: number; matrixFile: string }

/** The training data of a fine-tuned version: the rows of its base version, and those of its own query. */
export type FineTuningRows = { base_version: number; rows_kept: number; rows_new: number }

const isWhole = (type: ColumnType) => type === 'number' || type === 'integer'

const typeOf = ({ name, type }: ColumnDescriptor, other: ColumnType): ColumnType => {
  if (type === other) return type
  if (isWhole(type) && isWhole(other)) return 'number'
  throw wrong(
    `Column "${name}" was ${type} when the model was trained; the new rows have it as ${other}`,
    `CAST it in the SELECT of FINETUNE.`,
  )
}

/**
 * The columns of the kept and the new rows together: those of the kept rows, in their order. The new rows need the same columns. Problems
 * (`wrong_arguments`) name the columns that differ.
 *
 * @example joinedColumns(matrix, [{ name: 'Size', type: 'integer' }], 2) // [{ name: 'size', type: 'number', index: 0 }]
 */
export const joinedColumns = (kept: Matrix, found: readonly (ColumnDescriptor & { index: number })[], version: number) => {
  const sources = kept.columns.map((column) => ({ column, source: columnNamed(found, column.name) }))
  const missing = sources.filter(({ source }) => !source).map(({ column }) => column.name)
  const added = found.filter(({ name }) => !columnNamed(kept.columns, name)).map(({ name }) => name)
  if (missing.length + added.length > 0) {
    const differences = [
      ...(missing.length > 0 ? [`${missing.join(', ')} missing`] : []),
      ...(added.length > 0 ? [`${added.join(', ')} too many`] : []),
    ]
    throw wrong(
      `The new rows have other columns than those that version ${version} was trained on: ${differences.join('; ')}`,
      `Select ${kept.columns.map(({ name }) => name).join(', ')}, or RETRAIN on a query of all rows.`,
    )
  }
  return sources.flatMap(({ column, source }) =>
    source ? [{ name: column.name, type: typeOf(column, source.type), index: source.index }] : [],
  )
}
