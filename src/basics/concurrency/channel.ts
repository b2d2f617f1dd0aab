/**
 * Items on their way from a writer to one reader, who may be slower. The writer bounds the number of items. `join` may join waiting items,
 * so that a slow reader gets a few large ones.
 *
 * @example const frames = new Channel<AnswerFrame>(joinTexts); frames.put({ type: 'text', text: '42' }); for await (const frame of frames) …
 */
export class Channel<T> implements AsyncIterable<T> {
  readonly #items: T[] = []
  #isEnded = false
  #wake: () => void = () => undefined

  constructor(private readonly join: (last: T, item: T) => T | undefined = () => undefined) {}

  put(item: T): void {
    const last = this.#items.at(-1)
    const joined = last === undefined ? undefined : this.join(last, item)
    if (joined === undefined) this.#items.push(item)
    else this.#items[this.#items.length - 1] = joined
    this.#wake()
  }

  /** Ends the channel: the reader still gets the waiting items. */
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
