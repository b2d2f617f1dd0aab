/** Room: rows as the matrix that an engine learns from. It imports only events, basics, sql/contract and models/numerics. */

import { foldName } from '../../../events/common.js'
import { Problem, wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { Random, shuffle } from '../numerics/random.js'
import { readCell, readText, cellOf, unusable, type ColumnDescriptor, type ColumnType } from './values.js'

/** Text as codes into a sorted dictionary; -1 is missing. */
export type TextColumn = { name: string; type: 'text'; codes: Int32Array; dictionary: readonly string[] }
/** Numbers as `readCell` gives them; NaN is missing. */
export type NumberColumn = { name: string; type: Exclude<ColumnType, 'text'>; numbers: Float64Array }
export type MatrixColumn = TextColumn | NumberColumn

/** The canonical training data: the same set of rows and the same seed give the same matrix, in whatever order the rows arrive. */
export type Matrix = { rows: number; seed: number; columns: readonly MatrixColumn[] }

type Collector = {
  append(value: unknown, row: number): void
  /** Copies a column of another matrix, with the same kind of values, after the first `at` rows. */
  extend(column: MatrixColumn, at: number): void
  finish(rows: number): MatrixColumn
}

/** SQL has infinite dates and timestamps. They count as missing, like infinite numbers. */
const isEndless = (value: unknown): boolean => value === 'infinity' || value === '-infinity'

const collectNumbers = (descriptor: ColumnDescriptor, type: NumberColumn['type']): Collector => {
  let numbers = new Float64Array(1024)
  const isTime = type === 'date' || type === 'timestamp'
  return {
    append(value, row) {
      const number = isTime && isEndless(value) ? NaN : readCell(type, value)
      if (number === undefined) throw unusable(cellOf(row, descriptor.name), String(value), descriptor.type)
      if (row === numbers.length) numbers = grown(numbers, new Float64Array(row * 2))
      numbers[row] = number
    },
    extend(column, at) {
      if (column.type === 'text') throw new TypeError(`"${column.name}" holds texts`)
      numbers = grown(numbers, new Float64Array(Math.max(numbers.length, (at + column.numbers.length) * 2)))
      numbers.set(column.numbers, at)
    },
    finish: (rows) => ({ name: descriptor.name, type, numbers: numbers.slice(0, rows) }),
  }
}

const collectText = (descriptor: ColumnDescriptor): Collector => {
  let codes = new Int32Array(1024)
  const known = new Map<string, number>()
  const codeOf = (text: string) => {
    const code = known.get(text) ?? known.size
    if (code === known.size) known.set(text, code)
    return code
  }
  return {
    append(value, row) {
      const text = readText(value)
      if (text === undefined) throw unusable(cellOf(row, descriptor.name), String(value), descriptor.type)
      if (row === codes.length) codes = grown(codes, new Int32Array(row * 2))
      codes[row] = text === null ? -1 : codeOf(text)
    },
    extend(column, at) {
      if (column.type !== 'text') throw new TypeError(`"${column.name}" holds no texts`)
      codes = grown(codes, new Int32Array(Math.max(codes.length, (at + column.codes.length) * 2)))
      column.codes.forEach((code, row) => (codes[at + row] = code < 0 ? -1 : codeOf(column.dictionary[code]!)))
    },
    finish(rows) {
      const dictionary = [...known.keys()].sort()
      const sorted = new Int32Array(known.size)
      dictionary.forEach((text, code) => (sorted[known.get(text) ?? 0] = code))
      return {
        name: descriptor.name,
        type: 'text',
        codes: codes.subarray(0, rows).map((code) => (code < 0 ? -1 : sorted[code]!)),
        dictionary,
      }
    },
  }
}

const grown = <Numbers extends Float64Array | Int32Array>(from: Numbers, into: Numbers): Numbers => {
  into.set(from)
  return into
}

const tooMuch = (what: string, found: number, limit: number) =>
  new Problem('query_limit', 'Too much training data', `Training takes at most ${limit} ${what}, the query gives ${found} or more`, {
    hint: `Select fewer ${what}`,
  })

/**
 * Collects the rows of a streamed query result into a canonical matrix. Values are plain (see `readCell`). A value that does not fit its
 * column's type is a `wrong_arguments` problem; more rows, columns or cells than the limits are a `query_limit` problem.
 *
 * @example
 * const builder = new MatrixBuilder([{ name: 'sqft', type: 'integer' }, { name: 'price', type: 'number' }])
 * builder.addRow([820, 2847.5])
 * const matrix = builder.build(seed)
 */
export class MatrixBuilder {
  private rows = 0
  private readonly collectors: readonly Collector[]

  constructor(private readonly descriptors: readonly ColumnDescriptor[]) {
    if (descriptors.length > limits.trainingMaxColumns) throw tooMuch('columns', descriptors.length, limits.trainingMaxColumns)
    const names = descriptors.map(({ name }) => foldName(name))
    const twice = descriptors.find(({ name }, index) => names.indexOf(foldName(name)) !== index)?.name
    if (twice !== undefined)
      throw wrong(`The training query has two columns named "${twice}" (compared without case)`, 'Give one of them another name with AS.')
    this.collectors = descriptors.map((descriptor) =>
      descriptor.type === 'text' ? collectText(descriptor) : collectNumbers(descriptor, descriptor.type),
    )
  }

  /** Adds one row, its values in the order of the descriptors. */
  addRow(values: readonly unknown[]): void {
    this.room(1, values.length)
    this.collectors.forEach((collector, index) => {
      collector.append(values[index], this.rows)
    })
    this.rows++
  }

  /** Adds a chunk of `rows` rows, column by column. */
  addColumns(columns: readonly ArrayLike<unknown>[], rows: number): void {
    this.room(rows, columns.length)
    this.collectors.forEach((collector, index) => {
      const column = columns[index]!
      for (let row = 0; row < rows; row++) collector.append(column[row], this.rows + row)
    })
    this.rows += rows
  }

  /** Adds all rows of another matrix, whose columns are in the order of the descriptors. */
  addMatrix({ columns, rows }: Matrix): void {
    this.room(rows, columns.length)
    this.collectors.forEach((collector, index) => {
      collector.extend(columns[index]!, this.rows)
    })
    this.rows += rows
  }

  /** Sorts the rows, shuffles them by the seed (an integer of 0…2³²-1) and returns the matrix. */
  build(seed: number): Matrix {
    const columns = this.collectors.map((collector) => collector.finish(this.rows))
    return selectRows({ rows: this.rows, seed, columns }, canonicalOrder(columns, this.rows, seed))
  }

  private room(rows: number, columns: number): void {
    if (columns !== this.descriptors.length) throw wrong(`A training row has ${columns} values, expected ${this.descriptors.length}`)
    const total = this.rows + rows
    if (total > limits.trainingMaxRows) throw tooMuch('rows', total, limits.trainingMaxRows)
    const cells = total * columns
    if (cells > limits.trainingMaxCells) throw tooMuch('cells (rows times columns)', cells, limits.trainingMaxCells)
  }
}

/** The sort keys of a column: missing values come last, and all NaN are equal. */
const keysOf = (column: MatrixColumn): Int32Array | Float64Array =>
  column.type === 'text' ? column.codes : column.numbers.map((value) => (Number.isNaN(value) ? Infinity : value))

const canonicalOrder = (columns: readonly MatrixColumn[], rows: number, seed: number): Int32Array => {
  const keys = columns.map(keysOf)
  const order = Int32Array.from({ length: rows }, (_, row) => row)
  order.sort((one, other) => {
    for (const key of keys) {
      const a = key[one]!
      const b = key[other]!
      if (a !== b) return a < b ? -1 : 1
    }
    return 0
  })
  shuffle(order, new Random(seed))
  return order
}

/** A matrix of the given rows of another one, in the given order. */
export const selectRows = (matrix: Matrix, rows: Int32Array): Matrix => ({
  rows: rows.length,
  seed: matrix.seed,
  columns: matrix.columns.map((column) =>
    column.type === 'text'
      ? { ...column, codes: rows.map((row) => column.codes[row]!) }
      : { ...column, numbers: Float64Array.from(rows, (row) => column.numbers[row]!) },
  ),
})
