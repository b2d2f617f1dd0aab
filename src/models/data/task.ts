import { wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { neededColumn } from './columns.js'
import { allRows } from './folds.js'
import { chooseInputs, noInputs, type Exclusion, type InputOptions } from './inputs.js'
import { selectRows, type Matrix, type MatrixColumn } from './matrix.js'
import { defineTarget, type AskedTask, type Target } from './target.js'
import { warningsOf, type Warning } from './warnings.js'

export type { Exclusion } from './inputs.js'
export type { ClassLabel, TargetType } from './target.js'

/** What to learn, from which rows and columns. */
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
