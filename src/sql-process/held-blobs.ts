import type { HeldBlob } from '../files/blob-store.js'
import type { BlobQuestion } from '../sql/contract/connected.js'
import type { HoldBlob } from './contract/options.js'

/** The blobs whose files queries read: each file stays until its query has ended. An ended process holds none. */
export class HeldBlobs {
  readonly #held = new Map<number, HeldBlob[]>()
  #isOver = false
  /** Queries that ended while a blob was being fetched for them. */
  readonly #fetching = new Map<number, { isEnded: boolean; count: number }>()

  constructor(private readonly holdBlob: HoldBlob) {}

  /** @throws Problem not_found, storage_failed */
  async hold(query: number, { blob }: BlobQuestion): Promise<BlobQuestion> {
    const fetching = this.#fetching.get(query) ?? { isEnded: false, count: 0 }
    fetching.count += 1
    this.#fetching.set(query, fetching)
    try {
      const held = await this.holdBlob(blob)
      if (fetching.isEnded || this.#isOver) held.release()
      else this.#held.set(query, [...(this.#held.get(query) ?? []), held])
      return { blob }
    } finally {
      fetching.count -= 1
      if (fetching.count === 0) this.#fetching.delete(query)
    }
  }

  /** A query has ended. */
  release(query: number): void {
    const fetching = this.#fetching.get(query)
    if (fetching) fetching.isEnded = true
    for (const { release } of this.#held.get(query) ?? []) release()
    this.#held.delete(query)
  }

  /** The process has ended, and all queries with it. */
  releaseAll(): void {
    this.#isOver = true
    for (const query of [...this.#held.keys()]) this.release(query)
  }
}
