import { stopping } from '../basics/errors.js'
import type { Log, ReplyPlace } from '../log/contract/log.js'

/**
 * Erases the kept answers that show rows, some at a time, before the event that erases rows does it for those that are left.
 *
 * @example await eraseKeptReplies(log, () => isStopping)
 * @throws Problem 503 when the service stops meanwhile
 */
export const eraseKeptReplies = async (log: Pick<Log, 'eraseSomeReplies'>, isStopping: () => boolean): Promise<void> => {
  let after: ReplyPlace | undefined = { actor: '', key: '' }
  while (after) {
    if (isStopping()) throw stopping()
    after = await log.eraseSomeReplies(after)
  }
}
