import { compareNumbers } from '../api/exact.js'
import type { Column, Row, Value } from '../api/sql.js'
import { timeOf } from '../basics/time.js'
import { isNumeric, isTime, shortText, shown } from './value.js'

/** The values of one column so far. `distinct` is exact up to `distinctMax`. */
export type ColumnSummary = {
  column: Column
  nulls: number
  distinct: number
  isDistinctMore: boolean
  /** The ends of the range of a column of numbers or times, as they are written; null for others. */
  least: string | number | null
  greatest: string | number | null
  mean: number | undefined
  /**
   * The most frequent values, as short texts, and their counts. With more than `distinctMax` values a count may be too low, and only values
   * are here that are certainly more frequent than all that are not.
   */
  top: [string, number][]
  /** The counts of equal ranges between `least` and `greatest`; undefined for a column without numbers or times. */
  bars: number[] | undefined
}

const distinctMax = 10_000
const sampleMax = 20_000
const barCount = 24
const topCount = 5
/** A longer text is told apart from others by its length and its hash, so that no long text is kept. */
const keptMax = 100

/** A hash with 53 bits, in which two of `distinctMax` texts hardly ever agree. */
const hashOf = (text: string): number => {
  let [high, low] = [0xdeadbeef, 0x41c6ce57]
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    high = Math.imul(high ^ unit, 2_654_435_761)
    low = Math.imul(low ^ unit, 1_597_334_677)
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909)
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909)
  return 4_294_967_296 * (2_097_151 & low) + (high >>> 0)
}

type Counted = { shown: string; count: number }

/**
 * Counts texts in bounded memory (Misra and Gries, 1982): when there is no room for another text, every count falls by one, and texts
 * without a count make room. So a count is too low by `lost` at most, and a text that is not here came `lost` times at most.
 */
class TextCounts {
  readonly #counts = new Map<string, Counted>()
  #lost = 0

  add(text: string): void {
    const isLong = text.length > keptMax
    const key = isLong ? `${text.length} ${hashOf(text)}` : text
    const known = this.#counts.get(key)
    if (known) known.count += 1
    else if (this.#counts.size < distinctMax) this.#counts.set(key, { shown: isLong ? shortText(text, keptMax) : text, count: 1 })
    else this.#makeRoom()
  }

  #makeRoom(): void {
    this.#lost += 1
    for (const [key, counted] of this.#counts) if (--counted.count === 0) this.#counts.delete(key)
  }

  get isMore(): boolean {
    return this.#lost > 0
  }

  get distinct(): number {
    return this.isMore ? distinctMax : this.#counts.size
  }

  /** The most frequent texts, of equal ones the first. If counts are too low, texts are left out that others may be as frequent as. */
  top(): [string, number][] {
    const highest = this.#highest(topCount + 1)
    let length = Math.min(topCount, highest.length)
    if (this.isMore) while (length > 0 && !this.#isCertain(highest, length)) length -= 1
    return highest.slice(0, length).map(({ shown: text, count }) => [text, count])
  }

  /** Whether each of the first texts came more often than any other one can have come. */
  #isCertain(highest: readonly Counted[], length: number): boolean {
    return (highest[length - 1]?.count ?? 0) > this.#lost + (highest[length]?.count ?? 0)
  }

  /** The texts with the highest counts, of equal ones the first. */
  #highest(max: number): Counted[] {
    const highest: Counted[] = []
    for (const counted of this.#counts.values()) {
      const least = highest[max - 1]
      if (least && least.count >= counted.count) continue
      const at = highest.findIndex(({ count }) => count < counted.count)
      highest.splice(at < 0 ? highest.length : at, 0, counted)
      highest.length = Math.min(highest.length, max)
    }
    return highest
  }
}

/** An end of a range, as it is written, and as a number or a time in ms. */
type End = { written: number | string; value: number }

class ColumnCount {
  nulls = 0
  #least: End | undefined
  #greatest: End | undefined
  #sum = 0
  #measured = 0
  readonly #texts = new TextCounts()
  readonly #isNumeric: boolean
  readonly #isTime: boolean
  /** A random sample of the numbers, or of the times in ms: each value has the same chance to be in it. */
  readonly #sample: number[] = []

  constructor(readonly column: Column) {
    this.#isNumeric = isNumeric(column.type)
    this.#isTime = isTime(column.type)
  }

  add(value: Value): void {
    if (value === null) {
      this.nulls += 1
      return
    }
    // Numbers arrive as numbers, or as texts if they would lose digits.
    if (this.#isNumeric && (typeof value === 'number' || typeof value === 'string')) this.#measure(value, Number(value))
    if (this.#isTime && typeof value === 'string') this.#measure(value, Number(timeOf(value)))
    this.#texts.add(shown(value))
  }

  #measure(written: number | string, value: number): void {
    if (!Number.isFinite(value)) return
    this.#sum += value
    this.#measured += 1
    if (!this.#least || this.#compare(written, value, this.#least) < 0) this.#least = { written, value }
    if (!this.#greatest || this.#compare(written, value, this.#greatest) > 0) this.#greatest = { written, value }
    if (this.#sample.length < sampleMax) this.#sample.push(value)
    else {
      const at = Math.floor(Math.random() * this.#measured)
      if (at < sampleMax) this.#sample[at] = value
    }
  }

  /** Compares a value with an end. Numbers with many digits may differ although they are the same as JavaScript numbers. */
  #compare(written: number | string, value: number, end: End): number {
    return value !== end.value || this.#isTime ? value - end.value : compareNumbers(written, end.written)
  }

  summary(): ColumnSummary {
    return {
      ...{ column: this.column, nulls: this.nulls, distinct: this.#texts.distinct, isDistinctMore: this.#texts.isMore },
      ...{ least: this.#least?.written ?? null, greatest: this.#greatest?.written ?? null },
      mean: this.#isNumeric && this.#measured > 0 ? this.#sum / this.#measured : undefined,
      // The page shows the mean of numbers, and none of them.
      top: this.#isNumeric && this.#measured > 0 ? [] : this.#texts.top(),
      bars: this.#bars(),
    }
  }

  #bars(): number[] | undefined {
    if (!this.#least || !this.#greatest) return undefined
    const [from, to] = [this.#least.value, this.#greatest.value]
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
