/** The result of a work, or another value if it takes longer. The work itself goes on. */
export const inTime = <T, L>(work: Promise<T>, timeoutMs: number, late: L): Promise<T | L> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(late), timeoutMs)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })

/**
 * The result of a work that takes no signal, unless the signal comes first. The work itself goes on.
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
