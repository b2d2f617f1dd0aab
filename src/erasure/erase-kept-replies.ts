import { stopping } from '../basics/errors.js'
import type { Log, ReplyPlace } from '../log/contract/log.js'

/**
 * Erases kept replies that contain rows, a few at a time. The event that erases rows then has to erase only the remaining ones.
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
