import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import { calls, contentOf, questionOf, resultsOf, type Script } from '../../support/agents/scripted-model.js'
import { AgentShop } from '../../support/agents/shop.js'
import { filesUnder, tracesInFiles } from '../../support/observe/traces.js'
import { send, sql } from '../../support/service.js'
import { until } from '../../support/until.js'

const shop = new AgentShop()

const query =
  (text: string, say: string): Script =>
  (asked) =>
    resultsOf(asked).length === 0 ? calls(['sql', { query: text }]) : say

/** What the scripted model says to each question of the table. */
const said: Record<string, Script> = {
  'How many cars?': query('SELECT count(*) FROM cars', '  40 cars. '),
  'Which are first?': query('SELECT name FROM cars WHERE id < 2 ORDER BY id DESC', 'Car 0 and car 1'),
  'What does it cost?': () => 'No answer: there are no prices.',
  'Out of order?': () => ({ error: { message: 'out of order', type: 'invalid_request_error' }, status: 400 }),
}
const isJudged = (asked: Parameters<Script>[0]) => contentOf(asked.messages[0] ?? { content: '' }).startsWith('You judge')

beforeAll(async () => {
  await shop.start()
  await shop.run(`CREATE TABLE files.cars (SELECT i AS id, 'car ' || i AS name FROM range(40) AS t(i))`)
  await shop.run(`CREATE TABLE files.secrets (SELECT 'hunter2' AS word)`)
  await shop.run(
    `CREATE TABLE files.questions (SELECT * FROM (VALUES
      (1, 'How many cars?', '40 CARS', 'SELECT count(id) AS n FROM files.cars'),
      (2, 'Which are first?', 'car 0', 'SELECT name FROM files.cars WHERE id IN (0, 1)'),
      (3, 'What does it cost?', NULL, 'SELECT word FROM files.secrets'),
      (4, 'Out of order?', 'no', NULL)) AS t(id, question, answer, sql))`,
  )
  await shop.agent('seller', { data: { tables: ['files.cars'] } })
})
afterAll(() => shop.stop())
beforeEach(() => {
  shop.model.asked.length = 0
  shop.model.script = (asked) =>
    isJudged(asked) ? '{"verdict": "good", "reason": "Right."}' : (said[questionOf(asked)] ?? (() => 'What?'))(asked)
})

const evaluate = (using: string) => sql(shop.url, `EVALUATE AGENT shop.seller USING ${using}`)

