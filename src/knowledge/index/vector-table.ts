import { codesStep, newMemory, pageBytes, productsOver, type KernelMemory, type Products } from './dot-kernel.js'
import { BestHits, type VectorHit } from './vectors.js'

/** The number of rows in a block. A block is stored as a whole. */
export const blockRows = 256

/** The stored form of a block: the codes of its vectors, and the 64-bit numbers of its rows. Without `codes`, these have not changed. */
export type VectorBlock = { block: number; places: Uint8Array; codes?: Uint8Array }

/** The numbers of a row: its chunk, the positions from and until which it is valid, and the value of one step of its codes. */
const [keyAt, fromAt, untilAt, stepAt, placeNumbers] = [0, 1, 2, 3, 4]
const placeBytes = placeNumbers * Float64Array.BYTES_PER_ELEMENT

const codeMax = 127
const queryMax = 32_767
const rowsAtOnce = 4_096

/** The vectors to search: those that were valid at a position, or are valid now. */
export type VectorScope = { asOf: number | null }

const largest = (vector: Float32Array): number => {
  let most = 0
  for (const value of vector) most = Math.max(most, Math.abs(value))
  return most
}

/**
 * The vectors of all chunks, including those that are no longer valid, with eight bits per number: a quarter of the memory. Each search
 * reads all of it. The search finds candidates, and the caller compares these exactly. Rows are in the order of their chunks' keys.
 *
 * @example
 * const table = new VectorTable(384)
 * table.add(1, 40, vector)
 * table.nearest(vector, 10, { asOf: null }) // [{ key: 1, similarity: 0.9998… }]
 */
export class VectorTable {
  readonly #width: number
  readonly #outAt: number
  readonly #codesAt: number
  readonly #memory: KernelMemory
  readonly #products: Products
  #places = new Float64Array(placeNumbers * blockRows)
  #rows = 0
  readonly #changedPlaces = new Set<number>()
  readonly #changedCodes = new Set<number>()

  constructor(private readonly dimensions: number) {
    this.#width = Math.ceil(dimensions / codesStep) * codesStep
    this.#outAt = this.#width * Int16Array.BYTES_PER_ELEMENT
    this.#codesAt = this.#outAt + rowsAtOnce * Int32Array.BYTES_PER_ELEMENT
    this.#memory = newMemory(Math.ceil((this.#codesAt + blockRows * this.#width) / pageBytes))
    this.#products = productsOver(this.#memory)
  }

  get rows(): number {
    return this.#rows
  }

