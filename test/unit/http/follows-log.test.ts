import { expect, test } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import { followsLog } from '../../../src/http/reads/follows-log.js'
import type { LogHealth, SharedHealth } from '../../../src/log/contract/log.js'

/** A node whose state and clock a test sets. */
const nodeWith = (readsLocally: boolean) => {
  const node: { state: SharedHealth['state'] | undefined; ms: number } = { state: 'following', ms: 0 }
  const health = (): Promise<LogHealth> =>
    Promise.resolve({
      ...{ position: 1, queued: 0, unwritable: undefined },
      ...(node.state && { shared: { state: node.state, lag: { batches: 0, events: 0 } } }),
    })
  return { node, follows: followsLog({ health }, { readsLocally, elapsed: () => node.ms }) }
}

test.each([false, true])(
  'a node that left the log gets no more events, and one without others always does (READS=local: %s)',
  async (local) => {
    const { node, follows } = nodeWith(local)
    expect(await follows()).toBe(true)
    for (const state of ['outdated', 'other_log'] as const) {
      node.state = state
      expect(await follows()).toBe(false)
    }
    node.state = undefined
    expect(await follows()).toBe(true)
  },
)

test('a node that cannot reach PostgreSQL counts as following for a time, which begins anew with each absence', async () => {
  const { node, follows } = nodeWith(false)
  for (let absence = 0; absence < 2; absence++) {
    node.state = 'unreachable'
    expect(await follows()).toBe(true)
    node.ms += limits.eventStreamAwayMaxMs
    expect(await follows()).toBe(true)
    node.ms += 1
    expect(await follows()).toBe(false)
    node.state = 'following'
    expect(await follows()).toBe(true)
  }
})

test('with local reads it goes on, however long PostgreSQL is away', async () => {
  const { node, follows } = nodeWith(true)
  node.state = 'unreachable'
  expect(await follows()).toBe(true)
  node.ms += 100 * limits.eventStreamAwayMaxMs
  expect(await follows()).toBe(true)
})
