import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { calls, contentOf, resultsOf } from '../../support/agents/scripted-model.js'
import { AgentShop, type StreamFrame } from '../../support/agents/shop.js'
import { listen } from '../../support/connections/proxy.js'
import { send } from '../../support/service.js'

const shop = new AgentShop()

beforeAll(async () => {
  await shop.start()
  for (const table of ['cars', 'boats', 'trains']) await shop.run(`CREATE TABLE files.${table} (SELECT i AS id FROM range(40) AS t(i))`)
  const skill = { name: 'car_sales', type: 'sql', params: { database: 'files', tables: ['cars'] } }
  await send(shop.url, 'POST', '/api/projects/shop/skills', { skill })
  const away = await listen(() => undefined)
  await away.stop()
  await shop.run(
    `CREATE DATABASE crm WITH ENGINE = 'postgres', PARAMETERS = {"host": "127.0.0.1", "port": ${away.port}, "user": "u", "password": "p", "database": "d"}`,
  )
  await shop.agent('skilled', { skills: ['car_sales'], params: { mode: 'sql' } })
  await shop.agent('sailor', { data: { tables: ['files.boats'] } })
  await shop.agent('clerk', { data: { tables: ['crm.public.*'] } })
  await shop.agent('accountant', { data: { tables: ['crm.public.orders'] } })
  await shop.run('CREATE VIEW shop.lines AS (SELECT * FROM files.trains)')
  await shop.agent('reader', { data: { tables: ['shop.lines'] } })
  await shop.agent('broker', { data: { tables: ['crm.public.orders', 'files.cars'] } })
  await shop.agent('talker', {})
  expect((await send(shop.url, 'DELETE', '/api/projects/shop/skills/car_sales')).status).toBe(204)
  for (const table of ['boats', 'trains']) await shop.run(`DROP TABLE files.${table}`)
})
afterAll(() => shop.stop())
beforeEach(() => {
  shop.model.asked.length = 0
  shop.model.script = () => 'There are forty.'
})

const textOf = (frames: readonly StreamFrame[]): string => frames.flatMap(({ type, text }) => (type === 'data' ? [text] : [])).join('')
const prompt = (): string => contentOf(shop.model.asked[0]?.messages[0] ?? { content: '' })
const isTold = /begin with "No answer:" and say in one sentence what is missing/

test.each([
  ['skill', 'skilled', 'the skill car_sales, which was deleted'],
  ['table', 'sailor', 'files.boats'],
  ['connection', 'clerk', 'crm.public.* ('],
  ['table of a connection', 'accountant', 'table crm.public.orders\n  it cannot be read now: '],
  ['view of a deleted table', 'reader', 'table shop.lines\n  it cannot be read now: '],
])(
  'an agent whose only %s is gone or unreadable says that its answer rests on no data, over REST, as a stream and in SQL',
  async (_, agent, missing) => {
    const said = 'There are forty.\n\nNothing of the data that this agent may use is there now: this answer rests on no data.'
    const { body } = await shop.ask(agent, 'How many?')
    expect(body).toMatchObject({ outcome: 'unanswered', message: { content: said }, sql: [], data: [] })
    expect(prompt()).toMatch(isTold)
    expect(prompt()).toContain(missing)
    expect(prompt()).not.toContain('Run one query')
    const frames = await shop.stream(agent, 'How many?')
    expect(textOf(frames)).toBe(said)
    expect(frames.at(-1)).toMatchObject({ type: 'end', outcome: 'unanswered' })
    const [[answer, context] = []] = await shop.run(`SELECT answer, context FROM shop.${agent} WHERE question = 'How many?'`)
    expect(answer).toBe(said)
    expect(JSON.parse(String(context))).toMatchObject({ outcome: 'unanswered' })
    // The record is enough to give the same answer again.
    const { position } = body as { position: number }
    const again = await send(shop.url, 'POST', `/api/projects/shop/agents/${agent}/answers/${position}/rerun`, {})
    expect(again.body).toMatchObject({ cases: [{ result: 'same', after: { outcome: 'unanswered' } }] })
  },
)

test('a query of a table whose database is away is a step that failed, and the answer says that it rests on no data', async () => {
  const query = 'SELECT count(*) AS n FROM crm.public.orders'
  shop.model.script = (asked) => (resultsOf(asked).length === 0 ? calls(['sql', { query }]) : 'There are forty.')
  const { body } = await shop.ask('accountant', 'How many?')
  const content = 'There are forty.\n\nNo query and no search for this answer succeeded: it rests on no data.'
  expect(body).toMatchObject({ outcome: 'unanswered', message: { content }, sql: [], data: [] })
  expect(await shop.answers()).toMatchObject([
    { outcome: 'unanswered', steps: [{ kind: 'model' }, { kind: 'sql', outcome: 'failed', rows: null }, { kind: 'model' }] },
  ])
  const { position } = body as { position: number }
  const steps = `SELECT outcome, input FROM log.answer_steps WHERE position = ${position} AND kind = 'sql'`
  expect(await shop.run(steps)).toEqual([['failed', JSON.stringify({ query })]])
})

test('an agent with other data that can be read answers as before', async () => {
  shop.model.script = (asked) =>
    resultsOf(asked).length === 0 ? calls(['sql', { query: 'SELECT count(*) AS n FROM files.cars' }]) : 'There are forty.'
  expect((await shop.ask('broker', 'How many?')).body).toMatchObject({ outcome: 'answered', data: [{ rows: [[40]] }] })
})

test('what a language model says itself about missing data stays as it is', async () => {
  shop.model.script = () => 'No answer: the table of boats is missing.'
  const { body } = await shop.ask('sailor', 'How many?')
  expect(body).toMatchObject({ outcome: 'unanswered', message: { content: 'No answer: the table of boats is missing.' } })
})

test('an agent that was never granted data answers as before', async () => {
  const { body } = await shop.ask('talker', 'How many?')
  expect(body).toMatchObject({ outcome: 'answered', message: { content: 'There are forty.' } })
  expect(prompt()).not.toMatch(isTold)
})

test('the missing skill is gone from an agent that gets its skills anew', async () => {
  const path = '/api/projects/shop/agents/skilled'
  expect((await send(shop.url, 'PUT', path, { agent: { skills: [] } })).status).toBe(200)
  expect((await shop.ask('skilled', 'Hi')).body).toMatchObject({ outcome: 'answered' })
})
