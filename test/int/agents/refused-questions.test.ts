import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { AgentShop } from '../../support/agents/shop.js'
import { send } from '../../support/service.js'

const shop = new AgentShop()

beforeAll(() => shop.start({ AGENT_TOKENS_PER_DAY: '5000' }))
afterAll(() => shop.stop())

const local = { provider: 'openai_compatible', model_name: 'm' }
const unreachable = { ...local, base_url: 'http://127.0.0.1:9/v1' }

test.each([
  ['has no language model', {}, 502, 'llm_failed'],
  ['names a provider that nobody knows', { model: { provider: 'nobody', model_name: 'm' } }, 502, 'llm_failed'],
  ['has no key', { model: { provider: 'openai', model_name: 'gpt-4o' } }, 502, 'llm_failed'],
  ['has no address', { model: local }, 502, 'llm_failed'],
  ['has an address that is none', { model: { ...local, base_url: 'nowhere' } }, 502, 'llm_failed'],
  ['has no tokens left', { model: unreachable, params: { tokens_per_day: 10 } }, 429, 'tokens_spent'],
])('a question to an agent that %s is refused before its answer begins, and not recorded', async (what, agent, status, code) => {
  const name = what.replaceAll(/\W+/g, '_')
  const made = await send(shop.url, 'POST', '/api/projects/shop/agents', { agent: { name, ...agent } })
  expect(made.status).toBe(201)
  const refused = await shop.ask(name, 'Hi')
  expect(refused).toMatchObject({ status, body: { code } })
  expect(refused.body).not.toHaveProperty('trace_id')
  const streamed = await send(shop.url, 'POST', `${shop.path(name)}/stream`, { messages: [{ role: 'user', content: 'Hi' }] })
  expect(streamed.status).toBe(status)
  expect(await shop.answers()).toEqual([])
})

test('a call that no language model answered uses no tokens of the day', async () => {
  await shop.agent('turned_away', { params: { tokens_per_day: 1_500, max_tokens: 1_000 } })
  shop.model.script = () => ({ error: { message: 'not now' }, status: 401 })
  for (let i = 0; i < 4; i++) expect(await shop.ask('turned_away', 'Hi')).toMatchObject({ status: 502, body: { title: 'Key refused' } })
  shop.model.script = () => 'Hello.'
  expect((await shop.ask('turned_away', 'Hi')).status).toBe(200)
})
