import { isProblem, type ProblemCode } from '../errors.js'
import { retry } from './retry.js'

const pauseMs = 1_000

/** Refusals of the log that pass. */
export const passing: ReadonlySet<ProblemCode> = new Set(['storage_failed', 'busy', 'behind', 'outcome_unknown'])

const isPassing = (error: unknown): boolean => isProblem(error) && passing.has(error.code)

/**
 * Calls the log, and retries while its storage fails, its queue is full or it is behind other nodes, and when it is not known whether a
 * call was recorded. For the service's own work, which no client would retry. What is asked must be safe to ask again after it was
 * recorded: a command that finds its work done decides nothing.
 *
 * @example await retryWhileBusy(() => ledger.execute(command, origin), () => this.#isStopping)
 */
export const retryWhileBusy = <T>(ask: () => Promise<T>, isStopping: () => boolean): Promise<T> =>
  retry(ask, { isPassing, pauseMs, isOver: isStopping })
