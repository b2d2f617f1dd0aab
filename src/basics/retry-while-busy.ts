import { setTimeout as sleep } from 'node:timers/promises'
import { isProblem } from './errors.js'

const retryMs = 1_000

/**
 * Calls the log, and retries while its storage fails or its queue is full. For the service's own work, which no client would retry.
 *
 * @example await retryWhileBusy(() => ledger.execute(command, origin), () => this.#isStopping)
 */
export const retryWhileBusy = async <T>(ask: () => Promise<T>, isStopping: () => boolean): Promise<T> => {
  for (;;)
    try {
      return await ask()
    } catch (error) {
      const passing = isProblem(error) && (error.code === 'storage_failed' || error.code === 'busy')
      if (!passing || isStopping()) throw error
      await sleep(retryMs)
    }
}
