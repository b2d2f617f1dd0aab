import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { someAtOnce } from '../../../src/basics/concurrency/some-at-once.js'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { calls, contentOf, questionOf, resultsOf, type Script } from '../../support/agents/scripted-model.js'
import { AgentShop } from '../../support/agents/shop.js'
import { mindledger } from '../../support/cli.js'
import { commandHere } from '../../support/command-here.js'
import { until } from '../../support/until.js'
import { countOf } from '../../support/counts.js'
import { send } from '../../support/service.js'

const shop = new AgentShop()
const agents = '/api/projects/shop/agents'

type Side = { text: string; queries: { rows: number }[]; version: number; model: string; outcome: string }
type Case = {
  of: { position: number }
  gave: { answer: string; position: number } | null
  result: string
  same_text: boolean
  same_rows: boolean | null
  before: Side
  after: Side
  detail?: string
}
type Rerun = { replayed: string; evaluation: number | null; metrics: { name: string; value: number }[]; cases: Case[]; detail?: string }

/** What a test model does: a few ways to answer, each of which leaves another record. */
const ways: readonly Script[] = [
  () => 'It is "so": naïve ☃.',
  (asked) => (resultsOf(asked).length === 0 ? calls(['sql', { query: 'SELECT count(*) AS n FROM cars' }]) : 'There are forty.'),
  (asked) =>
    resultsOf(asked).length < 2
      ? calls(['sql', { query: resultsOf(asked).length === 0 ? 'SELECT nope FROM cars' : 'SELECT max(id) AS m FROM cars' }])
      : 'The last is 39.',
  (asked) => (resultsOf(asked).length < 2 ? calls(['sql', { query: 'SELECT name FROM cars ORDER BY id LIMIT 3' }]) : 'Three of them.'),
  (asked) =>
    resultsOf(asked).length < 5 ? calls(['sql', { query: `SELECT ${'x'.repeat(3_000)} FROM cars` }]) : 'No answer: nothing works.',
  (asked) =>
    resultsOf(asked).length === 0 ? calls(['nothing', { a: 1 }], ['sql', '{broken'], ['sql', { query: 'SELECT 1 AS one' }]) : 'One.',
  (asked) => (resultsOf(asked).length < 1 ? calls(['sql', { query: 'DROP TABLE cars' }]) : 'It is gone.'),
  () => '',
  (asked) => (resultsOf(asked).length < 40 ? calls(['sql', { query: `SELECT ${resultsOf(asked).length} AS n` }]) : 'Never.'),
  () => ({ error: { message: 'out of order', type: 'invalid_request_error' }, status: 400 }),
]

const wayOf: Script = (asked) => (ways[Number(/\d+/.exec(questionOf(asked))?.[0] ?? 0) % ways.length] ?? ways[0])!(asked)

const again = async (answer: string | number, body: object = {}, agent = 'seller') => {
  const { status, body: rerun } = await send(shop.url, 'POST', `${agents}/${agent}/answers/${answer}/rerun`, body)
  return { status, ...(rerun as Rerun) }
}
const many = async (body: object, agent = 'seller') => {
  const { status, body: rerun } = await send(shop.url, 'POST', `${agents}/${agent}/reruns`, body)
  return { status, ...(rerun as Rerun) }
}
const positions = async (where = 'true'): Promise<number[]> =>
  (await shop.run(`SELECT position FROM log.answers WHERE agent = 'seller' AND ${where} ORDER BY position`)).map(([position]) =>
    Number(position),
  )
const head = async () => Number((await shop.run('SELECT max(position) FROM log.events'))[0]?.[0])
const asked = async (question: string): Promise<number> => {
  await shop.ask('seller', question)
  return (await positions("purpose = 'completion'")).at(-1) ?? 0
}

beforeAll(async () => {
  await shop.start()
  await shop.run(`CREATE TABLE files.cars (SELECT i AS id, 'car ' || i AS name FROM range(40) AS t(i))`)
  await shop.agent('seller', { data: { tables: ['files.cars'] } })
})
afterAll(() => shop.stop())
beforeEach(() => {
  shop.model.script = wayOf
})

