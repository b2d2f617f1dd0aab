import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { pino } from 'pino'
import { Problem } from '../../../src/basics/errors.js'
import { startService, type Service } from '../../../src/main.js'
import { readConfig } from '../../../src/setup/config.js'
import { ScriptedModel } from '../../support/agents/scripted-model.js'
import { send, sql, temporaryDirectory } from '../../support/service.js'
import { until } from '../../support/until.js'

type Line = { level: number; msg: string; answer?: string }

const model = new ScriptedModel()
const agents = '/api/projects/mindsdb/agents'
let directory: ReturnType<typeof temporaryDirectory>
let service: Service
let closed: Promise<void> | undefined
let lines: Line[]

beforeAll(() => model.start())
afterAll(() => model.stop())
beforeEach(async () => {
  lines = []
  closed = undefined
  model.asked.length = 0
  directory = temporaryDirectory()
  const logger = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line) as Line) })
  service = await startService(readConfig({ PORT: '0', DATA_DIR: directory.path }), logger)
  await send(service.url, 'POST', agents, { agent: { name: 'helper', model: model.model } })
})
afterEach(async () => {
  await close()
  directory.remove()
})

const close = () => (closed ??= service.close())
const ask = (headers: Record<string, string> = {}) =>
  send(service.url, 'POST', `${agents}/helper/completions`, { messages: [{ role: 'user', content: 'Hi' }] }, headers)
const recorded = async () => (await sql(service.url, 'SELECT outcome FROM log.answers')).data

/** Lets the log fail at the next records: `refused` ones are not recorded, `forgotten` ones are. Returns how many failures are left. */
const failing = (...failures: ('refused' | 'forgotten')[]): (() => number) => {
  const { log } = service
  const submit = log.submit.bind(log)
  log.submit = async (submission) => {
    const failure = submission.payloads.length > 0 ? failures.shift() : undefined
    if (failure === 'refused') throw new Problem('storage_failed', 'Storage failed', 'the log is away')
    const outcome = await submit(submission)
    if (failure === 'forgotten') throw new Problem('outcome_unknown', 'Outcome unknown', 'the answer of the log was lost')
    return outcome
  }
  return () => failures.length
}

test.each<[string, Record<string, string>]>([
  ['without a key', {}],
  ['with a key', { 'idempotency-key': 'k-1' }],
])('an answer that ends while the log is away is recorded when it is back, and once: a request %s', async (_, headers) => {
  failing('refused', 'forgotten')
  expect(await ask(headers)).toMatchObject({ status: 200, body: { message: { content: 'Hello.' } } })
  expect(await recorded()).toEqual([['answered']])
  expect(model.asked).toHaveLength(1)
})

test('an answer that fails while the log is away is recorded when it is back, and once', async () => {
  model.script = () => ({ error: { message: 'no' }, status: 401 })
  try {
    failing('forgotten')
    expect(await ask({ 'idempotency-key': 'k-2' })).toMatchObject({ status: 502, body: { title: 'Key refused' } })
    expect(await recorded()).toEqual([['failed']])
  } finally {
    model.script = () => 'Hello.'
  }
})

test('a search that asked a reranking model is recorded when the log is back, and once', async () => {
  const bases = '/api/projects/mindsdb/knowledge_bases'
  await send(service.url, 'POST', bases, { knowledge_base: { name: 'attic', reranking_model: model.model } })
  await send(service.url, 'PUT', `${bases}/attic`, { knowledge_base: { rows: [{ id: 'a', content: 'a lamp' }] } })
  model.script = () => '[5]'
  try {
    failing('refused', 'forgotten')
    expect((await send(service.url, 'POST', `${bases}/attic/completions`, { query: 'lamp', type: 'context' })).status).toBe(200)
    expect((await sql(service.url, 'SELECT outcome, question FROM log.knowledge_searches')).data).toEqual([['complete', 'lamp']])
    expect(model.asked).toHaveLength(1)
  } finally {
    model.script = () => 'Hello.'
  }
})

test('an evaluation is recorded when the log is back, and once', async () => {
  await sql(service.url, `CREATE TABLE files.questions (SELECT 'Hi' AS question, 'Hello.' AS answer)`)
  const { log } = service
  const submit = log.submit.bind(log)
  let refused = 0
  log.submit = async (submission) => {
    // The first record is that of the answer.
    if (submission.payloads.length > 0 && refused++ === 1) throw new Problem('storage_failed', 'Storage failed', 'the log is away')
    return submit(submission)
  }
  const { data } = await sql(service.url, "EVALUATE AGENT mindsdb.helper USING test_table = 'files.questions'")
  expect(data).toHaveLength(1)
  expect((await sql(service.url, 'SELECT cases, failed FROM log.evaluations')).data).toEqual([[1, 0]])
})

test('an answer that is not recorded before the service stops is lost, and the log of the service says so', async () => {
  const left = failing(...Array.from({ length: 1_000 }, () => 'refused' as const))
  const asking = ask()
  await until(() => left() < 1_000)
  await close()
  expect(await asking).toMatchObject({ status: 503, body: { code: 'storage_failed' } })
  expect(lines.filter(({ msg }) => msg === 'an answer was not recorded')).toMatchObject([{ level: 50, answer: expect.any(String) }])
})
