/** Room: rows of answers, as a grid and charts. It imports only console/api, console/basics, console/components and console/lists. */

import { compareNumbers, exactRowsOf } from '../../../api/exact.js'
import type { Column, Row, Value } from '../../../api/sql.js'
import { Slices } from '../../../basics/slices.js'
import { isNumeric } from '../../../components/value.js'

/** The most bytes of one answer that a tab keeps. The page does not read further rows, and says so. */
export const answerMaxBytes = 512 * 2 ** 20

/** The number of pieces that stay parsed: those around the visible rows. */
const parsedMax = 12

type Piece = { bytes: Uint8Array<ArrayBuffer>; first: number; rows: number }

/**
 * The rows of an answer, stored as the received bytes. Only visible rows are parsed, so a million rows need no more memory than their
 * bytes, even after scrolling.
 *
 * @example const store = new RowStore(columns); store.add(piece); store.row(0)
 */
export class RowStore {
  readonly #pieces: Piece[] = []
  readonly #parsed = new Map<Piece, Row[]>()
  #rows = 0
  #bytes = 0
  /** The indexes of the rows in the order shown; undefined means the order of the answer. */
  #order: Uint32Array | undefined
  /** The text that the shown rows contain; empty without a filter. */
  #filter = ''
  /** The indexes of the rows that contain it, in the order of the answer. */
  #fitting: Uint32Array | undefined

  constructor(readonly columns: readonly Column[]) {}

  /** The number of rows that are shown: all, or those that match the filter. */
  get length(): number {
    return this.#order?.length ?? this.#rows
  }

  /** The filter of the rows that are shown. */
  get filter(): string {
    return this.#filter
  }

  /** The number of rows that have arrived. */
  get total(): number {
    return this.#rows
  }

  get isFull(): boolean {
    return this.#bytes >= answerMaxBytes
  }

  /** Adds a piece of the answer, and returns its rows, which are not kept. */
  add(bytes: Uint8Array<ArrayBuffer>): Row[] {
    const rows = exactRowsOf(bytes, this.columns)
    this.#pieces.push({ bytes, first: this.#rows, rows: rows.length })
    this.#rows += rows.length
    this.#bytes += bytes.length
    return rows
  }

  /** The row at an index of the order shown. */
  row(place: number): Row | undefined {
    const at = this.#order ? this.#order[place] : place
    if (at === undefined) return undefined
    const piece = this.#pieceOf(at)
    return piece && this.#rowsIn(piece)[at - piece.first]
  }

