import { setTimeout as sleep } from 'node:timers/promises'

/** Which errors are temporary, the pause before the next try in milliseconds, and whether to stop because nobody waits any more. */
type Retries = { isPassing: (error: unknown) => boolean; pauseMs: number; isOver: () => boolean; signal?: AbortSignal }

/**
 * Repeats a call while it fails with temporary errors.
 *
 * @example await retry(() => log.head(), { isPassing: isProblem, pauseMs: 1_000, isOver: () => isStopping })
 * @throws an error that is not temporary, or that comes after the stop; the signal's reason
 */
export const retry = async <T>(ask: () => Promise<T>, { isPassing, pauseMs, isOver, signal }: Retries): Promise<T> => {
  for (;;)
    try {
      return await ask()
    } catch (error) {
      signal?.throwIfAborted()
      if (!isPassing(error) || isOver()) throw error
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
      signal?.throwIfAborted()
    }
}
