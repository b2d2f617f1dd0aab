import { Problem } from '../../basics/errors.js'

/** A chunk and its similarity: the cosine of the angle between its vector and the query. */
export type VectorHit = { key: number; similarity: number }

/** The product of two vectors; the second begins at an offset. Both have length 1, so this is the cosine of their angle. */
export const dot = (one: Float32Array, all: Float32Array, at: number): number => {
  let [a, b, c, d] = [0, 0, 0, 0]
  const whole = one.length - (one.length % 4)
  for (let i = 0; i < whole; i += 4) {
    a += (one[i] ?? 0) * (all[at + i] ?? 0)
    b += (one[i + 1] ?? 0) * (all[at + i + 1] ?? 0)
    c += (one[i + 2] ?? 0) * (all[at + i + 2] ?? 0)
    d += (one[i + 3] ?? 0) * (all[at + i + 3] ?? 0)
  }
  for (let i = whole; i < one.length; i++) a += (one[i] ?? 0) * (all[at + i] ?? 0)
  return a + b + c + d
}

/** Collects the best of many hits without sorting all of them. */
export class BestHits {
  /** A heap whose first item is the worst hit. */
  readonly #heap: VectorHit[] = []

  constructor(private readonly limit: number) {}

  /** Keeps a hit if it is one of the best so far. */
  offer(key: number, similarity: number): void {
    const heap = this.#heap
    if (heap.length < this.limit) {
      heap.push({ key, similarity })
      this.#up(heap.length - 1)
    } else if (this.limit > 0 && similarity > (heap[0]?.similarity ?? Infinity)) {
      heap[0] = { key, similarity }
      this.#down(0)
    }
  }

  /** The hits, the best first; equal ones by their keys. */
  sorted(): VectorHit[] {
    return [...this.#heap].sort((one, other) => other.similarity - one.similarity || one.key - other.key)
  }

  #isWorse(i: number, j: number): boolean {
    return (this.#heap[i]?.similarity ?? Infinity) < (this.#heap[j]?.similarity ?? Infinity)
  }

  #swap(i: number, j: number): void {
    const [one, other] = [this.#heap[i], this.#heap[j]]
    if (one && other) [this.#heap[i], this.#heap[j]] = [other, one]
  }

  #up(i: number): void {
    for (let at = i; at > 0;) {
      const parent = (at - 1) >> 1
      if (!this.#isWorse(at, parent)) return
      this.#swap(at, parent)
      at = parent
    }
  }

  #down(i: number): void {
    for (let at = i; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2]
      let worst = at
      if (left < this.#heap.length && this.#isWorse(left, worst)) worst = left
      if (right < this.#heap.length && this.#isWorse(right, worst)) worst = right
      if (worst === at) return
      this.#swap(at, worst)
      at = worst
    }
  }
}

/** The vector scaled to length 1; a vector of zeros stays as it is. */
export const normalised = (vector: Float32Array): Float32Array => {
  const length = Math.sqrt(dot(vector, vector, 0))
  return length === 0 ? vector : vector.map((value) => value / length)
}

/** @throws Problem for a vector of another length than the existing ones */
export const checkLength = ({ length }: Float32Array, dimensions: number | null): void => {
  if (dimensions !== null && length !== dimensions)
    throw new Problem(
      'llm_failed',
      'Other embeddings',
      `the embedding model gives vectors of ${length} numbers; those that are there have ${dimensions}`,
      { hint: 'Use the model that the documents were inserted with, or create another knowledge base.' },
    )
}
