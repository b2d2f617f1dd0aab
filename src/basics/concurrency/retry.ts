import { setTimeout as sleep } from 'node:timers/promises'

/** Which errors pass, how long to wait for that in milliseconds, and when nobody waits any more. */
type Retries = { isPassing: (error: unknown) => boolean; pauseMs: number; isOver: () => boolean; signal?: AbortSignal }

/**
 * Asks again while it fails with errors that pass.
 *
 * @example await retry(() => log.head(), { isPassing: isProblem, pauseMs: 1_000, isOver: () => isStopping })
 * @throws an error that does not pass, or that comes when it is over; the signal's reason
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
