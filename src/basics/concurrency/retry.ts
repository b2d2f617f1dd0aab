import { setTimeout as sleep } from 'node:timers/promises'
import { isProblem, type ProblemCode } from '../errors.js'

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

const pauseMs = 1_000

/** Temporary refusals of the log. */
const passing: ReadonlySet<ProblemCode> = new Set(['storage_failed', 'busy', 'behind', 'outcome_unknown'])

/** Whether the log refused for a moment only. */
export const isBusy = (error: unknown): boolean => isProblem(error) && passing.has(error.code)

/**
 * Calls the log, and retries while its storage fails, its queue is full or it is behind other nodes, and also when it is unknown whether a
 * call was recorded. It is for the service's own work, which no client would retry. The call must be safe to repeat after it was recorded:
 * a command that finds its work done records nothing.
 *
 * @example await retryWhileBusy(() => ledger.execute(command, origin), () => this.#isStopping)
 */
export const retryWhileBusy = <T>(ask: () => Promise<T>, isStopping: () => boolean, isPassing = isBusy): Promise<T> =>
  retry(ask, { isPassing, pauseMs, isOver: isStopping })
