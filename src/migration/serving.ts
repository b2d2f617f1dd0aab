import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../basics/limits.js'
import { shownNodes } from '../log/shared/nodes.js'
import { ConfigError } from '../setup/config.js'

/**
 * Refuses work beside nodes that serve the log in PostgreSQL. One that was killed is heard no more, and counts as ended after
 * `nodeDeadAfterMs`: until then the call waits.
 *
 * @param otherwise another way, as a sentence; empty when there is none
 * @throws ConfigError when a node serves, PostgreSQL cannot be reached, or it has no log
 */
export const refuseWhileServed = async (url: string, otherwise = ''): Promise<void> => {
  const heard = new Map<string, number>()
  for (;;) {
    const alive = (await shownNodes(url)).filter(({ state }) => state === 'alive')
    if (alive.length === 0) return
    if (alive.some(({ run, seenAt }) => (heard.get(run) ?? seenAt.getTime()) < seenAt.getTime())) {
      const named = alive.map(({ id, address }) => address ?? id).join(', ')
      throw new ConfigError(`nodes serve this log: ${named}. End them, and run it again. ${otherwise}`.trim())
    }
    for (const { run, seenAt } of alive) heard.set(run, seenAt.getTime())
    await sleep(limits.nodeBeatMs)
  }
}
