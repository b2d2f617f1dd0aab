import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import { calls, contentOf } from '../../support/agents/scripted-model.js'
import { AgentShop } from '../../support/agents/shop.js'
import { listen, type Listening } from '../../support/connections/proxy.js'
import { send, type Reply } from '../../support/service.js'
import { until } from '../../support/until.js'

const shop = new AgentShop()
/** A database that accepts connections and never says a word. */
let silent: Listening

beforeAll(async () => {
  await shop.start()
  silent = await listen(() => undefined)
  await shop.run('CREATE TABLE files.cars (SELECT 1 AS id)')
  // It takes longer than any answer may.
  await shop.run('CREATE VIEW shop.endless AS (SELECT sum(a.i * b.i) AS s FROM range(10000000) a(i), range(10000000) b(i))')
})
afterAll(async () => {
  await shop.stop()
  await silent.stop()
})
beforeEach(() => {
  shop.model.asked.length = 0
  shop.model.script = () => 'Here it is.'
})

const prompt = (): string => contentOf(shop.model.asked[0]?.messages[0] ?? { content: '' })

const connect = (database: string, { port }: Listening) =>
  shop.run(
    `CREATE DATABASE ${database} WITH ENGINE = 'postgres', PARAMETERS = {"host": "127.0.0.1", "port": ${port}, "user": "u", "password": "p", "database": "d", "sslmode": "disable"}`,
  )

let silents = 0
/**
 * Asks an agent with tables of a silent database. A busy machine may need the rest of its time before the language model is asked: then
 * another agent is asked, whose database nobody has waited for.
 */
const askOver = async (tables: (database: string) => string[], timeout: number): Promise<{ reply: Reply; database: string }> => {
  for (;;) {
    const [database, agent] = [`crm_${++silents}`, `reader_${silents}`]
    await connect(database, silent)
    await shop.agent(agent, { data: { tables: tables(database) }, params: { timeout } })
    shop.model.asked.length = 0
    const reply = await shop.ask(agent, 'Hi')
    if (reply.status !== 504) return { reply, database }
  }
}

test('a database that lists no tables in time is named as missing, and the answer has the time that is left', async () => {
  const { reply, database } = await askOver((name) => [`${name}.public.*`, 'files.*'], 8)
  expect(reply).toMatchObject({ status: 200, body: { message: { content: 'Here it is.' } } })
  expect(prompt()).toContain(`${database}.public.* (It did not answer in time)`)
  expect(prompt()).toContain('table files.cars')
  // The time of an answer begins with its question: half of it was waited for the list.
  const [{ duration_ms: duration } = {}] = await shop.answers()
  expect(duration).toBeGreaterThanOrEqual(3_999)
})

test('a table of it that cannot be described in time is shown as one that cannot be read now', async () => {
  const { reply, database } = await askOver((name) => [`${name}.public.orders`], 4)
  expect(reply).toMatchObject({ status: 200 })
  expect(prompt()).toContain(`table ${database}.public.orders\n  it cannot be read now: It did not answer in time`)
})

test('an answer whose time is over before a language model is asked fails, on record, with its limit', async () => {
  await shop.agent('viewer', { data: { tables: ['shop.endless'] }, params: { timeout: 1 } })
  const { status, body } = await shop.ask('viewer', 'Late?')
  expect([status, body]).toMatchObject([504, { code: 'answer_timeout', trace_id: expect.any(String), position: expect.any(Number) }])
  expect(shop.model.asked).toHaveLength(0)
  const { position } = body as { position: number }
  expect(await shop.answers()).toMatchObject([
    { outcome: 'failed', error: 'The answer took too long', model: 'scripted', steps: [], read_at: expect.any(Number), version: 1 },
  ])
  expect(await shop.run(`SELECT question, answer, outcome FROM log.answers WHERE position = ${position}`)).toEqual([
    ['Late?', '', 'failed'],
  ])
  // It is asked again from its record as any other.
  expect(await send(shop.url, 'POST', `/api/projects/shop/agents/viewer/answers/${position}/rerun`, {})).toMatchObject({
    body: { cases: [{ result: 'same' }] },
  })
})

test('a table that another answer had no time to read is read by an answer that has time', async () => {
  await shop.agent('hurried', { data: { tables: ['shop.endless', 'files.cars'] }, params: { timeout: 1 } })
  await shop.agent('calm', { data: { tables: ['shop.endless', 'files.cars'] } })
  const hurried = shop.ask('hurried', 'Hi')
  const calm = shop.ask('calm', 'Hi')
  expect(await hurried).toMatchObject({ status: 504 })
  expect(await calm).toMatchObject({ status: 200 })
  expect(prompt()).toMatch(/table shop\.endless\n  its first rows could not be read \((?:The query|Query) took too long\)/)
})

