import type { Log } from '../log/contract/log.js'

/**
 * Erases the kept answers that show rows, some at a time, before the event that erases rows does it for those that are left.
 *
 * @example await eraseKeptReplies(log)
 */
export const eraseKeptReplies = async (log: Pick<Log, 'eraseSomeReplies'>): Promise<void> => {
  let after = await log.eraseSomeReplies({ actor: '', key: '' })
  while (after) after = await log.eraseSomeReplies(after)
}
