import { expect, test } from '@jest/globals'
import { agentTokenQuotas } from '../../../src/llm/tokens/agent-token-quotas.js'
import { spendingOfAll } from '../../../src/llm/tokens/daily-token-quotas.js'
import { refusal, stream } from '../../support/log/log.js'

/** A log without answers, with a clock of its own. */
const noRecords = (now: () => number) => ({ streamVersion: async () => 0, readStream: async () => [], now })
const agent = stream(1)
/** The tokens of a test are those of one day, whenever it runs. */
const noon = () => Date.UTC(2026, 0, 1, 12)

test('what answers under way reserved or used counts, and what was given back does not', async () => {
  const quotas = agentTokenQuotas(noRecords(noon))
  const [one, other] = [quotas.spending(agent, 100), quotas.spending(agent, 100)]
  const { settle } = await one.reserve(80)
  expect(await refusal(other.reserve(30))).toBe('tokens_spent')
  settle(60)
  ;(await other.reserve(40)).settle(0)
  expect(await refusal(other.reserve(41))).toBe('tokens_spent')
})

test('what a provider does not tell stays counted by its estimate once the answer is on record', async () => {
  const quotas = agentTokenQuotas(noRecords(noon))
  const silent = quotas.spending(agent, 100)
  ;(await silent.reserve(50)).settle(50)
  ;(await silent.reserve(40)).settle(20)
  silent.recorded({ input: null, output: null })
  const next = quotas.spending(agent, 100)
  expect(await refusal(next.reserve(31))).toBe('tokens_spent')
  ;(await next.reserve(30)).settle(30)
  // The log would have it from here on.
  next.recorded({ input: 25, output: 5 })
  ;(await next.reserve(30)).settle(0)
})

test('another day begins with nothing', async () => {
  let now = Date.UTC(2026, 0, 1, 23)
  const quotas = agentTokenQuotas(noRecords(() => now))
  ;(await quotas.spending(agent, 100).reserve(100)).settle(100)
  expect(await refusal(quotas.spending(agent, 100).reserve(1))).toBe('tokens_spent')
  now += 3_600_000
  await quotas.spending(agent, 100).reserve(100)
})

test('a day is one of the log, whose clock may differ from that of this node', async () => {
  const quotas = agentTokenQuotas(noRecords(() => Date.UTC(2026, 0, 1, 23)))
  ;(await quotas.spending(agent, 100).reserve(100)).settle(100)
  await expect(quotas.spending(agent, 100).reserve(1)).rejects.toMatchObject({
    code: 'tokens_spent',
    extras: { retryAfterSeconds: 3_600 },
  })
})

test('what one of two days refuses is given back to the other', async () => {
  const quotas = agentTokenQuotas(noRecords(noon))
  const [small, large] = [stream(2), stream(3)]
  const both = spendingOfAll([quotas.spending(large, 100), quotas.spending(small, 10)])
  expect(await refusal(both.reserve(50))).toBe('tokens_spent')
  ;(await both.reserve(10)).settle(8)
  ;(await quotas.spending(large, 100).reserve(92)).settle(0)
  both.recorded({ input: 8, output: 0 })
  // The log, which is empty here, would have them from here on.
  ;(await quotas.spending(small, 10).reserve(10)).settle(0)
})

test('if a day has fewer tokens than wanted, those are reserved, down to the least', async () => {
  const quotas = agentTokenQuotas(noRecords(noon))
  const [small, large] = [stream(2), stream(3)]
  const both = spendingOfAll([quotas.spending(large, 100), quotas.spending(small, 60)])
  expect(await both.reserve(50, 20)).toMatchObject({ tokens: 50, left: 60 })
  expect(await refusal(both.reserve(50, 20))).toBe('tokens_spent')
  expect(await both.reserve(50, 5)).toMatchObject({ tokens: 10, left: 10 })
  expect(await refusal(both.reserve(50, 1))).toBe('tokens_spent')
})

test('what needs more tokens than a day has is not told to come tomorrow', async () => {
  const refused = agentTokenQuotas(noRecords(noon)).spending(agent, 100).reserve(500, 101)
  await expect(refused).rejects.toMatchObject({
    title: 'The tokens of a day are too few',
    detail: 'the agent has 100 tokens a day (UTC), and this needs 101',
    extras: { hint: 'Give the agent more: tokens_per_day, or AGENT_TOKENS_PER_DAY.' },
  })
})
