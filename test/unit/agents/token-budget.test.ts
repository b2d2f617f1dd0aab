import { expect, test } from '@jest/globals'
import { TokenBudget } from '../../../src/agents/run/token-budget.js'
import { refusal, stream } from '../../support/log/log.js'

const noRecords = { streamVersion: async () => 0, readStream: async () => [] }
const agent = stream(1)

test('what answers under way reserved or used counts, and what was given back does not', async () => {
  const budget = new TokenBudget(noRecords)
  const [one, other] = [budget.spending(agent, 100), budget.spending(agent, 100)]
  const settle = await one.reserve(80)
  expect(await refusal(other.reserve(30))).toBe('tokens_spent')
  settle(60)
  ;(await other.reserve(40))(0)
  expect(await refusal(other.reserve(41))).toBe('tokens_spent')
})

test('what a provider does not tell stays counted by its estimate once the answer is on record', async () => {
  const budget = new TokenBudget(noRecords)
  const silent = budget.spending(agent, 100)
  ;(await silent.reserve(50))(50)
  ;(await silent.reserve(40))(20)
  silent.recorded({ input: null, output: null })
  const next = budget.spending(agent, 100)
  expect(await refusal(next.reserve(31))).toBe('tokens_spent')
  ;(await next.reserve(30))(30)
  // The log would have it from here on.
  next.recorded({ input: 25, output: 5 })
  ;(await next.reserve(30))(0)
})

test('another day begins with nothing', async () => {
  let now = Date.UTC(2026, 0, 1, 23)
  const budget = new TokenBudget(noRecords, () => now)
  ;(await budget.spending(agent, 100).reserve(100))(100)
  expect(await refusal(budget.spending(agent, 100).reserve(1))).toBe('tokens_spent')
  now += 3_600_000
  await budget.spending(agent, 100).reserve(100)
})
