import { Problem, wrong } from '../errors.js'
import { limits } from '../limits.js'
import { allRows } from './folds.js'
import { selectRows, type Matrix, type MatrixColumn } from './matrix.js'
import { warningsOf, type Warning } from './warnings.js'
import type { ColumnDescriptor, ColumnType } from './values.js'

export type ClassLabel = string | number | boolean
export type TargetType = 'number' | 'integer' | 'boolean' | 'text'
export type Exclusion = { name: string; type: ColumnType; reason: string }

/** What is to be learned, from which rows and columns. */
export type Task = {
  kind: 'regression' | 'binary' | 'multiclass'
  target: { name: string; type: TargetType }
  /** The labels in the order of their class indexes; empty for regression. */
  classes: readonly ClassLabel[]
  /** One a row: the value, or the index of the class. */
  labels: Float64Array
  /** The rows whose target is known, all columns. */
  matrix: Matrix
  inputs: readonly MatrixColumn[]
  excluded: readonly Exclusion[]
  warnings: readonly Warning[]
}

const fewestRows = 10
const classesOfIntegers = 10
const uniqueTextShare = 0.9
/** Trees hold their values in single precision, and losses are sums of squares: far beyond this neither stays finite. */
const largestNumber = 1e30

const quoted = (columns: readonly ColumnDescriptor[]) => columns.map(({ name }) => `"${name}"`).join(', ')

/** Names are compared as they are written, then without case, as DuckDB does. */
const findTarget = (matrix: Matrix, name: string): MatrixColumn => {
  const folded = matrix.columns.filter((column) => column.name.toLowerCase() === name.toLowerCase())
  const found = matrix.columns.find((column) => column.name === name) ?? folded[0]
  if (found) return found
  throw wrong(`The training data has no column "${name}" to predict; its columns are ${quoted(matrix.columns)}`)
}

const known = (column: MatrixColumn, row: number): boolean =>
  column.type === 'text' ? column.codes[row]! >= 0 : !Number.isNaN(column.numbers[row])

const rowsWith = (column: MatrixColumn, rows: number): Int32Array => allRows(rows).filter((row) => known(column, row))

type Target = Pick<Task, 'kind' | 'target' | 'classes' | 'labels'>

const classification = (target: Task['target'], classes: readonly ClassLabel[], labels: Float64Array): Target => {
  if (classes.length < 2)
    throw wrong(`"${target.name}" is always ${JSON.stringify(classes[0])} in the training data: there is nothing to predict`)
  if (classes.length > limits.trainingMaxClasses)
    throw new Problem(
      'query_limit',
      'Too many classes',
      `"${target.name}" has ${classes.length} different values, at most ${limits.trainingMaxClasses} can be predicted`,
    )
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

const regression = (target: Task['target'], labels: Float64Array): Target => {
  const beyond = labels.find((label) => Math.abs(label) > largestNumber)
  if (beyond !== undefined)
    throw wrong(
      `"${target.name}" has the value ${beyond}; numbers up to ${largestNumber} can be predicted`,
      'Divide it, or predict its logarithm',
    )
  return { kind: 'regression', target, classes: [], labels }
}

const numberTarget = ({ name, numbers }: { name: string; numbers: Float64Array }, type: 'number' | 'integer' | 'boolean'): Target => {
  const distinct = new Set<number>()
  for (const value of numbers) if (distinct.size <= classesOfIntegers) distinct.add(value)
  const values = [...distinct].sort((one, other) => one - other)
  const few = values.length <= classesOfIntegers && values.every(Number.isInteger)
  if (!few && values.length > 1) return regression({ name, type }, numbers)
  const classes = type === 'boolean' ? values.map((value) => value === 1) : values
  return classification(
    { name, type },
    classes,
    numbers.map((value) => values.indexOf(value)),
  )
}

const defineTarget = (column: MatrixColumn): Target => {
  switch (column.type) {
    case 'text':
      return textTarget(column)
    case 'number':
    case 'integer':
    case 'boolean':
      return numberTarget(column, column.type)
    case 'date':
    case 'timestamp':
      throw wrong(`"${column.name}" is a ${column.type}; this engine predicts numbers and classes`, 'Predict a number derived from it')
    default:
      return column
  }
}

const exclusionOf = (column: MatrixColumn): string | undefined => {
  const values = column.type === 'text' ? column.codes : column.numbers
  const first = values[0]!
  if (values.every((value: number) => Object.is(value, first))) return 'constant'
  if (column.type !== 'text') return undefined
  const present = column.codes.filter((code) => code >= 0)
  return new Set(present).size > uniqueTextShare * present.length ? 'nearly every text is different' : undefined
}

/** What a user decides of what is to be learned. */
export type TaskOptions = {
  /** Whether the target is all that is learned from. */
  withoutInputs?: boolean
}

/** Why a column is no input; undefined when it is one. */
type Excluding = (column: MatrixColumn) => string | undefined

const excludingOf = ({ withoutInputs = false }: TaskOptions): Excluding => {
  if (withoutInputs) return () => 'the engine looks at no column'
  return exclusionOf
}

/**
 * Says what is to be learned: text and booleans are classes, so are whole numbers with at most 10 different values, any
 * other number is a regression. Leaves out constants and near-unique text, nothing else: a column that looks too good is
 * only warned about, since it may be the honest answer. Problems (`wrong_arguments`): no such target, fewer than 10 rows
 * with a known target, one class, numbers beyond 1e30, no usable input.
 *
 * @example defineTask(matrix, 'rental_price').kind // 'regression'
 */
export const defineTask = (matrix: Matrix, targetName: string, options: TaskOptions = {}): Task => {
  const whole = findTarget(matrix, targetName)
  const rows = rowsWith(whole, matrix.rows)
  if (rows.length < fewestRows)
    throw wrong(`Only ${rows.length} rows have a value of "${whole.name}", at least ${fewestRows} are needed to train`)
  const usable = rows.length === matrix.rows ? matrix : selectRows(matrix, rows)
  const column = findTarget(usable, whole.name)
  const target = defineTarget(column)
  const others = usable.columns.filter((other) => other !== column)
  const excluded: Exclusion[] = []
  const excluding = excludingOf(options)
  const inputs = others.filter((other) => {
    const reason = excluding(other)
    if (reason !== undefined) excluded.push({ name: other.name, type: other.type, reason })
    return reason === undefined
  })
  if (inputs.length === 0 && !options.withoutInputs) throw wrong(`Nothing to predict "${column.name}" from: ${describe(excluded)}`)
  const warnings = warningsOf({ ...target, inputs, matrix: usable }, matrix.rows - rows.length)
  return { ...target, matrix: usable, inputs, excluded, warnings }
}

const describe = (excluded: readonly Exclusion[]): string =>
  excluded.length === 0 ? 'the query has no other column' : excluded.map(({ name, reason }) => `"${name}" (${reason})`).join(', ')