describe('an agent that is asked the questions of a table', () => {
  test('has a row for each with its scores, each answer on record, and an event that sums it up', async () => {
    const answer = await evaluate(`test_table = 'files.questions'`)
    expect(answer.error_message).toBeUndefined()
    expect(answer.column_names).toEqual(['question', 'expected', 'answer', 'outcome', 'exact', 'result_set', 'sql', 'answer_id', 'note'])
    expect(answer.data.map((row) => [row[0], row[3], row[4], row[5]])).toEqual([
      ['How many cars?', 'answered', 1, 1],
      ['Which are first?', 'answered', 0, 1],
      // The expected query is bound to what the agent may read.
      ['What does it cost?', 'unanswered', null, null],
      ['Out of order?', 'failed', 0, null],
    ])
    expect(answer.data[2]?.[8]).toMatch(/result_set: .*secrets/)
    expect(await shop.run(`SELECT purpose, count(*) FROM log.answers GROUP BY 1`)).toEqual([['evaluation', 4]])
    const [[position, test, version, cases, failed, metrics] = []] = await shop.run(
      'SELECT position, test, version, cases, failed, metrics FROM log.evaluations',
    )
    expect([test, version, cases, failed]).toEqual(['table', 1, 4, 1])
    expect(JSON.parse(String(metrics))).toEqual([
      { name: 'exact', value: 1 / 3 },
      { name: 'result_set', value: 1 },
    ])
    expect(await shop.run(`SELECT count(*) FROM log.evaluation_cases WHERE position = ${Number(position)}`)).toEqual([[4]])
  })

  test('is judged by a language model, which reads the answer as data and says why', async () => {
    const { base_url, api_key } = shop.model.model
    const judge = JSON.stringify({ provider: 'openai_compatible', model_name: 'strict', base_url, api_key })
    shop.model.script = (asked) =>
      isJudged(asked)
        ? `Here: {"verdict": "${contentOf(asked.messages[1]!).includes('40 cars') ? 'good' : 'bad'}", "reason": "So it is."}`
        : (said[questionOf(asked)] ?? (() => 'What?'))(asked)
    const answer = await evaluate(`test_table = 'files.questions', metrics = 'judge', judge = ${judge}`)
    expect(answer.error_message).toBeUndefined()
    expect(answer.data.slice(0, 2).map((row) => [row[4], row[5]])).toEqual([
      [1, 'So it is.'],
      [0, 'So it is.'],
    ])
    // An answer that failed is bad, and nobody is asked or paid to say so.
    expect(answer.data[3]?.slice(3, 6)).toEqual(['failed', 0, null])
    const questions = shop.model.asked.filter(isJudged).map(({ messages }) => contentOf(messages[1]!))
    expect(questions).toHaveLength(3)
    expect(questions.join('')).not.toContain('Out of order?')
    const judged = shop.model.asked.find(isJudged)!
    expect(judged.model).toBe('strict')
    expect(contentOf(judged.messages[1]!)).toMatch(/^<data-[0-9a-f]{16} question>/)
    // The key of the judge is nowhere on record.
    expect(await shop.run(`SELECT count(*) FROM log.events WHERE data LIKE '%${api_key}%'`)).toEqual([[0]])
  })

  test('has no score from a judge that used its tokens for thoughts, and the note says so', async () => {
    await shop.run(`CREATE TABLE files.one_question (SELECT 'How many cars?' AS question, '40' AS answer)`)
    shop.model.script = (asked) => (isJudged(asked) ? { content: '<think>Well', finishReason: 'length' } : 'Forty.')
    const judging = `metrics = 'judge', judge = ${JSON.stringify(shop.model.model)}`
    const { column_names: names, data } = await evaluate(`test_table = 'files.one_question', ${judging}`)
    const [row = []] = data
    expect(row[names.indexOf('judge')]).toBeNull()
    expect(row[names.indexOf('note')]).toMatch(/^judge: the language model reached its limit of tokens/)
    expect(shop.model.asked.find(isJudged)).toMatchObject({ max_tokens: limits.evaluationJudgeOutputMaxTokens })
    shop.model.script = () => 'Hm.'
    const [other = []] = (await evaluate(`test_table = 'files.one_question', ${judging}`)).data
    expect(other[names.indexOf('note')]).toBe('judge: the language model said neither good nor bad')
  })

  test('is asked as the version that is named, and columns may have other names', async () => {
    await shop.agent('changing', { prompt_template: 'First words.' })
    await shop.run(`UPDATE AGENT shop.changing SET prompt_template = 'Second words.'`)
    await shop.run(`CREATE TABLE files.other (SELECT 'Which words?' AS asked, 'first words' AS wanted)`)
    shop.model.script = ({ messages }) => /(First|Second) words/.exec(contentOf(messages[0]!))?.[0] ?? 'None.'
    const scores = async (version: string) =>
      (
        await sql(
          shop.url,
          `EVALUATE AGENT shop.changing USING test_table = 'files.other', question_column = 'asked', answer_column = 'wanted'${version}`,
        )
      ).data.map((row) => row[4])
    expect(await scores(', version = 1')).toEqual([1])
    expect(await scores('')).toEqual([0])
  })

  test('is measured by every digit of a number', async () => {
    await shop.run(`CREATE TABLE files.exact (SELECT 'Which number?' AS question, 9007199254740993 AS answer)`)
    shop.model.script = () => '9007199254740992'
    expect((await evaluate(`test_table = 'files.exact'`)).data.map((row) => [row[1], row[4]])).toEqual([['9007199254740993', 0]])
    shop.model.script = () => '9007199254740993'
    expect((await evaluate(`test_table = 'files.exact'`)).data.map((row) => row[4])).toEqual([1])
  })

  test.each([
    [`test_table = 'files.nope'`, /nope/],
    [`version = 1`, /test_table is missing/],
    [`test_table = 'files.questions', nope = 1`, /USING has no option nope/],
    [`test_table = 'files.questions', metrics = 'nope'`, /no such metric/],
    [`test_table = 'files.questions', version = 7`, /has no version 7/],
    [`test_table = 'files.questions', version = 'x'`, /version: must be/],
    [`test_table = 'files.questions', judge = 1`, /judge: must be an object/],
    [`test_table = 'files.questions', question_column = 'nope'`, /has no column nope/],
    [`test_table = 'files.cars'`, /has no column question/],
    [`test_table = 'files.questions; DROP PROJECT shop'`, /not found/],
    [`test_table = 'files.many'`, /more than 200 rows/],
  ])('is not asked with USING %s', async (using, message) => {
    await shop.run(`CREATE OR REPLACE TABLE files.many (SELECT 'q' || i AS question, 'a' AS answer FROM range(201) AS t(i))`)
    const before = await shop.run('SELECT count(*) FROM log.answers')
    expect((await evaluate(using)).error_message).toMatch(message)
    expect(await shop.run('SELECT count(*) FROM log.answers')).toEqual(before)
    expect(shop.model.asked).toEqual([])
  })

  test('that does not exist is not found', async () => {
    expect((await sql(shop.url, `EVALUATE AGENT shop.nobody USING test_table = 'files.questions'`)).error_message).toMatch(/nobody/)
  })
})