test('a view whose rows come too late is described by its columns, and the next question does not wait for it', async () => {
  await shop.run('CREATE VIEW shop.slow AS (SELECT i AS part, s AS "the sum" FROM shop.endless, range(3) t(i))')
  await shop.agent('describer', { data: { tables: ['shop.slow'] } })
  expect(await shop.ask('describer', 'Hi')).toMatchObject({ status: 200 })
  expect(prompt()).toMatch(
    /table shop\.slow\n  its first rows could not be read .*; it can be queried, and a query may take longer\n  "part" BIGINT\n  "the sum" HUGEINT\n/,
  )
  let duration = Infinity
  // A busy machine may need as long for other reasons; a question that waits for the view needs as long each time.
  await until(async () => {
    expect(await shop.ask('describer', 'Again')).toMatchObject({ status: 200 })
    duration = Number((await shop.answers())[0]?.['duration_ms'])
    return duration < limits.agentSampleTimeoutMs
  })
  expect(duration).toBeLessThan(limits.agentSampleTimeoutMs)
})

/** Asks an agent over the stream, until the signal aborts. */
const openStream = async (agent: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> => {
  const { body } = await fetch(`${shop.url}${shop.path(agent)}/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }] }),
    signal,
  })
  if (!body) throw new Error('the stream has no body')
  return body
}

test('a stream begins before a database is waited for, and who leaves then has an aborted answer', async () => {
  // Connections of other tests end at any time.
  const own = await listen(() => undefined)
  try {
    await connect('own', own)
    await shop.agent('streamer', { data: { tables: ['own.public.*'] } })
    const left = new AbortController()
    const body = await openStream('streamer', left.signal)
    const { value } = await body.getReader().read()
    expect(new TextDecoder().decode(value)).toMatch(/^data: {"type":"start"/)
    await until(() => own.open() > 0)
    left.abort()
    await until(async () => (await shop.answers())[0]?.['outcome'] === 'aborted')
    expect(own.open()).toBeGreaterThan(0)
    expect(shop.model.asked).toHaveLength(0)
  } finally {
    await own.stop()
  }
})

describe('a tool that is cut off', () => {
  const query = 'SELECT sum(a.i * b.i) FROM range(10000000) a(i), range(10000000) b(i), files.cars'
  beforeEach(() => {
    shop.model.script = () => calls(['sql', { query }], ['sql', { query: 'SELECT 1' }])
  })

  /** The newest answer has the query as a step and as a use, which gave nothing; its record gives the same again. */
  const expectCutOff = async (agent: string, outcome: string) => {
    expect((await shop.answers())[0]).toMatchObject({
      outcome,
      steps: [{ kind: 'model' }, { kind: 'sql', name: 'sql', outcome: 'aborted', rows: null }],
    })
    const [[position] = []] = await shop.run('SELECT max(position) FROM log.answers')
    const path = `/api/projects/shop/agents/${agent}/answers/${Number(position)}`
    expect((await send(shop.url, 'GET', path)).body).toMatchObject({
      tools: [{ call: { tool: 'sql', input: JSON.stringify({ query }) }, failed: true, aborted: true }],
    })
    const steps = `SELECT kind, outcome, input FROM log.answer_steps WHERE position = ${Number(position)} AND kind = 'sql'`
    expect(await shop.run(steps)).toEqual([['sql', 'aborted', JSON.stringify({ query })]])
    expect((await send(shop.url, 'POST', `${path}/rerun`, {})).body).toMatchObject({ cases: [{ result: 'same', after: { outcome } }] })
  }

  test('by the time of its answer is a step of it', async () => {
    await shop.agent('hasty', { data: { tables: ['files.cars'] }, params: { timeout: 3 } })
    // On a busy machine its time may be over before the tool is used.
    await until(async () => {
      expect(await shop.ask('hasty', 'Late?')).toMatchObject({ status: 504, body: { code: 'answer_timeout' } })
      const [{ steps } = {}] = await shop.answers()
      return (steps as object[]).length === 2
    })
    await expectCutOff('hasty', 'failed')
  })

  test('as its client left is a step of its answer', async () => {
    await shop.agent('patient', { data: { tables: ['files.cars'] } })
    const left = new AbortController()
    const body = await openStream('patient', left.signal)
    const parts = body.pipeThrough(new TextDecoderStream()).getReader()
    for (let text = ''; !text.includes('"type":"status"');) text += (await parts.read()).value ?? ''
    left.abort()
    await until(async () => (await shop.answers())[0]?.['outcome'] === 'aborted')
    await expectCutOff('patient', 'aborted')
  })
})
