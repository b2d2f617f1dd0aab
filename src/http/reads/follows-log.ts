import { unreachable } from '../../../events/common.js'
import { limits } from '../../basics/limits.js'
import type { Log } from '../../log/contract/log.js'

type Options = {
  /** Whether this node answers reads from its own data while PostgreSQL is away. */
  readsLocally: boolean
  /** Milliseconds of a clock that only goes forward. */
  elapsed?: () => number
}

/**
 * Makes a function that says whether this node still gets the events of other nodes. A node that left the shared log never gets them again.
 * One that cannot reach PostgreSQL may be the only one that is cut off, so it counts as following for a short time only, unless reads are
 * local. The function learns of an absence when it is called.
 *
 * @example const follows = followsLog(log, { readsLocally: false }); if (!(await follows())) return // another node has the next events
 */
export const followsLog = (
  log: Pick<Log, 'health'>,
  { readsLocally, elapsed = () => performance.now() }: Options,
): (() => Promise<boolean>) => {
  let awaySince: number | undefined
  let calledAt = -Infinity
  return async () => {
    const { shared } = await log.health()
    const state = shared?.state ?? 'following'
    // Nobody looked for longer: the node may have followed in between.
    if (state !== 'unreachable' || elapsed() - calledAt > 2 * limits.eventStreamHeartbeatMs) awaySince = undefined
    calledAt = elapsed()
    switch (state) {
      case 'following':
        return true
      case 'outdated':
      case 'other_log':
        return false
      case 'unreachable':
        awaySince ??= elapsed()
        return readsLocally || elapsed() - awaySince <= limits.eventStreamAwayMaxMs
      default:
        return unreachable(state)
    }
  }
}
