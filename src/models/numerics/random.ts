/** Room: numbers for models: bytes, dates, random draws, quantiles and metrics. It imports only basics. */

/**
 * A seeded stream of 32-bit integers (sfc32). It only uses integer arithmetic, so every platform draws the same numbers. `stream` separates
 * uses of one seed: the shuffle of rows, the folds and each fold's sampling never share draws.
 *
 * @example new Random(7).below(6) // always the same number of 0…5
 */
export class Random {
  private a: number
  private b: number
  private c = 0x9e3779b9 | 0
  private counter = 1

  constructor(seed: number, stream = 0) {
    this.a = seed | 0
    this.b = stream | 0
    for (let warmUp = 0; warmUp < 16; warmUp++) this.next()
  }

  /** Saves the state as four numbers starting at `at`, for `resume`. */
  save(into: Int32Array, at: number): void {
    into[at] = this.a
    into[at + 1] = this.b
    into[at + 2] = this.c
    into[at + 3] = this.counter
  }

  /** Continues from a saved state, which another thread may have saved. */
  resume(from: Int32Array, at: number): void {
    this.a = from[at]!
    this.b = from[at + 1]!
    this.c = from[at + 2]!
    this.counter = from[at + 3]!
  }

  /** The next integer of 0…2³²-1. */
  next(): number {
    const sum = (((this.a + this.b) | 0) + this.counter) | 0
    this.counter = (this.counter + 1) | 0
    this.a = this.b ^ (this.b >>> 9)
    this.b = (this.c + (this.c << 3)) | 0
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0
    return sum >>> 0
  }

  /** An integer of 0…bound-1. The product stays below 2⁵³ for bounds up to 2²¹, so it is exact. */
  below(bound: number): number {
    return ((this.next() * bound) / 4294967296) >>> 0
  }
}

/** Shuffles in place (Fisher-Yates). */
export const shuffle = (items: Int32Array, random: Random): void => {
  for (let last = items.length - 1; last > 0; last--) {
    const other = random.below(last + 1)
    const kept = items[last]!
    items[last] = items[other]!
    items[other] = kept
  }
}

/**
 * Draws `take` of 0…size-1 without replacement, ascending, into `into`; the others go to `rest`, also ascending. One pass: each item is
 * taken with probability (still wanted / still left).
 */
export const draw = (size: number, take: number, random: Random, into: Int32Array, rest: Int32Array): void => {
  let taken = 0
  for (let item = 0; item < size; item++) {
    if (random.below(size - item) < take - taken) into[taken++] = item
    else rest[item - taken] = item
  }
}
