import { Problem, wrong } from '../../../basics/errors.js'
import { dateHint } from '../../../files/tables/date-hint.js'
import { limits } from '../../../basics/limits.js'
import { neededColumn } from '../../data/columns.js'
import type { Matrix, MatrixColumn, NumberColumn } from '../../data/matrix.js'
import { largestNumber, refuseRounded } from '../../data/task.js'
import type { ColumnType } from '../../data/values.js'
import { timeOfCell, timeText, type OrderType } from './times.js'

/** A value of a key column; null is a value, too. */
export type KeyValue = string | number | null
/** A column that distinguishes the series, with its distinct values in ascending order. */
export type Key = { name: string; type: ColumnType; values: readonly (string | number)[] }

/** One series: the indexes of its keys' values (-1 is null), and its values by ascending time. */
export type Series = { codes: readonly number[]; times: Float64Array; values: Float64Array }

/** The series of a table, in the order of their keys' values. */
export type Panel = {
  order: { name: string; type: OrderType }
  keys: readonly Key[]
  target: { name: string; type: 'number' | 'integer' }
  series: readonly Series[]
  /** Columns that are neither target nor time nor key. */
  others: readonly MatrixColumn[]
  /** Rows that were left out because their target or time is missing. */
  withoutTarget: number
  withoutTime: number
}

export type PanelColumns = { target: string; orderBy: string; groupBy: readonly string[] }

const orderOf = (column: MatrixColumn): { numbers: Float64Array; type: OrderType } => {
  const { name, type } = column
  if (type === 'integer') refuseRounded(column, 'ORDER BY a timestamp, or by a smaller number.')
  if (type === 'date' || type === 'timestamp' || type === 'integer') return { numbers: column.numbers, type }
  if (type === 'number' && column.numbers.every((value) => Number.isNaN(value) || Number.isSafeInteger(value)))
    return { numbers: column.numbers, type: 'integer' }
  throw wrong(
    `"${name}" is ${type}: rows are ordered by a date, a timestamp or a whole number`,
    type === 'text' ? dateHint(name, column.dictionary) : 'ORDER BY another column.',
  )
}

const targetOf = (column: MatrixColumn): NumberColumn & { type: 'number' | 'integer' } => {
  if (column.type !== 'number' && column.type !== 'integer')
    throw wrong(`"${column.name}" is ${column.type}: a series has numbers`, 'Without ORDER BY other engines predict classes.')
  const beyond = column.numbers.find((value) => Math.abs(value) > largestNumber)
  if (beyond !== undefined) throw wrong(`"${column.name}" has the value ${beyond}; numbers up to ${largestNumber} can be forecast`)
  return { ...column, type: column.type }
}

/** A key's distinct values, and the index of each row's value. */
const keyOf = (column: MatrixColumn): { key: Key; codes: ArrayLike<number> } => {
  const { name, type } = column
  if (type === 'text') return { key: { name, type, values: column.dictionary }, codes: column.codes }
  refuseRounded(column, 'CAST it to VARCHAR.')
  const values = [...new Set(column.numbers)].filter((value) => !Number.isNaN(value)).sort((one, other) => one - other)
  const places = new Map(values.map((value, place) => [value, place]))
  return { key: { name, type, values }, codes: Int32Array.from(column.numbers, (value) => places.get(value) ?? -1) }
}

const compared = (one: readonly number[], other: readonly number[]): number => {
  const at = one.findIndex((code, i) => code !== other[i])
  return at < 0 ? 0 : one[at]! - other[at]!
}

const refuseDoubled = (order: Panel['order'], time: number, keys: readonly Key[]): Problem =>
  wrong(
    `${keys.length > 0 ? 'One series has' : 'There are'} two rows for ${timeText(order.type, time)} in "${order.name}"`,
    keys.length > 0
      ? 'Give one row a step: sum(y) … GROUP BY in the SELECT, or name the further columns that tell series apart in GROUP BY.'
      : 'Name the columns that tell series apart: ORDER BY … GROUP BY …; or give one row a step: sum(y) … GROUP BY in the SELECT.',
  )

const tooMany = (found: number): Problem =>
  new Problem('query_limit', 'Too many series', `GROUP BY gives ${found} series, at most ${limits.forecastMaxGroups} can be forecast`, {
    hint: 'Group by fewer columns, or make several models, each of some of the series.',
  })

/**
 * Divides a table into series. Problems (`wrong_arguments`): an unknown or unusable column, two rows of one series for the same time;
 * `query_limit` for too many series.
 *
 * @example readPanel(matrix, { target: 'passengers', orderBy: 'month', groupBy: [] }).series[0]?.times
 */
export const readPanel = (matrix: Matrix, { target: targetName, orderBy, groupBy }: PanelColumns): Panel => {
  const target = targetOf(neededColumn(matrix.columns, targetName, 'to predict'))
  const ordering = neededColumn(matrix.columns, orderBy, 'to order the rows by')
  const grouping = groupBy.map((name) => neededColumn(matrix.columns, name, 'to tell series apart by'))
  const used = [target.name, ordering.name, ...grouping.map(({ name }) => name)]
  const twice = used.find((name, i) => used.indexOf(name) !== i)
  if (twice !== undefined) throw wrong(`"${twice}" is named twice: what is predicted, what orders and what groups are different columns`)
  const { numbers, type } = orderOf(ordering)
  const order = { name: ordering.name, type }
  const columns = grouping.map(keyOf)
  const groups = new Map<string, { codes: number[]; rows: number[] }>()
  let [withoutTarget, withoutTime] = [0, 0]
  for (let row = 0; row < matrix.rows; row++) {
    if (Number.isNaN(numbers[row])) withoutTime++
    else if (Number.isNaN(target.numbers[row])) withoutTarget++
    else {
      const codes = columns.map((column) => column.codes[row]!)
      const name = codes.join(' ')
      const group = groups.get(name)
      if (group) group.rows.push(row)
      else groups.set(name, { codes, rows: [row] })
    }
  }
  if (groups.size > limits.forecastMaxGroups) throw tooMany(groups.size)
  const keys = columns.map(({ key }) => key)
  const series = [...groups.values()].map(({ codes, rows }) => {
    rows.sort((one, other) => numbers[one]! - numbers[other]!)
    const times = Float64Array.from(rows, (row) => timeOfCell(type, numbers[row]!))
    const doubled = times.find((time, i) => i > 0 && time === times[i - 1])
    if (doubled !== undefined) throw refuseDoubled(order, doubled, keys)
    return { codes, times, values: Float64Array.from(rows, (row) => target.numbers[row]!) }
  })
  series.sort((one, other) => compared(one.codes, other.codes))
  const others = matrix.columns.filter(({ name }) => !used.includes(name))
  return { order, keys, target: { name: target.name, type: target.type }, series, others, withoutTarget, withoutTime }
}
