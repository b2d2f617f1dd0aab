import { wrong } from '../../basics/errors.js'
import { columnNamed, optionColumns } from './columns.js'
import { dayMs } from '../numerics/dates.js'
import { allRows, unpredicted, type Folds } from './folds.js'
import type { Matrix, MatrixColumn, NumberColumn } from './matrix.js'
import { Random, shuffle } from '../numerics/random.js'
import type { Task } from './task.js'

/** The user's choice of how rows are split into folds: by whole groups or by time, not both. */
export type SplitOptions = { group_by?: readonly string[] | undefined; time_column?: string | undefined }

/** A range of rows by time, with the fold that predicts it, or `unpredicted`. */
type TimeBlock = { fold: number; from: string | number | null; to: string | number | null; rows: number }

/** How the rows were split. Times are ISO 8601, or the numbers of a numeric column. */
export type SplitReport =
  | { by: 'chance' }
  | { by: 'group_by'; columns: readonly string[]; groups: number }
  | { by: 'time_column'; column: string; blocks: readonly TimeBlock[] }

/** Splits the rows of a task into folds, and reports how. */
export type FoldSplitter = { split: (task: Task, folds: number) => Folds; report: (task: Task, folds: Folds) => SplitReport }

const valuesOf = (column: MatrixColumn): ArrayLike<number> => (column.type === 'text' ? column.codes : column.numbers)

/** The number of each row's group; rows without a value are a group of their own. */
const groupsOf = (columns: readonly MatrixColumn[], rows: number): { of: Int32Array; count: number } => {
  const values = columns.map(valuesOf)
  const numbers = new Map<string, number>()
  const of = Int32Array.from({ length: rows }, (_, row) => {
    const key = values.map((each) => each[row]!).join('\n')
    const number = numbers.get(key) ?? numbers.size
    numbers.set(key, number)
    return number
  })
  return { of, count: numbers.size }
}

const columnsIn = ({ columns }: Matrix, names: readonly string[]): MatrixColumn[] =>
  names.flatMap((name) => columnNamed(columns, name) ?? [])

/**
 * Splits the rows into folds by the seed. With classes, each class is dealt out in turn, so that every fold has its share of every class;
 * each class continues at the fold where the last one ended, which keeps the folds equally large.
 */
export const splitFolds = (labels: Float64Array, classes: number, count: number, random: Random): Folds => {
  const order = Int32Array.from({ length: labels.length }, (_, row) => row)
  shuffle(order, random)
  if (classes > 0) order.sort((one, other) => labels[one]! - labels[other]!)
  const of = new Int8Array(labels.length)
  order.forEach((row, place) => (of[row] = place % count))
  return { count, of }
}

/** By whole groups: the largest first, each to the fold with the fewest rows; ties between equally large groups are broken at random. */
const byGroups = (names: readonly string[], seed: number): FoldSplitter => ({
  split({ matrix, target }, most) {
    const { of: groups, count } = groupsOf(optionColumns('group_by', names, matrix.columns, target), matrix.rows)
    if (count < 2)
      throw wrong(`group_by has one group, and folds need at least 2`, 'Name columns of several values, or leave group_by out.')
    const folds = Math.min(most, count)
    const sizes = new Int32Array(count)
    for (const group of groups) sizes[group] = sizes[group]! + 1
    const order = allRows(count)
    shuffle(order, new Random(seed, 1))
    order.sort((one, other) => sizes[other]! - sizes[one]!)
    const filled = new Int32Array(folds)
    const foldOf = new Int8Array(count)
    for (const group of order) {
      const fold = filled.indexOf(Math.min(...filled))
      foldOf[group] = fold
      filled[fold] = filled[fold]! + sizes[group]!
    }
    return { count: folds, of: Int8Array.from(groups, (group) => foldOf[group]!) }
  },
  report({ matrix }) {
    const columns = columnsIn(matrix, names)
    return { by: 'group_by', columns: columns.map(({ name }) => name), groups: groupsOf(columns, matrix.rows).count }
  },
})

const timesIn = ({ matrix, target }: Task, name: string): NumberColumn => {
  const [column] = optionColumns('time_column', [name], matrix.columns, target)
  if (column && column.type !== 'text' && column.type !== 'boolean') return column
  throw wrong(
    `time_column names "${name}", which is ${column?.type ?? 'not there'}`,
    'It takes a date, a timestamp or a number; CAST it in the SELECT.',
  )
}

/** A time as the report shows it; null if missing. */
const moment = ({ type }: NumberColumn, value: number): string | number | null => {
  if (Number.isNaN(value)) return null
  if (type === 'timestamp') return new Date(value).toISOString()
  return type === 'date' ? new Date(value * dayMs).toISOString().slice(0, 10) : value
}

/** Rows in the order of time; those without a time come first, as if they were the oldest. */
const inOrder = ({ numbers }: NumberColumn): Int32Array => {
  const times = numbers.map((value) => (Number.isNaN(value) ? -Infinity : value))
  return allRows(times.length).sort((one, other) => (times[one]! < times[other]! ? -1 : times[one]! > times[other]! ? 1 : one - other))
}

/** The positions in an order at which another time begins. */
const beginnings = ({ numbers }: NumberColumn, order: Int32Array): number[] =>
  Array.from(order.keys()).filter((place) => place > 0 && !Object.is(numbers[order[place - 1]!], numbers[order[place]!]))

/**
 * Rolling origin: the older half of the rows is only learned from. The newer half is cut into blocks, and each block is predicted from all
 * rows before it. The blocks are equally large, except that rows of the same time stay together.
 */
const byTime = (name: string): FoldSplitter => ({
  split(task, folds) {
    const column = timesIn(task, name)
    const order = inOrder(column)
    const begins = beginnings(column, order)
    const half = order.length / 2
    const newer = begins.reduce((one, other) => (Math.abs(other - half) < Math.abs(one - half) ? other : one), 0)
    if (newer === 0) throw wrong(`time_column "${column.name}" has one moment`, 'Leave time_column out.')
    const of = new Int8Array(order.length).fill(unpredicted)
    const mayBegin = new Set(begins)
    let [fold, begun] = [0, newer]
    for (let place = newer; place < order.length; place++) {
      if (fold < folds - 1 && mayBegin.has(place) && place - begun >= (order.length - begun) / (folds - fold)) {
        fold++
        begun = place
      }
      of[order[place]!] = fold
    }
    return { count: fold + 1, of, rolling: true }
  },
  report(task, folds) {
    const column = timesIn(task, name)
    const order = inOrder(column)
    const moments = (rows: readonly number[]) => {
      const at = (row = -1) => moment(column, column.numbers[row] ?? NaN)
      return { from: at(rows[0]), to: at(rows.at(-1)), rows: rows.length }
    }
    const blocks = Array.from({ length: folds.count + 1 }, (_, block) => {
      const fold = block + unpredicted
      return { fold, ...moments(Array.from(order).filter((row) => folds.of[row] === fold)) }
    })
    return { by: 'time_column', column: column.name, blocks }
  },
})

/**
 * The splitter that a training's options ask for; undefined for a random split. Problems (`wrong_arguments`): unknown columns, a single
 * group or time.
 *
 * @example foldSplitterOf({ group_by: ['customer'] }, seed)?.split(task, 5).count // 5
 */
export const foldSplitterOf = ({ group_by, time_column }: SplitOptions, seed: number): FoldSplitter | undefined => {
  if (group_by) return byGroups(group_by, seed)
  return time_column === undefined ? undefined : byTime(time_column)
}