  #pieceOf(at: number): Piece | undefined {
    let low = 0
    let high = this.#pieces.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#pieces[middle]?.first ?? 0) <= at) low = middle
      else high = middle - 1
    }
    return this.#pieces[low]
  }

  #rowsIn(piece: Piece): Row[] {
    const known = this.#parsed.get(piece)
    if (known) {
      this.#parsed.delete(piece)
      this.#parsed.set(piece, known)
      return known
    }
    const rows = exactRowsOf(piece.bytes, this.columns)
    this.#parsed.set(piece, rows)
    for (const oldest of this.#parsed.keys()) {
      if (this.#parsed.size <= parsedMax) break
      this.#parsed.delete(oldest)
    }
    return rows
  }

  /** All rows in the order of the answer. The page stays responsive between the pieces. */
  async *all(signal: AbortSignal): AsyncGenerator<Row[], void, void> {
    const slices = new Slices()
    for (const piece of [...this.#pieces]) {
      await slices.pause(signal)
      yield exactRowsOf(piece.bytes, this.columns)
    }
  }

  /** The rows that fit the filter, in the order of the answer. The page stays responsive between the pieces. */
  async *fitting(signal: AbortSignal): AsyncGenerator<Row[], void, void> {
    const places = this.#fitting
    let [end, next] = [0, 0]
    for await (const rows of this.all(signal)) {
      const [first, from] = [end, next]
      end += rows.length
      while (places && (places[next] ?? end) < end) next += 1
      yield places ? Array.from(places.subarray(from, next), (place) => rows[place - first] ?? []) : rows
    }
  }

  /** All rows as the service wrote them, in pieces of JSON. The page stays responsive between the pieces. */
  async *written(signal: AbortSignal): AsyncGenerator<string, void, void> {
    const decoder = new TextDecoder()
    const slices = new Slices()
    for (const { bytes } of [...this.#pieces]) {
      await slices.pause(signal)
      yield decoder.decode(bytes)
    }
  }

  /**
   * Shows the rows that contain a text in any column, sorted by one column. Rows that arrive later are not included.
   * @throws the reason of the signal
   */
  async arrange(
    { filter, by, descending }: { filter: string; by: number | undefined; descending: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    if (filter === '' && by === undefined) {
      this.#order = undefined
      this.#setFilter('', undefined)
      return
    }
    const wanted = filter.toLowerCase()
    const keys: Value[] = []
    const places: number[] = []
    let at = 0
    for await (const rows of this.all(signal))
      for (const row of rows) {
        if (wanted === '' || row.some((value) => textOf(value).toLowerCase().includes(wanted))) {
          places.push(at)
          if (by !== undefined) keys.push(row[by] ?? null)
        }
        at += 1
      }
    const fitting = Uint32Array.from(places)
    if (by === undefined) {
      this.#order = fitting
      this.#setFilter(filter, fitting)
      return
    }
    const direction = descending ? -1 : 1
    const compare = isNumeric(this.columns[by]?.type ?? '') ? compareAsNumbers : compareValues
    const order = await sortedInSlices(
      fitting.map((_, i) => i),
      (a, b) => direction * compare(keys[a] ?? null, keys[b] ?? null) || a - b,
      signal,
    )
    this.#order = order.map((i) => fitting[i] ?? 0)
    this.#setFilter(filter, fitting)
  }

  #setFilter(filter: string, fitting: Uint32Array | undefined): void {
    this.#filter = filter
    this.#fitting = filter === '' ? undefined : fitting
  }
}

/** The length of the runs that are sorted at once. */
const runLength = 16_384

/** Sorts numbers by runs, which are merged in pairs. The page stays responsive meanwhile. @throws the reason of the signal */
const sortedInSlices = async (
  numbers: Uint32Array<ArrayBuffer>,
  compare: (a: number, b: number) => number,
  signal: AbortSignal,
): Promise<Uint32Array<ArrayBuffer>> => {
  const slices = new Slices()
  for (let start = 0; start < numbers.length; start += runLength) {
    await slices.pause(signal)
    numbers.subarray(start, start + runLength).sort(compare)
  }
  let [from, to] = [numbers, new Uint32Array(numbers.length)]
  for (let length = runLength; length < numbers.length; length *= 2) {
    for (let start = 0; start < numbers.length; start += 2 * length) {
      const [middle, end] = [Math.min(start + length, numbers.length), Math.min(start + 2 * length, numbers.length)]
      let [left, right] = [start, middle]
      for (let at = start; at < end; at++) {
        if (at % 4_096 === 0) await slices.pause(signal)
        const [a = 0, b = 0] = [from[left], from[right]]
        const isLeft = left < middle && (right >= end || compare(a, b) <= 0)
        to[at] = isLeft ? a : b
        if (isLeft) left += 1
        else right += 1
      }
    }
    ;[from, to] = [to, from]
  }
  return from
}

const textOf = (value: Value): string => (typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value))

/** NULL comes after all other values. */
const compareValues = (a: Value, b: Value): number => {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const [one, other] = [textOf(a), textOf(b)]
  return one < other ? -1 : one > other ? 1 : 0
}

const isNumber = (value: Value): value is number | string =>
  typeof value === 'number' || (typeof value === 'string' && Number.isFinite(Number(value)))

/** The same for a column of numbers, where a number with many digits is a text. */
const compareAsNumbers = (a: Value, b: Value): number => (isNumber(a) && isNumber(b) ? compareNumbers(a, b) : compareValues(a, b))
