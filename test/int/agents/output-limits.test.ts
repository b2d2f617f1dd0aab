import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { AgentShop } from '../../support/agents/shop.js'
import { inOneDay } from '../../support/one-day.js'
import { send, sql } from '../../support/service.js'

const shop = new AgentShop()
beforeAll(async () => {
  await inOneDay()
  await shop.start()
})
afterAll(() => shop.stop())
beforeEach(() => {
  shop.model.asked.length = 0
  shop.model.script = using(400, 100)
})

const using = (prompt_tokens: number, completion_tokens: number) => () => ({ content: 'Yes.', usage: { prompt_tokens, completion_tokens } })
const sent = () => shop.model.asked.map(({ max_tokens }) => max_tokens)

test.each<[string, object, number | undefined, number | undefined]>([
  ['many tokens are left of the answer and of the day', { tokens_per_day: 1_000_000 }, undefined, undefined],
  ['the day has few tokens', { tokens_per_day: 10_000 }, 8_192, 8_192],
  ['the day has fewer tokens than are usually reserved', { tokens_per_day: 5_000 }, 3_000, 4_900],
  ['the day has few tokens, and the agent has a limit', { tokens_per_day: 5_000, max_tokens: 300 }, 300, 300],
  ['the answer has few tokens', { max_answer_tokens: 2_000 }, 500, 1_900],
])('the limit of tokens that the model gets if %s', async (words, params, least, most) => {
  const name = words.replaceAll(/[^a-z]/g, '_')
  await shop.agent(name, { params })
  expect(await shop.ask(name, 'Hi')).toMatchObject({ status: 200, body: { outcome: 'answered' } })
  const [limit] = sent()
  if (least === undefined) expect(limit).toBeUndefined()
  else expect(limit).toBeGreaterThanOrEqual(least)
  if (most !== undefined) expect(limit).toBeLessThanOrEqual(most)
})

test('the last tokens of a day are used, until they are too few for an answer', async () => {
  await shop.agent('thrifty', { params: { tokens_per_day: 5_000 } })
  shop.model.script = using(4_000, 200)
  expect((await shop.ask('thrifty', 'Hi')).status).toBe(200)
  shop.model.script = using(500, 100)
  expect((await shop.ask('thrifty', 'Hi')).status).toBe(200)
  expect(sent()[1]).toBeLessThan(800)
  expect(await shop.ask('thrifty', 'Hi')).toMatchObject({
    status: 429,
    body: { code: 'tokens_spent', detail: expect.stringMatching(/has used 4800 of its 5000 tokens .* this needs 256$/) },
  })
})

test('a day that has too few tokens for any answer is told as such', async () => {
  await shop.agent('starved', { params: { tokens_per_day: 100 } })
  expect(await shop.ask('starved', 'Hi')).toMatchObject({
    status: 429,
    body: { title: 'The tokens of a day are too few', detail: 'the agent has 100 tokens a day (UTC), and this needs 256' },
  })
  expect(sent()).toEqual([])
})

describe('an earlier version of an agent', () => {
  const path = (name: string) => `/api/projects/shop/agents/${name}`
  const head = async () => Number((await shop.run('SELECT max(position) FROM log.events'))[0]?.[0])
  const limitTo = async (name: string, tokens_per_day: number) =>
    expect((await send(shop.url, 'PUT', path(name), { agent: { params: { tokens_per_day } } })).status).toBe(200)
  const askThen = (name: string, position: number) =>
    send(shop.url, 'POST', `${shop.path(name)}?as_of=${position}`, { messages: [{ role: 'user', content: 'Hi' }] })
  const spent = /has used 500 of its 300 tokens/

  test('has the tokens of the present one, over REST, in SQL, in a rerun and in an evaluation', async () => {
    await shop.run(`CREATE TABLE files.asked (SELECT 'Hi' AS question, 'Yes.' AS answer)`)
    await shop.agent('capped', {})
    const { body } = await shop.ask('capped', 'Hi')
    const { position } = body as { position: number }
    const then = await head()
    await limitTo('capped', 300)
    const before = sent().length
    expect(await askThen('capped', then)).toMatchObject({ status: 429, body: { detail: expect.stringMatching(spent) } })
    const inSql = await sql(shop.url, `SELECT answer FROM shop.capped AT (VERSION => ${then}) WHERE question = 'Hi'`)
    expect(inSql).toMatchObject({ type: 'error', error_message: expect.stringMatching(spent) })
    const again = await send(shop.url, 'POST', `${path('capped')}/answers/${position}/rerun`, { agent_version: 1 })
    expect(again).toMatchObject({ status: 429, body: { detail: expect.stringMatching(spent) } })
    const evaluated = await sql(shop.url, "EVALUATE AGENT shop.capped USING test_table = 'files.asked', version = 1")
    expect(evaluated.data.map((row) => row.at(-1))).toEqual([expect.stringMatching(spent)])
    expect(sent()).toHaveLength(before)
  })

  test('is asked again once the present one has more, and keeps its own limit once there is none', async () => {
    await shop.agent('former', { params: { tokens_per_day: 100 } })
    const then = await head()
    expect(await askThen('former', then)).toMatchObject({ status: 429 })
    await limitTo('former', 100_000)
    expect(await askThen('former', then)).toMatchObject({ status: 200, body: { outcome: 'answered' } })
    expect((await send(shop.url, 'DELETE', path('former'))).status).toBe(204)
    expect(await askThen('former', then)).toMatchObject({ status: 429, body: { title: 'The tokens of a day are too few' } })
  })
})
