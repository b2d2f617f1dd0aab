/** What an iterator has come to: its next item, or why there is none. */
type Coming<T> = { result?: IteratorResult<T, unknown>; failure?: { error: unknown } }

/**
 * The items of an iterable as they come, and a `beat` between them whenever so many milliseconds have passed since the last one,
 * also while no item comes.
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
  const next = (): Coming<T> => {
    const coming: Coming<T> = {}
    const came = iterator.next().then(
      (result) => void (coming.result = result),
      (error: unknown) => void (coming.failure = { error }),
    )
    // Waited for once: what comes only after many beats must not gather somebody who waits at each of them.
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
    // It may be waiting for an item, and ends when its own signal says so.
    void iterator.return?.()
  }
}
