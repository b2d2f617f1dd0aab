import { wrong } from '../../basics/errors.js'
import { optionColumns } from './columns.js'
import type { Matrix, MatrixColumn } from './matrix.js'
import type { ColumnType } from './values.js'

/** A column that is not used for learning, and why. */
export type Exclusion = { name: string; type: ColumnType; reason: string }

/** The user's choice of columns to learn from; names are as written. */
export type InputOptions = {
  include?: readonly string[] | undefined
  exclude?: readonly string[] | undefined
  /** Columns that define the groups of rows: new rows will belong to other groups. */
  group_by?: readonly string[] | undefined
}

const uniqueTextShare = 0.9

const unfit = (column: MatrixColumn): string | undefined => {
  const values = column.type === 'text' ? column.codes : column.numbers
  const first = values[0]!
  if (values.every((value: number) => Object.is(value, first))) return 'constant'
  if (column.type !== 'text') return undefined
  const present = column.codes.filter((code) => code >= 0)
  return new Set(present).size > uniqueTextShare * present.length ? 'nearly every text is different' : undefined
}

/** Why a column is not used for learning; undefined when it is. @throws Problem when the options name an unknown column, or one twice */
const reasonsOf = (columns: readonly MatrixColumn[], target: MatrixColumn, { include, exclude = [], group_by = [] }: InputOptions) => {
  const named = (option: string, names: readonly string[]) => new Set<MatrixColumn>(optionColumns(option, names, columns, target))
  const [included, excluded, grouping] = [include && named('include', include), named('exclude', exclude), named('group_by', group_by)]
  const both = [...excluded].find((column) => included?.has(column))
  if (both) throw wrong(`"${both.name}" stands in include and in exclude`)
  return (column: MatrixColumn): string | undefined => {
    if (excluded.has(column)) return 'the statement excludes it'
    if (included && !included.has(column)) return 'the statement does not include it'
    if (grouping.has(column) && !included) return 'it tells the groups that the folds keep together'
    return unfit(column)
  }
}

/**
 * The columns to learn from, and the others with the reason. Only constants and near-unique text are left out, unless the options say more:
 * a column that looks too good may be legitimate. Problems (`wrong_arguments`) say which option is wrong.
 *
 * @example chooseInputs(matrix, target, { exclude: ['id'] }).excluded // [{ name: 'id', type: 'integer', reason: … }]
 */
export const chooseInputs = (
  { columns }: Matrix,
  target: MatrixColumn,
  options: InputOptions,
): { inputs: MatrixColumn[]; excluded: Exclusion[] } => {
  const reasonOf = reasonsOf(columns, target, options)
  const excluded: Exclusion[] = []
  const inputs = columns.filter((column) => {
    if (column === target) return false
    const reason = reasonOf(column)
    if (reason !== undefined) excluded.push({ name: column.name, type: column.type, reason })
    return reason === undefined
  })
  return { inputs, excluded }
}

/** For an engine that uses no inputs: leaves out all columns. */
export const noInputs = ({ columns }: Matrix, target: MatrixColumn): { inputs: MatrixColumn[]; excluded: Exclusion[] } => ({
  inputs: [],
  excluded: columns.flatMap((column) =>
    column === target ? [] : [{ name: column.name, type: column.type, reason: 'the engine looks at no column' }],
  ),
})
