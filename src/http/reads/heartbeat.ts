/** The state of a pending `next()`: its result, or the error. */
type PendingResult<T> = { result?: IteratorResult<T, unknown>; failure?: { error: unknown } }

/**
 * Yields the items of an iterable as they arrive, and a `beat` every `everyMs` milliseconds, even while no item arrives.
 *
 * @example for await (const step of withBeats(feed.forwards(filter, window), 15_000)) if (step === 'beat') …
 */
export async function* withBeats<T>(items: AsyncIterable<T>, everyMs: number): AsyncGenerator<T | 'beat', void, void> {
  const iterator = items[Symbol.asyncIterator]()
  const beat = { isDue: false, wake: () => {} }
  const timer = setInterval(() => {
    beat.isDue = true
    beat.wake()
  }, everyMs)
  const next = (): PendingResult<T> => {
    const coming: PendingResult<T> = {}
    const came = iterator.next().then(
      (result) => void (coming.result = result),
      (error: unknown) => void (coming.failure = { error }),
    )
    // One callback per item: a callback for each beat would leak memory while a slow item is pending.
    void came.then(() => beat.wake())
    return coming
  }
  try {
    for (let coming = next(); ;) {
      await new Promise<void>((resolve) => {
        beat.wake = resolve
        if (beat.isDue || coming.result || coming.failure) resolve()
      })
      if (coming.failure) throw coming.failure.error
      if (beat.isDue) {
        beat.isDue = false
        yield 'beat'
      }
      if (!coming.result) continue
      if (coming.result.done) return
      yield coming.result.value
      coming = next()
    }
  } finally {
    clearInterval(timer)
    // Not awaited: the iterator may be waiting for an item, and its own signal ends it.
    void iterator.return?.()
  }
}
