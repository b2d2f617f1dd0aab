import { setTimeout as sleep } from 'node:timers/promises'
import { isProblem, type ProblemCode } from './errors.js'

const retryMs = 1_000

/** Refusals of the log that pass. */
export const passing: ReadonlySet<ProblemCode> = new Set(['storage_failed', 'busy', 'behind', 'outcome_unknown'])

/**
 * Calls the log, and retries while its storage fails, its queue is full or it is behind other nodes, and when it is not known whether a
 * call was recorded. For the service's own work, which no client would retry. What is asked must be safe to ask again after it was
 * recorded: a command that finds its work done decides nothing.
 *
 * @example await retryWhileBusy(() => ledger.execute(command, origin), () => this.#isStopping)
 */
export const retryWhileBusy = async <T>(ask: () => Promise<T>, isStopping: () => boolean): Promise<T> => {
  for (;;)
    try {
      return await ask()
    } catch (error) {
      if (!isProblem(error) || !passing.has(error.code) || isStopping()) throw error
      await sleep(retryMs)
    }
}