test('what was said to the judge and by it is on record, also without a verdict, and is erased with the answer', async () => {
  await shop.agent('judged', { data: { tables: ['files.cars'] } })
  await shop.run(`CREATE TABLE files.two (SELECT * FROM (VALUES ('First?', 'One'), ('Second?', 'Two')) AS t(question, answer))`)
  const verdict = '{"verdict": "good", "reason": "planted-reason"}'
  shop.model.script = (asked) => {
    if (!isJudged(asked)) return `It is ${questionOf(asked)}`
    return contentOf(asked.messages[1]!).includes('First?') ? verdict : 'planted-words without a verdict'
  }
  const judging = `test_table = 'files.two', metrics = 'judge', judge = ${JSON.stringify(shop.model.model)}`
  expect((await sql(shop.url, `EVALUATE AGENT shop.judged USING ${judging}`)).error_message).toBeUndefined()
  const cases = async () =>
    shop.run(`SELECT c.question, c.judge_reason, c.judge_input, c.judge_output, c.note FROM log.evaluation_cases AS c
      JOIN log.evaluations AS e ON e.position = c.position WHERE e.agent = 'judged' ORDER BY c.n`)
  const [first = [], second = []] = await cases()
  expect([first[0], first[1], first[3]]).toEqual(['First?', 'planted-reason', verdict])
  expect([second[0], second[1], second[3]]).toEqual(['Second?', null, 'planted-words without a verdict'])
  expect([first[4], second[4]]).toEqual([null, 'judge: the language model said neither good nor bad'])
  const asked = shop.model.asked.filter(isJudged).map(({ messages }) => messages.map(contentOf))
  expect([first, second].map((row) => (JSON.parse(String(row[2])) as { content: string }[]).map(contentOf))).toEqual(
    ['First?', 'Second?'].map((question) => asked.find(([, said]) => said?.includes(question))),
  )
  const [[answer] = []] = await shop.run("SELECT answer_id FROM log.answers WHERE agent = 'judged' AND question = 'First?'")
  expect((await send(shop.url, 'POST', '/api/log/erasures', { answer })).status).toBe(200)
  const planted = ['planted-reason', 'planted-words'].map((word) => Buffer.from(word))
  expect(tracesInFiles(filesUnder(shop.directory), planted)).toEqual([])
  expect(await cases()).toEqual([])
})

test('what the judge reads and writes counts in usage', async () => {
  await shop.agent('frugal', { data: { tables: ['files.cars'] } })
  await shop.run(`CREATE TABLE files.judged (SELECT 'How many cars?' AS question, '40' AS answer)`)
  shop.model.script = (asked) => ({
    content: isJudged(asked) ? '{"verdict": "good", "reason": "Right."}' : 'Forty.',
    usage: isJudged(asked) ? { prompt_tokens: 70_000, completion_tokens: 7 } : { prompt_tokens: 300, completion_tokens: 5 },
  })
  const judging = `test_table = 'files.judged', metrics = 'judge', judge = ${JSON.stringify(shop.model.model)}`
  const frugal = (using: string) => sql(shop.url, `EVALUATE AGENT shop.frugal USING ${using}`)
  expect((await frugal(judging)).error_message).toBeUndefined()
  expect(
    await shop.run(`SELECT judge_input_tokens, judge_output_tokens, input_tokens FROM log.evaluations WHERE agent = 'frugal'`),
  ).toEqual([[70_000, 7, 300]])
  expect(await shop.run(`SELECT sum(answers), sum(input_tokens) FROM log.usage WHERE agent = 'frugal'`)).toEqual([[1, 70_300]])
})