describe('with its recorded exchanges', () => {
  test('every answer is given again to the byte, however it went, and no model is asked', async () => {
    const questions = Array.from({ length: countOf('RERUNS') }, (_, i) => `Way ${i}?`)
    await someAtOnce(questions, 4, (question) => shop.ask('seller', question))
    const all = await positions()
    expect(all).toHaveLength(questions.length)
    const outcomes = (await shop.run('SELECT DISTINCT outcome FROM log.answers ORDER BY 1')).flat()
    expect(outcomes).toEqual(['answered', 'failed', 'unanswered'])
    const before = shop.model.asked.length
    for (let i = 0; i < all.length; i += 100) {
      const { status, cases, metrics, replayed, evaluation } = await many({ answers: all.slice(i, i + 100) })
      expect({ status, replayed }).toEqual({ status: 200, replayed: 'exchanges' })
      expect(cases.filter(({ result }) => result !== 'same')).toEqual([])
      expect(metrics).toContainEqual({ name: 'same_text', value: 1 })
      expect(await shop.run(`SELECT test, replayed, cases FROM log.evaluations WHERE position = ${evaluation}`)).toEqual([
        ['rerun', 'exchanges', Math.min(100, all.length - i)],
      ])
    }
    expect(shop.model.asked).toHaveLength(before)
  })

  test('one answer is made again without a word on record, also when its table is gone', async () => {
    await shop.run('CREATE TABLE files.brief (SELECT 1 AS a)')
    await shop.agent('brief', { data: { tables: ['files.brief'] } })
    shop.model.script = (asked) => (resultsOf(asked).length === 0 ? calls(['sql', { query: 'SELECT a FROM brief' }]) : 'One.')
    await shop.ask('brief', 'Which?')
    const [[position] = []] = await shop.run(`SELECT position FROM log.answers WHERE agent = 'brief'`)
    await shop.run('DROP TABLE files.brief')
    const before = await head()
    expect(await again(Number(position), {}, 'brief')).toMatchObject({
      replayed: 'exchanges',
      evaluation: null,
      cases: [{ result: 'same', gave: null }],
    })
    expect(await head()).toBe(before)
  })

  test('an answer that nobody waited for ends where it ended', async () => {
    let goOn: () => void = () => undefined
    const isOver = new Promise<void>((resolve) => (goOn = resolve))
    shop.model.script = async () => {
      await isOver
      return 'Too late.'
    }
    const left = new AbortController()
    const asking = fetch(`${shop.url}${shop.path('seller')}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Quick?' }] }),
      signal: left.signal,
    }).catch(() => undefined)
    await until(() => shop.model.asked.some((one) => questionOf(one) === 'Quick?'))
    left.abort()
    await asking
    let found: number[] = []
    await until(async () => {
      found = await positions("outcome = 'aborted'")
      return found.length > 0
    })
    goOn()
    expect(await again(found[0]!)).toMatchObject({ cases: [{ result: 'same', after: { outcome: 'aborted' } }] })
  })
})

describe('with the outputs of its tools', () => {
  test('another model, prompt or version gets what the tools gave then, and the difference is on record', async () => {
    const position = await asked('Way 1?')
    await shop.run('CREATE OR REPLACE TABLE files.cars (SELECT i AS id, $$car $$ || i AS name FROM range(7) AS t(i))'.replaceAll('$$', "'"))
    try {
      shop.model.script = (request) =>
        resultsOf(request).length === 0
          ? calls(['sql', { query: 'SELECT count(*) AS n FROM cars' }])
          : `${request.model}: ${/\[\d+\]/.exec(resultsOf(request)[0] ?? '')?.[0]} ${contentOf(request.messages[0]!).includes('Be curt.')}`
      const { cases, evaluation, replayed } = await again(position, { model: 'other', prompt: 'Be curt.' })
      expect(replayed).toBe('tools')
      expect(cases).toMatchObject([
        {
          result: 'different',
          same_text: false,
          same_rows: true,
          before: { text: 'There are forty.', model: 'scripted' },
          after: { text: 'other: [40] true', model: 'other', queries: [{ rows: 1 }] },
        },
      ])
      const gave = cases[0]!.gave!
      expect(await shop.run(`SELECT purpose, model, answer FROM log.answers WHERE position = ${gave.position}`)).toEqual([
        ['rerun', 'other', 'other: [40] true'],
      ])
      expect(await shop.run(`SELECT test, replayed, model, cases, failed FROM log.evaluations WHERE position = ${evaluation}`)).toEqual([
        ['rerun', 'tools', 'other', 1, 0],
      ])
      // What was live reads the rows of now, or those of then.
      expect((await again(position, { replay: 'nothing' })).cases).toMatchObject([
        { same_rows: false, after: { text: 'scripted: [7] false' } },
      ])
      expect((await again(position, { replay: 'nothing', as_of: 'then' })).cases).toMatchObject([
        { same_rows: true, after: { text: 'scripted: [40] false' } },
      ])
    } finally {
      await shop.run(`CREATE OR REPLACE TABLE files.cars (SELECT i AS id, 'car ' || i AS name FROM range(40) AS t(i))`)
    }
  })

  test('what was not asked then is not run, unless that is allowed', async () => {
    const position = await asked('Way 1?')
    shop.model.script = (request) =>
      resultsOf(request).length === 0 ? calls(['sql', { query: 'SELECT min(id) AS other FROM cars' }]) : (resultsOf(request)[0] ?? '')
    const told = await again(position, { replay: 'tools' })
    expect(told.cases[0]!.after.text).toMatch(/not asked for the recorded answer/)
    expect(told.cases[0]!.after.queries).toEqual([])
    expect((await again(position, { replay: 'tools', live_tools: true })).cases[0]!.after.queries).toMatchObject([{ rows: 1 }])
  })

  test('a version of the agent is asked with its own prompt', async () => {
    await shop.agent('changing', { prompt_template: 'First words.' })
    await send(shop.url, 'PUT', `${agents}/changing`, { agent: { prompt_template: 'Second words.' } })
    shop.model.script = ({ messages }) => /(First|Second) words/.exec(contentOf(messages[0]!))?.[0] ?? 'None.'
    await shop.ask('changing', 'What?')
    const [[position] = []] = await shop.run(`SELECT position FROM log.answers WHERE agent = 'changing'`)
    expect((await again(Number(position), { agent_version: 1 }, 'changing')).cases).toMatchObject([
      { before: { text: 'Second words', version: 2 }, after: { text: 'First words', version: 1 } },
    ])
    expect(await again(Number(position), { agent_version: 9 }, 'changing')).toMatchObject({ status: 404 })
  })
})

describe('what cannot be asked again', () => {
  test('an erased answer is refused with 410, and among others it is one that failed', async () => {
    const [gone, stays] = [await asked('Way 0?'), await asked('Way 0 more?')]
    const { cases } = await again(gone, { model: 'other' })
    await send(shop.url, 'POST', '/api/log/erasures', { answer: gone })
    expect(await shop.run(`SELECT readable FROM log.answers WHERE position = ${cases[0]!.gave!.position}`)).toEqual([[false]])
    expect(await again(gone)).toMatchObject({ status: 410 })
    const rerun = await many({ answers: [gone, stays] })
    expect(rerun.cases).toMatchObject([{ result: 'failed', code: 'erased' }, { result: 'same' }])
  })

  test('at a position before the agent it is refused by its name and the position', async () => {
    const answer = await asked('Way 1, before?')
    const detail = 'Agent with name seller did not exist at position 1 of the log'
    expect(await again(answer, { replay: 'nothing', as_of: 1 })).toMatchObject({ status: 404, detail })
    const told = await commandHere(['rerun', String(answer), '--as-of', '1'], { DATA_DIR: shop.directory })
    expect(told).toMatchObject({ code: 2, err: expect.stringContaining(detail) })
  })

  test.each([
    [{ answers: Array.from({ length: 101 }, (_, i) => i + 1) }, 400],
    [{ answers: [] }, 400],
    [{}, 400],
    [{ answers: [1], query: 'SELECT 1' }, 400],
    [{ answers: [1] }, 404],
    [{ answers: ["x' OR 1=1 --"] }, 404],
    [{ query: 'DROP PROJECT shop' }, 400],
    [{ query: 'SELECT 1) AS t(ref)); DROP PROJECT shop; SELECT (SELECT 1' }, 400],
    [{ query: 'SELECT answer FROM log.answers' }, 400],
    [{ query: 'SELECT nope FROM log.answers' }, 400],
    [{ query: 'SELECT 1', as_of: 10 ** 9 }, 400],
    [{ query: 'SELECT position FROM log.answers', replay: 'exchanges', model: 'x' }, 400],
    [{ query: 'SELECT position FROM log.answers', replay: 'nothing', live_tools: true }, 400],
    [{ query: 'SELECT position FROM log.answers', replay: 'all' }, 400],
  ])('%j is refused with %d, and nothing is recorded', async (body, status) => {
    const before = await head()
    const refused = await many(body)
    expect(refused).toMatchObject({ status, detail: expect.any(String) })
    expect(await head()).toBe(before)
  })
})

describe('the command', () => {
  const env = () => ({ DATA_DIR: shop.directory })

  test('exits with 0 for the same, 1 for different and 2 for none, and shows what differs', async () => {
    const position = await asked('Way 1?')
    expect(await mindledger(['rerun', String(position)], env())).toMatchObject({ code: 0, out: expect.stringMatching(/same/) })
    shop.model.script = () => 'There are fewer.'
    const prompt = join(shop.directory, 'prompt.txt')
    writeFileSync(prompt, 'Be brief.')
    const changed = await commandHere(['rerun', String(position), '--prompt-file', prompt], env())
    expect(changed).toMatchObject({ code: 1, out: expect.stringContaining('- There are forty.\n+ There are fewer.') })
    shop.model.script = () => ({ error: { message: 'out of order', type: 'invalid_request_error' }, status: 400 })
    const failed = await commandHere(['rerun', String(position), '--prompt-file', prompt], env())
    expect(failed).toMatchObject({ code: 1, out: expect.stringMatching(/^now failed: .*out of order/m) })
    expect(await commandHere(['rerun', '999999'], env())).toMatchObject({ code: 2, err: expect.stringContaining('no answer 999999') })
    expect(await commandHere(['rerun'], env())).toMatchObject({ code: 2 })
  })

  test('finds an answer whose project has another name now, or was dropped', async () => {
    await shop.run('CREATE PROJECT stall')
    await send(shop.url, 'POST', '/api/projects/stall/agents', { agent: { name: 'crier', model: shop.model.model } })
    await send(shop.url, 'POST', '/api/projects/stall/agents/crier/completions', { messages: [{ role: 'user', content: 'Way 0?' }] })
    const [[position, projectId] = []] = await shop.run("SELECT position, project_id FROM log.answers WHERE agent = 'crier'")
    const same = { code: 0, out: expect.stringMatching(/same/) }
    await shop.run('ALTER DATABASE stall NAME = store')
    expect(await commandHere(['rerun', String(position)], env())).toMatchObject(same)
    await shop.run('DROP AGENT store.crier')
    await shop.run('DROP PROJECT store')
    expect(await commandHere(['rerun', String(position)], env())).toMatchObject(same)
    const [[stream] = []] = await shop.run("SELECT stream FROM log.events WHERE type = 'ProjectDeleted' ORDER BY position DESC LIMIT 1")
    expect(projectId).toBe(stream)
  })

  test('takes a query, which can only read', async () => {
    const [one, two] = [await asked('Way 0?'), await asked('Way 2?')]
    const query = `SELECT answer_id FROM log.answers WHERE position IN (${one}, ${two}) -- both`
    const told = await commandHere(['rerun', query, '--json'], env())
    expect({ code: told.code, cases: (JSON.parse(told.out) as Rerun).cases.length }).toEqual({ code: 0, cases: 2 })
    expect(await commandHere(['rerun', '--query', 'DROP TABLE files.cars'], env())).toMatchObject({ code: 2, err: expect.any(String) })
    expect(await shop.run('SELECT count(*) FROM files.cars')).toEqual([[40]])
  })

  test('takes a model, a version, a position and what is replayed, and shows rows, tokens and time', async () => {
    const position = await asked('Way 1?')
    const usage = { prompt_tokens: 50, completion_tokens: 7 }
    shop.model.script = (request) => {
      const [result] = resultsOf(request)
      if (result === undefined) return Object.assign(calls(['sql', { query: 'SELECT min(id) AS other FROM cars' }]), { usage })
      return { content: `${request.model}: ${/\[\d+\]|not asked/.exec(result)?.[0]}`, usage }
    }
    const told = (...options: string[]) => commandHere(['rerun', String(position), ...options], env())
    const says = (text: string) => ({ code: 1, out: expect.stringContaining(`- There are forty.\n+ ${text}`) })
    expect(await told('--model', 'other')).toMatchObject(says('other: not asked'))
    const live = await told('--replay', 'tools', '--live-tools')
    expect(live).toMatchObject(says('scripted: [0]'))
    expect(live.out).toMatch(/^\d+ +\| different \| different \| different, 1 → 1 rows +\| \d+ → 114 +\| [\d.]+ → [\d.]+ ms$/m)
    expect(await told('--replay', 'nothing', '--agent-version', '1')).toMatchObject(says('scripted: [0]'))
    expect(await told('--replay', 'nothing', '--as-of', String(position))).toMatchObject(says('scripted: [0]'))
    expect(await told('--agent-version', '9')).toMatchObject({ code: 2, err: expect.any(String) })
    expect(await told('--replay', 'all')).toMatchObject({ code: 2, err: expect.stringContaining('--replay takes') })
  })
})

test('what was compared before the client left is on record', async () => {
  const [one, two] = [await asked('Way 0, left?'), await asked('Way 0, never?')]
  let goOn: () => void = () => undefined
  const isOver = new Promise<void>((resolve) => (goOn = resolve))
  let isAsked = false
  shop.model.script = async (request) => {
    if (questionOf(request).includes('left')) return 'Now.'
    isAsked = true
    await isOver
    return 'Never.'
  }
  const left = new AbortController()
  const leaving = fetch(`${shop.url}${agents}/seller/reruns`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ answers: [one, two], replay: 'nothing' }),
    signal: left.signal,
  }).catch(() => undefined)
  const given = () => positions("purpose = 'rerun' AND question = 'Way 0, left?'")
  try {
    await until(async () => isAsked && (await given()).length === 1)
    const before = await head()
    left.abort()
    await leaving
    const summary = () => shop.run(`SELECT cases, failed FROM log.evaluations WHERE position > ${before}`)
    await until(async () => (await summary()).length > 0)
    expect(await summary()).toEqual([[2, 1]])
  } finally {
    goOn()
  }
})

describe('a request that is sent again with its key', () => {
  const keyed = (path: string, body: object, key: string) =>
    send(shop.url, 'POST', `${agents}/seller/${path}`, body, { 'idempotency-key': key })

  test('gets the same result to the byte, also at the same time, and asks nobody', async () => {
    const answer = await asked('Way 1, keyed?')
    const body = { replay: 'nothing' }
    const path = `answers/${answer}/rerun`
    const [one, two] = await Promise.all([keyed(path, body, 'rerun-1'), keyed(path, body, 'rerun-1')])
    expect(one).toMatchObject({ status: 200, body: { evaluation: expect.any(Number) } })
    const before = [shop.model.asked.length, await head()]
    const again = await keyed(path, body, 'rerun-1')
    expect([two.body, again.body]).toEqual([one.body, one.body])
    expect([shop.model.asked.length, await head()]).toEqual(before)
    expect((await keyed(path, { replay: 'tools' }, 'rerun-1')).status).toBe(422)
    const several = { answers: [answer], replay: 'nothing' }
    const first = await keyed('reruns', several, 'reruns-1')
    expect((await keyed('reruns', several, 'reruns-1')).body).toEqual(first.body)
  })

  test('an evaluation that is sent again is made once', async () => {
    await shop.run(`CREATE TABLE files.few (SELECT 'Way 0?' AS question, 'no' AS answer)`)
    const evaluate = () =>
      send(
        shop.url,
        'POST',
        '/api/sql/query',
        { query: "EVALUATE AGENT shop.seller USING test_table = 'files.few'" },
        { 'idempotency-key': 'ev-1' },
      )
    const made = await Promise.all([evaluate(), evaluate()])
    made.push(await evaluate())
    expect(new Set(made.map(({ body }) => JSON.stringify(body))).size).toBe(1)
    expect(await shop.run("SELECT count(*) FROM log.evaluations WHERE test = 'table'")).toEqual([[1]])
  })
})

test('an answer that was asked again and never evaluated, as after a crash, is erased with the recorded one', async () => {
  const recorded = await asked('Way 2, cut off?')
  expect((await again(recorded, { replay: 'nothing' })).status).toBe(200)
  const [[given, causation] = []] = await shop.run(
    `SELECT e.position, e.causation FROM log.events AS e WHERE e.type = 'AgentAnswered' AND (e.data->>'$.purpose') = 'rerun' ORDER BY position DESC LIMIT 1`,
  )
  expect(causation).toBe(`event/${recorded}`)
  // Only the link of the event itself counts: the evaluation is erased first.
  const [[evaluation] = []] = await shop.run('SELECT max(position) FROM log.evaluations')
  expect((await send(shop.url, 'POST', '/api/log/erasures', { answer: evaluation })).status).toBeLessThan(300)
  expect((await send(shop.url, 'POST', '/api/log/erasures', { answer: recorded })).status).toBeLessThan(300)
  expect(await shop.run(`SELECT readable FROM log.answers WHERE position IN (${recorded}, ${String(given)})`)).toEqual([[false], [false]])
})