  /** Adds a stored block; blocks come in their order. */
  restore({ places, codes }: Required<VectorBlock>): void {
    const rows = places.byteLength / placeBytes
    this.#makeRoom(this.#rows + rows)
    new Uint8Array(this.#places.buffer).set(places, this.#rows * placeBytes)
    new Uint8Array(this.#memory.buffer).set(codes, this.#addressOf(this.#rows))
    this.#rows += rows
  }

  /** Adds a vector that is valid from a position on. Its key must be higher than all existing keys. */
  add(key: number, from: number, vector: Float32Array): void {
    const row = this.#rows
    this.#makeRoom(row + 1)
    const step = largest(vector) / codeMax
    this.#places.set([key, from, Infinity, step], row * placeNumbers)
    if (step > 0) {
      const codes = new Int8Array(this.#memory.buffer, this.#addressOf(row), this.dimensions)
      for (let i = 0; i < this.dimensions; i++) codes[i] = Math.round((vector[i] ?? 0) / step)
    }
    this.#rows += 1
    this.#note(row, true)
  }

  /** Ends the validity of a chunk's vector at a position; an unknown key changes nothing. */
  end(key: number, position: number): void {
    const row = this.#rowOf(key)
    if (row === undefined) return
    this.#places[row * placeNumbers + untilAt] = position
    this.#note(row, false)
  }

  /** Removes vectors without a trace; the vectors after them move up. */
  remove(keys: ReadonlySet<number>): void {
    const { buffer } = this.#memory
    const bytes = new Uint8Array(buffer)
    let kept = 0
    for (let row = 0; row < this.#rows; row++) {
      if (keys.has(this.#places[row * placeNumbers + keyAt] ?? 0)) continue
      if (kept !== row) {
        this.#places.copyWithin(kept * placeNumbers, row * placeNumbers, (row + 1) * placeNumbers)
        bytes.copyWithin(this.#addressOf(kept), this.#addressOf(row), this.#addressOf(row + 1))
        this.#note(kept, true)
      }
      kept += 1
    }
    bytes.fill(0, this.#addressOf(kept), this.#addressOf(this.#rows))
    this.#places.fill(0, kept * placeNumbers, this.#rows * placeNumbers)
    this.#rows = kept
    if (kept > 0) this.#note(kept - 1, true)
  }

  /** The blocks that differ from their stored form. */
  takeChanges(): VectorBlock[] {
    const changed = [...this.#changedPlaces].filter((block) => block * blockRows < this.#rows).sort((one, other) => one - other)
    const blocks = changed.map((block): VectorBlock => {
      const [from, to] = [block * blockRows, Math.min(this.#rows, (block + 1) * blockRows)]
      const places = new Uint8Array(this.#places.buffer, from * placeBytes, (to - from) * placeBytes)
      if (!this.#changedCodes.has(block)) return { block, places }
      return { block, places, codes: new Uint8Array(this.#memory.buffer, this.#addressOf(from), (to - from) * this.#width) }
    })
    this.#changedPlaces.clear()
    this.#changedCodes.clear()
    return blocks
  }

  /** The nearest chunks, by their codes; each similarity is exact to about a thousandth. */
  nearest(vector: Float32Array, limit: number, counting: VectorScope): VectorHit[] {
    const best = new BestHits(limit)
    const step = this.#setQuery(vector)
    for (let from = 0; from < this.#rows; from += rowsAtOnce) {
      const similarities = this.#similarities(from, Math.min(this.#rows, from + rowsAtOnce), step)
      for (const [i, similarity] of similarities.entries())
        if (this.#counts(from + i, counting)) best.offer(this.#places[(from + i) * placeNumbers + keyAt] ?? 0, similarity)
    }
    return best.sorted()
  }

  /** The nearest of the given chunks, by their codes; other chunks are not compared. */
  nearestAmong(vector: Float32Array, keys: Iterable<number>, limit: number): VectorHit[] {
    const best = new BestHits(limit)
    for (const [key, similarity] of this.similarities(vector, keys)) best.offer(key, similarity)
    return best.sorted()
  }

  /** A number of chunks, spread evenly over all of them. */
  sample(wanted: number): number[] {
    const step = Math.max(1, this.#rows / wanted)
    return Array.from({ length: Math.min(wanted, this.#rows) }, (_, i) => this.#places[Math.floor(i * step) * placeNumbers + keyAt] ?? 0)
  }

  /** The similarity of the given chunks, by their codes; chunks without a vector are left out. */
  similarities(vector: Float32Array, keys: Iterable<number>): Map<number, number> {
    const step = this.#setQuery(vector)
    const found = new Map<number, number>()
    for (const key of keys) {
      const row = this.#rowOf(key)
      if (row !== undefined) found.set(key, this.#similarities(row, row + 1, step)[0] ?? 0)
    }
    return found
  }

  /** The similarities of the query to adjacent rows, at most `rowsAtOnce`. */
  #similarities(from: number, to: number, step: number): Float64Array {
    this.#products(0, this.#addressOf(from), this.#addressOf(to), this.#width, this.#outAt)
    const products = new Int32Array(this.#memory.buffer, this.#outAt, to - from)
    const similarities = new Float64Array(to - from)
    for (let i = 0; i < products.length; i++)
      similarities[i] = (products[i] ?? 0) * step * (this.#places[(from + i) * placeNumbers + stepAt] ?? 0)
    return similarities
  }

  /** Stores the query with few enough bits per number that no sum of products exceeds 32 bits. Returns the value of one step. */
  #setQuery(vector: Float32Array): number {
    const most = Math.min(queryMax, Math.floor((2 ** 31 - 1) / (codeMax * this.#width)))
    const step = largest(vector) / most
    const query = new Int16Array(this.#memory.buffer, 0, this.#width).fill(0)
    if (step > 0) for (let i = 0; i < this.dimensions; i++) query[i] = Math.round((vector[i] ?? 0) / step)
    return step
  }

  #counts(row: number, { asOf }: VectorScope): boolean {
    const at = row * placeNumbers
    const until = this.#places[at + untilAt] ?? 0
    return asOf === null ? until === Infinity : until > asOf && (this.#places[at + fromAt] ?? 0) <= asOf
  }

  #rowOf(key: number): number | undefined {
    let [low, high] = [0, this.#rows]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#places[middle * placeNumbers + keyAt] ?? 0) < key) low = middle + 1
      else high = middle
    }
    return low < this.#rows && this.#places[low * placeNumbers + keyAt] === key ? low : undefined
  }

  #addressOf(row: number): number {
    return this.#codesAt + row * this.#width
  }

  #note(row: number, hasCodes: boolean): void {
    const block = Math.floor(row / blockRows)
    this.#changedPlaces.add(block)
    if (hasCodes) this.#changedCodes.add(block)
  }

  #makeRoom(rows: number): void {
    if (rows * placeNumbers > this.#places.length) {
      const larger = new Float64Array(Math.max(rows * placeNumbers, this.#places.length * 2))
      larger.set(this.#places)
      this.#places = larger
    }
    const missing = this.#addressOf(rows) - this.#memory.buffer.byteLength
    // A growing memory moves nothing, but each growth makes new views of it.
    if (missing > 0) this.#memory.grow(Math.ceil(missing / pageBytes) + Math.floor(this.#memory.buffer.byteLength / pageBytes / 4))
  }
}
