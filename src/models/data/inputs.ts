import { wrong } from '../../basics/errors.js'
import { optionColumns } from './columns.js'
import type { Matrix, MatrixColumn } from './matrix.js'
import type { ColumnType } from './values.js'

/** A column that is not learned from, and why. */
export type Exclusion = { name: string; type: ColumnType; reason: string }

/** What a user decides of the columns to learn from; names as they are said. */
export type InputOptions = {
  include?: readonly string[] | undefined
  exclude?: readonly string[] | undefined
  /** Columns that tell which rows belong together: new rows will not be of the same groups. */
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

/** Why a column is not learned from; undefined when it is. @throws Problem when the options name what is not there, or twice */
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
 * The columns to learn from, and the others with the reason. Constants and near-unique text are left out, nothing else but
 * by the options: a column that looks too good may be the honest answer. Problems (`wrong_arguments`) say which option is wrong.
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

/** What an engine that looks at no column leaves out: all of them. */
export const noInputs = ({ columns }: Matrix, target: MatrixColumn): { inputs: MatrixColumn[]; excluded: Exclusion[] } => ({
  inputs: [],
  excluded: columns.flatMap((column) =>
    column === target ? [] : [{ name: column.name, type: column.type, reason: 'the engine looks at no column' }],
  ),
})
