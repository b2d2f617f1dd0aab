import { wrong, Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { neededColumn, optionColumns } from './columns.js'
import { allRows } from './folds.js'
import { selectRows, type Matrix, type MatrixColumn } from './matrix.js'
import { warningsOf, type Warning } from './warnings.js'
import type { ColumnType } from './values.js'

export type ClassLabel = string | number | boolean
export type TargetType = 'number' | 'integer' | 'boolean' | 'text'

/** The target to learn. */
export type Target = {
  kind: 'regression' | 'binary' | 'multiclass'
  target: { name: string; type: TargetType }
  /** The labels in the order of their class indexes; empty for regression. */
  classes: readonly ClassLabel[]
  /** One per row: the value, or the index of the class. */
  labels: Float64Array
}

/** Refuses whole numbers that a double rounds, where different values must stay different. */
export const refuseRounded = ({ name, numbers }: { name: string; numbers: Float64Array }, hint: string): void => {
  if (numbers.some((value) => Math.abs(value) > Number.MAX_SAFE_INTEGER))
    throw wrong(`"${name}" has whole numbers beyond ${Number.MAX_SAFE_INTEGER}, which would be rounded and mixed up`, hint)
}

/** The user's choice of the task, instead of the task that the column's type and values suggest. */
type AskedTask = 'regression' | 'classification'

const classesOfIntegers = 10
/** Trees store values in single precision, and losses are sums of squares. Both overflow not far beyond this value. */
export const largestNumber = 1e30

/** Refuses classes with long texts: events, answers and explanations have the texts of all classes, several times. @throws Problem */
export const refuseLongClasses = (name: string, classes: readonly ClassLabel[]): void => {
  const bytes = classes.reduce<number>((sum, label) => sum + Buffer.byteLength(String(label)), 0)
  if (bytes <= limits.trainingMaxClassBytes) return
  throw new Problem(
    'query_limit',
    'Classes too long',
    `The ${classes.length} different values of "${name}" have ${bytes} bytes together, at most ${limits.trainingMaxClassBytes} can be predicted`,
    { hint: 'Predict a short name or number of each class, and join the texts to the answers.' },
  )
}

const classification = (target: Target['target'], classes: readonly ClassLabel[], labels: Float64Array): Target => {
  if (classes.length < 2)
    throw wrong(`"${target.name}" is always ${JSON.stringify(classes[0])} in the training data: there is nothing to predict`)
  if (classes.length > limits.trainingMaxClasses)
    throw new Problem(
      'query_limit',
      'Too many classes',
      `"${target.name}" has ${classes.length} different values, at most ${limits.trainingMaxClasses} can be predicted`,
    )
  refuseLongClasses(target.name, classes)
  return { kind: classes.length === 2 ? 'binary' : 'multiclass', target, classes, labels }
}

const textTarget = (column: Extract<MatrixColumn, { type: 'text' }>): Target => {
  const present = [...new Set(column.codes)].sort((one, other) => one - other)
  const classOf = new Map(present.map((code, index) => [code, index]))
  const labels = Float64Array.from(column.codes, (code) => classOf.get(code) ?? NaN)
  return classification(
    { name: column.name, type: 'text' },
    present.map((code) => column.dictionary[code]!),
    labels,
  )
}

const regression = (target: Target['target'], labels: Float64Array): Target => {
  const beyond = labels.find((label) => Math.abs(label) > largestNumber)
  if (beyond !== undefined)
    throw wrong(
      `"${target.name}" has the value ${beyond}; numbers up to ${largestNumber} can be predicted`,
      'Divide it, or predict its logarithm',
    )
  return { kind: 'regression', target, classes: [], labels }
}

/** Whole numbers with few distinct values are classes, unless the user asks otherwise; so is a constant number. */
const areClasses = (values: readonly number[], asked: AskedTask | undefined): boolean => {
  if (values.length < 2 || asked === 'classification') return true
  return asked === undefined && values.length <= classesOfIntegers && values.every(Number.isInteger)
}

const numberTarget = (
  { name, numbers }: { name: string; numbers: Float64Array },
  type: 'number' | 'integer' | 'boolean',
  asked: AskedTask | undefined,
): Target => {
  const most = asked === 'classification' ? Infinity : classesOfIntegers
  const distinct = new Set<number>()
  for (const value of numbers) if (distinct.size <= most) distinct.add(value)
  const values = [...distinct].sort((one, other) => one - other)
  if (!areClasses(values, asked)) return regression({ name, type }, numbers)
  refuseRounded({ name, numbers }, "CAST it to VARCHAR if these are classes, or set task = 'regression'.")
  const classOf = new Map(values.map((value, index) => [value, index]))
  const classes = type === 'boolean' ? values.map((value) => value === 1) : values
  return classification(
    { name, type },
    classes,
    numbers.map((value) => classOf.get(value) ?? NaN),
  )
}

const noNumber = ({ name, type }: MatrixColumn): Problem =>
  wrong(`"${name}" is ${type}, and a regression predicts numbers`, 'Leave task out, or CAST the column to a number.')

/**
 * Derives the target from a column without missing values: text and booleans are classes, and so are whole numbers with at most 10 distinct
 * values; other numbers are a regression; `asked` overrides this. Problems (`wrong_arguments`): dates, one value, numbers beyond 1e30, a
 * regression of values that are not numbers.
 *
 * @example defineTarget(column, undefined).kind // 'regression'
 */
const defineTarget = (column: MatrixColumn, asked: AskedTask | undefined): Target => {
  if (asked === 'regression' && (column.type === 'text' || column.type === 'boolean')) throw noNumber(column)
  switch (column.type) {
    case 'text':
      return textTarget(column)
    case 'number':
    case 'integer':
    case 'boolean':
      return numberTarget(column, column.type, asked)
    case 'date':
    case 'timestamp':
      throw wrong(`"${column.name}" is a ${column.type}; this engine predicts numbers and classes`, 'Predict a number derived from it')
    default:
      return column
  }
}

/** A column that is not used for learning, and why. */
export type Exclusion = { name: string; type: ColumnType; reason: string }

/** The user's choice of columns to learn from; names are as written. */
export type InputOptions = {
  include?: readonly string[] | undefined
  exclude?: readonly string[] | undefined
  /** Columns that define the groups of rows. New rows will belong to other groups. */
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

/** Why a column is not used for learning; undefined if it is used. @throws Problem when the options name an unknown column, or one twice */
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
const chooseInputs = (
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

/** All columns as excluded ones, for an engine that uses no inputs. */
const noInputs = ({ columns }: Matrix, target: MatrixColumn): { inputs: MatrixColumn[]; excluded: Exclusion[] } => ({
  inputs: [],
  excluded: columns.flatMap((column) =>
    column === target ? [] : [{ name: column.name, type: column.type, reason: 'the engine looks at no column' }],
  ),
})

/** The task of a training: the target, and the rows and columns to learn from. */
export type Task = Target & {
  /** The rows whose target is known, all columns. */
  matrix: Matrix
  inputs: readonly MatrixColumn[]
  excluded: readonly Exclusion[]
  warnings: readonly Warning[]
}

/** The user's options for the task. */
export type TaskOptions = InputOptions & {
  task?: AskedTask | undefined
  /** The most rows to learn from. */
  max_rows?: number | undefined
  /** Whether the engine uses no inputs. */
  withoutInputs?: boolean
}

const known = (column: MatrixColumn, row: number): boolean =>
  column.type === 'text' ? column.codes[row]! >= 0 : !Number.isNaN(column.numbers[row])

/** The rows to learn from: those with a known target, limited to the first `most` of the shuffled matrix. */
const takingPart = (target: MatrixColumn, rows: number, most = Infinity): { rows: Int32Array; known: number } => {
  const all = allRows(rows).filter((row) => known(target, row))
  if (all.length < limits.trainingMinRows)
    throw wrong(`Only ${all.length} rows have a value of "${target.name}", at least ${limits.trainingMinRows} are needed to train`)
  return { rows: all.length > most ? all.subarray(0, most) : all, known: all.length }
}

const fewer = (rows: number, known: number): Warning[] =>
  rows === known ? [] : [{ kind: 'sampled', detail: `${rows} of ${known} rows took part, drawn by the seed: max_rows` }]

/**
 * Defines the task from the target's column and the options (see `defineTarget` and `chooseInputs`). Problems (`wrong_arguments`): an
 * unknown target, fewer than 10 rows with a known target, one class, numbers beyond 1e30, no usable input, an option that does not fit the
 * columns.
 *
 * @example defineTask(matrix, 'rental_price').kind // 'regression'
 */
export const defineTask = (matrix: Matrix, targetName: string, options: TaskOptions = {}): Task => {
  const whole = neededColumn(matrix.columns, targetName, 'to predict')
  const taking = takingPart(whole, matrix.rows, options.max_rows)
  const usable = taking.rows.length === matrix.rows ? matrix : selectRows(matrix, taking.rows)
  const column = neededColumn(usable.columns, whole.name, 'to predict')
  const target = defineTarget(column, options.task)
  const { inputs, excluded } = options.withoutInputs ? noInputs(usable, column) : chooseInputs(usable, column, options)
  if (inputs.length === 0 && !options.withoutInputs) throw wrong(`Nothing to predict "${column.name}" from: ${describe(excluded)}`)
  const warnings = [
    ...warningsOf({ ...target, inputs, matrix: usable }, matrix.rows - taking.known),
    ...fewer(taking.rows.length, taking.known),
  ]
  return { ...target, matrix: usable, inputs, excluded, warnings }
}

const describe = (excluded: readonly Exclusion[]): string =>
  excluded.length === 0 ? 'the query has no other column' : excluded.map(({ name, reason }) => `"${name}" (${reason})`).join(', ')
