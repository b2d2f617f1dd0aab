import { compareNumbers } from '../api/exact.js'
import type { Column, Row, Value } from '../api/sql.js'
import { isNumeric } from './value.js'

/** The values of one column so far. `distinct` is exact up to `distinctMax`. */
export type ColumnSummary = {
  column: Column
  nulls: number
  distinct: number
  isDistinctMore: boolean
  least: string | number | null
  greatest: string | number | null
  mean: number | undefined
  /** The counts of the most frequent values. */
  top: [string, number][]
  /** The counts of equal ranges between `least` and `greatest`; undefined for a column without numbers. */
  bars: number[] | undefined
}

const distinctMax = 10_000
const sampleMax = 20_000
const barCount = 24
const topCount = 5

class ColumnCount {
  nulls = 0
  rows = 0
  least: string | number | null = null
  greatest: string | number | null = null
  #sum = 0
  #numbers = 0
  readonly #seen = new Map<string, number>()
  isMore = false
  /** A random sample: each value has the same chance to be in it. */
  readonly #sample: number[] = []

  constructor(readonly column: Column) {}

  add(value: Value): void {
    this.rows += 1
    if (value === null) {
      this.nulls += 1
      return
    }
    // Numbers arrive as numbers, or as texts if they would lose digits.
    if (isNumeric(this.column.type)) {
      if (typeof value === 'number' || typeof value === 'string') this.#addNumber(value)
    } else {
      const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
      if (this.least === null || text < String(this.least)) this.least = text
      if (this.greatest === null || text > String(this.greatest)) this.greatest = text
    }
    this.#count(typeof value === 'object' ? JSON.stringify(value) : String(value))
  }

  #addNumber(written: number | string): void {
    const value = Number(written)
    if (!Number.isFinite(value)) return
    this.#sum += value
    this.#numbers += 1
    if (this.least === null || compareNumbers(written, this.least) < 0) this.least = written
    if (this.greatest === null || compareNumbers(written, this.greatest) > 0) this.greatest = written
    if (this.#sample.length < sampleMax) this.#sample.push(value)
    else {
      const at = Math.floor(Math.random() * this.#numbers)
      if (at < sampleMax) this.#sample[at] = value
    }
  }

  #count(text: string): void {
    const known = this.#seen.get(text)
    if (known !== undefined) this.#seen.set(text, known + 1)
    else if (this.#seen.size < distinctMax) this.#seen.set(text, 1)
    else this.isMore = true
  }

  summary(): ColumnSummary {
    const top = [...this.#seen].sort(([, a], [, b]) => b - a).slice(0, topCount)
    return {
      ...{ column: this.column, nulls: this.nulls, distinct: this.#seen.size, isDistinctMore: this.isMore },
      ...{ least: this.least, greatest: this.greatest, top },
      mean: this.#numbers > 0 ? this.#sum / this.#numbers : undefined,
      bars: this.#bars(),
    }
  }

  #bars(): number[] | undefined {
    if (this.#sample.length === 0) return undefined
    const [from, to] = [Number(this.least), Number(this.greatest)]
    const bars = new Array<number>(barCount).fill(0)
    for (const value of this.#sample) {
      const at = to > from ? Math.min(barCount - 1, Math.floor(((value - from) / (to - from)) * barCount)) : 0
      bars[at] = (bars[at] ?? 0) + 1
    }
    return bars
  }
}

/**
 * Summarises the columns of an answer while it arrives. The memory that this takes does not grow with the rows.
 *
 * @example const summaries = new Summaries(columns); summaries.add(rows); summaries.read()
 */
export class Summaries {
  readonly #counts: ColumnCount[]

  constructor(columns: readonly Column[]) {
    this.#counts = columns.map((column) => new ColumnCount(column))
  }

  add(rows: readonly Row[]): void {
    for (const row of rows) for (const [i, count] of this.#counts.entries()) count.add(row[i] ?? null)
  }

  read(): ColumnSummary[] {
    return this.#counts.map((count) => count.summary())
  }
}
