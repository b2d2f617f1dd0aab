import { Problem, wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { MatrixColumn } from './matrix.js'

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
export type AskedTask = 'regression' | 'classification'

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
export const defineTarget = (column: MatrixColumn, asked: AskedTask | undefined): Target => {
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
