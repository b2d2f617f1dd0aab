import { isProblem, type ProblemCode } from '../errors.js'
import { retry } from './retry.js'

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
