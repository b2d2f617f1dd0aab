/**
 * Rows that a model has scored in one query, found by the bits of their features. DuckDB evaluates a function at any place and any number
 * of times: for example in a filter and again in the list, once for each reference to a CTE. The memo lets the model score each row once.
 *
 * @example
 * const first = memo.size
 * const place = memo.placeOf(features, 0) // where the row's features are in memo.features, new or known
 * predict(memo.featuresFrom(first), memo.size - first, memo.resultsFrom(first))
 */
export class RowMemo {
  #size = 0
  #capacity = 64
  #features: Float64Array
  #words: Uint32Array
  #results: Float64Array
  /** Places by hash, plus one; zero is free. Twice as many slots as places, so that there is always a free one. */
  #slots = new Int32Array(this.#capacity * 2)

  constructor(
    private readonly width: number,
    private readonly outputWidth: number,
  ) {
    this.#features = new Float64Array(this.#capacity * width)
    this.#words = new Uint32Array(this.#features.buffer)
    this.#results = new Float64Array(this.#capacity * outputWidth)
  }

  /** The rows seen so far, each counted once. */
  get size(): number {
    return this.#size
  }

  get results(): Float64Array {
    return this.#results
  }

  /** The features from this place on. */
  featuresFrom(place: number): Float64Array {
    return this.#features.subarray(place * this.width, this.#size * this.width)
  }

  /** The space for the results from this place on. */
  resultsFrom(place: number): Float64Array {
    return this.#results.subarray(place * this.outputWidth, this.#size * this.outputWidth)
  }

  /** The place of a row in a buffer of features; a new row gets the next place. */
  placeOf(features: Float64Array, row: number): number {
    if (this.#size === this.#capacity) this.#grow()
    const words = new Uint32Array(features.buffer, features.byteOffset + row * this.width * 8, this.width * 2)
    const mask = this.#slots.length - 1
    for (let slot = hashOf(words, 0, words.length) & mask; ; slot = (slot + 1) & mask) {
      const place = (this.#slots[slot] ?? 0) - 1
      if (place < 0) {
        this.#slots[slot] = this.#size + 1
        this.#words.set(words, this.#size * words.length)
        return this.#size++
      }
      if (this.#isAt(place, words)) return place
    }
  }

  #isAt(place: number, words: Uint32Array): boolean {
    const at = place * words.length
    for (let i = 0; i < words.length; i++) if (this.#words[at + i] !== words[i]) return false
    return true
  }

  #grow(): void {
    this.#capacity *= 2
    this.#features = enlarged(this.#features, this.#capacity * this.width)
    this.#words = new Uint32Array(this.#features.buffer)
    this.#results = enlarged(this.#results, this.#capacity * this.outputWidth)
    this.#slots = new Int32Array(this.#capacity * 2)
    const [mask, length] = [this.#slots.length - 1, this.width * 2]
    for (let place = 0; place < this.#size; place++) {
      let slot = hashOf(this.#words, place * length, length) & mask
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask
      this.#slots[slot] = place + 1
    }
  }
}

const enlarged = (from: Float64Array, size: number): Float64Array<ArrayBuffer> => {
  const into = new Float64Array(size)
  into.set(from)
  return into
}

/** FNV-1a over 32-bit words, with its bits mixed at the end: doubles of small whole numbers differ in their high bits only. */
const hashOf = (words: Uint32Array, from: number, length: number): number => {
  let hash = 0x811c9dc5
  for (let i = from; i < from + length; i++) hash = Math.imul(hash ^ (words[i] ?? 0), 0x01000193) ^ (hash >>> 15)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