test('what was answered and judged before the client left is on record, with the tokens of the judge', async () => {
  await shop.agent('left', { data: { tables: ['files.cars'] } })
  // So many are asked at once, and the last one once the first is judged.
  const questions = ['First?', ...Array.from({ length: limits.agentQuestionsAtOnce - 1 }, (_, i) => `Held ${i}?`), 'Last?']
  const values = questions.map((question) => `('${question}', 'One')`).join(', ')
  await shop.run(`CREATE TABLE files.leaving (SELECT * FROM (VALUES ${values}) AS t(question, answer))`)
  let goOn: () => void = () => undefined
  const isOver = new Promise<void>((resolve) => (goOn = resolve))
  const steps = new Set<string>()
  shop.model.script = async (asked) => {
    const step = isJudged(asked) ? 'judge' : questionOf(asked)
    steps.add(step)
    if (step !== 'judge' && step !== 'First?') await isOver
    const usage = step === 'judge' ? { prompt_tokens: 70_000, completion_tokens: 7 } : { prompt_tokens: 300, completion_tokens: 5 }
    return { content: step === 'judge' ? '{"verdict": "good", "reason": "Right."}' : 'One.', usage }
  }
  const judging = `test_table = 'files.leaving', metrics = 'judge', judge = ${JSON.stringify(shop.model.model)}`
  const left = new AbortController()
  const leaving = fetch(`${shop.url}/api/sql/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: `EVALUATE AGENT shop.left USING ${judging}` }),
    signal: left.signal,
  }).catch(() => undefined)
  try {
    await until(() => steps.size === questions.length + 1)
    left.abort()
    await leaving
    const summary = () => shop.run("SELECT cases, failed, metrics, judge_input_tokens FROM log.evaluations WHERE agent = 'left'")
    await until(async () => (await summary()).length > 0)
    expect(await summary()).toEqual([[questions.length, questions.length - 1, '[{"name":"judge","value":1}]', 70_000]])
    expect(await shop.run("SELECT max(input_tokens) >= 70000 FROM log.usage WHERE agent = 'left'")).toEqual([[true]])
  } finally {
    goOn()
  }
})

test('an erasure and a verdict do not wait for an evaluation, which keeps no text of an answer that was erased meanwhile', async () => {
  await shop.run(
    `CREATE TABLE files.slow (SELECT * FROM (VALUES ('Who lives at 7?', 'Ada'), ('Who lives at 8?', 'Bob')) AS t(question, answer))`,
  )
  let erased: () => void = () => undefined
  const isErased = new Promise<void>((resolve) => (erased = resolve))
  shop.model.script = async (asked) => {
    if (questionOf(asked).includes('7')) return 'Ada does.'
    await isErased
    return 'Bob does.'
  }
  const evaluating = evaluate(`test_table = 'files.slow'`)
  const given = () => shop.run(`SELECT answer_id FROM log.answers WHERE question = 'Who lives at 7?'`)
  await until(async () => (await given()).length === 1)
  const [[answer] = []] = await given()
  const [[judged] = []] = await shop.run(
    `SELECT max(answer_id) FROM log.answers WHERE agent = 'seller' AND answer_id <> '${String(answer)}'`,
  )
  expect((await send(shop.url, 'POST', '/api/log/erasures', { answer })).body).toMatchObject({ what: 'answer', payloads: 1 })
  const verdict = await send(shop.url, 'POST', `/api/projects/shop/agents/seller/answers/${String(judged)}/feedback`, { verdict: 'good' })
  expect(verdict.status).toBe(200)
  erased()
  expect((await evaluating).data.map(([question, , text]) => [question, text])).toEqual([
    ['Who lives at 7?', 'Ada does.'],
    ['Who lives at 8?', 'Bob does.'],
  ])
  const [[position] = []] = await shop.run('SELECT max(position) FROM log.evaluations')
  expect(await shop.run(`SELECT question, expected, answer FROM log.evaluation_cases WHERE position = ${Number(position)}`)).toEqual([
    ['', null, ''],
    ['Who lives at 8?', 'Bob', 'Bob does.'],
  ])
})
