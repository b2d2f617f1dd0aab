/** Room: turns, shares, deadlines and retries. It imports only basics. */

import { setMaxListeners } from 'node:events'

/**
 * The result of a promise, or another value if it takes longer than a time in milliseconds. The work itself goes on.
 *
 * @example await inTime(child.exit, 5_000, undefined)
 */
export const inTime = <T, L>(work: Promise<T>, timeoutMs: number, late: L): Promise<T | L> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(late), timeoutMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })

/**
 * Aborts a controller with the first of some signals, and for its reason. The returned function ends this. `AbortSignal.any` would leave a
 * reference in each signal, and one that lives as long as the process would collect them.
 *
 * @example
 * const ends = new AbortController()
 * const release = abortWith(ends, [gone, stopping])
 * try { await work(ends.signal) } finally { release() }
 */
export const abortWith = (controller: AbortController, signals: readonly AbortSignal[]): (() => void) => {
  const look = () => {
    const first = signals.find((signal) => signal.aborted)
    if (first) controller.abort(first.reason)
  }
  // Many pieces of work may wait for one signal at the same time.
  setMaxListeners(0, ...signals)
  for (const signal of signals) signal.addEventListener('abort', look)
  look()
  return () => {
    for (const signal of signals) signal.removeEventListener('abort', look)
  }
}

/**
 * Runs work under a signal that also aborts after a time, in milliseconds. Unlike `inTime` it tells the work to stop, and waits until it
 * has stopped.
 *
 * @example await withDeadline(60_000, signal, (bounded) => fetch(url, { signal: bounded }))
 */
export const withDeadline = async <T>(ms: number, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const late = new AbortController()
  const release = abortWith(late, [signal])
  const timer = setTimeout(() => late.abort(), ms)
  try {
    return await work(late.signal)
  } finally {
    clearTimeout(timer)
    release()
  }
}

/**
 * The result of work that takes no signal, unless the signal aborts first. The work itself goes on.
 *
 * @throws what `late` makes, usually the reason of the signal
 */
export const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal, late = () => signal.reason as Error): Promise<T> =>
  new Promise((resolve, reject) => {
    const stop = () => reject(late())
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })

/**
 * The reason for an abort after the end of work, which closes everything that is still open. One shared reason is cheaper than a new one
 * each time.
 */
export const over = new Error('it has ended')

/**
 * Waits for pieces of work that take no signal, one after the other; the signal ends each wait. It listens to the signal once for all of
 * them: with many short pieces, listening each time would cost more than the wait itself.
 *
 * @example
 * const waiting = new AbortableWait(signal)
 * try { while ((await waiting.for(parts.next())).done !== true) … } finally { waiting.end() }
 */
export class AbortableWait {
  #reject: (reason: unknown) => void = () => undefined
  readonly #stop = () => this.#reject(this.signal.reason)

  constructor(private readonly signal: AbortSignal) {
    signal.addEventListener('abort', this.#stop, { once: true })
  }

  /** The result of one piece of work, after the piece before has ended. The work itself goes on. @throws the reason of the signal */
  for<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      if (this.signal.aborted) this.#stop()
      work.then(resolve, reject)
    })
  }

  end(): void {
    this.signal.removeEventListener('abort', this.#stop)
  }
}
