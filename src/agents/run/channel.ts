/** Items on their way from who makes them to one reader, who may be slower. What is put in is bounded by who makes it. */
export class Channel<T> implements AsyncIterable<T> {
  readonly #items: T[] = []
  #isEnded = false
  #wake: () => void = () => undefined

  put(item: T): void {
    this.#items.push(item)
    this.#wake()
  }

  /** No more items come; those that are there are still read. */
  end(): void {
    this.#isEnded = true
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    for (;;) {
      const item = this.#items.shift()
      if (item !== undefined) yield item
      else if (this.#isEnded) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
