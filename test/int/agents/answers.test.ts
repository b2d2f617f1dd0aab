import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { streamId } from '../../../events/common.js'
import { startWithAgent } from '../../support/agents/agent-service.js'
import { by, recordOf } from '../../support/agents/answer-maker.js'
import { inOneDay } from '../../support/one-day.js'
import { send, sql } from '../../support/service.js'

let at: Awaited<ReturnType<typeof startWithAgent>>
beforeAll(async () => {
  at = await startWithAgent()
})
afterAll(() => at.stop())

const path = '/api/projects/mindsdb/agents/helper/answers'
const rows = async (query: string): Promise<unknown[][]> => {
  const answer = await sql(at.url, query)
  expect(answer.error_message).toBeUndefined()
  return answer.data
}
const get = (rest: string) => send(at.url, 'GET', `${path}${rest}`)
const feedback = (answer: string | number, body: unknown, headers: Record<string, string> = {}) =>
  send(at.url, 'POST', `${path}/${answer}/feedback`, body, headers)
const head = async () => (await at.service.head()).position

describe('an answer', () => {
  test('is a row of log.answers with what was asked, run and said, under the names of its time', async () => {
    const { answer, position } = await at.maker.answer(at.agent, recordOf('how many homes?', 'There are 3.', 'homes'), {}, by('r-1'))
    await send(at.url, 'PUT', '/api/projects/mindsdb/agents/helper', { agent: { name: 'renamed' } })
    const [row] = await rows(
      `SELECT position, actor, source, request, project, agent, version, answer_id, purpose, provider, model, outcome, question, answer, sql, rows, steps,
        input_tokens, output_tokens, duration_ms, verdict, good, bad, readable FROM log.answers WHERE answer_id = '${answer}'`,
    )
    expect(row).toEqual([
      ...[position, 'ada', 'rest', 'r-1', 'mindsdb', 'helper', 1, answer, 'completion', 'openai', 'gpt-4o', 'answered'],
      ...['how many homes?', 'There are 3.', `SELECT 'homes' AS word`, 1, 3, 200, 40, 40, null, 0, 0, true],
    ])
    await send(at.url, 'PUT', '/api/projects/mindsdb/agents/renamed', { agent: { name: 'helper' } })
  })

  test('has a row of log.answer_steps for each exchange and each tool, with its words', async () => {
    const { answer } = await at.maker.answer(at.agent, recordOf('which?', 'This one.', 'w0rd'))
    expect(
      await rows(
        `SELECT step, kind, name, rows, input_tokens, input, output, sql FROM log.answer_steps WHERE answer_id = '${answer}' ORDER BY step`,
      ),
    ).toEqual([
      [1, 'model', 'gpt-4o', null, 100, '[{"role":"user","content":"which?"}]', '', null],
      [2, 'sql', 'query', 1, null, `{"sql":"SELECT 'w0rd' AS word"}`, 'word: w0rd', `SELECT 'w0rd' AS word`],
      [3, 'model', 'gpt-4o', null, 100, '[{"role":"tool","toolCallId":"call_1","tool":"query","content":"w0rd"}]', 'This one.', null],
    ])
    expect(await rows(`SELECT model_name, output, total_tokens, success FROM log.llm_log WHERE output = 'This one.'`)).toEqual([
      ['gpt-4o', 'This one.', 120, true],
    ])
  })

  test('is read over REST as a whole, by its id and by its position, and in the past only once it was given', async () => {
    const before = await head()
    const record = recordOf('rest?', 'Yes.', 'restful')
    const { answer, position } = await at.maker.answer(at.agent, record, {}, by('r-rest'))
    const byId = await get(`/${answer}`)
    expect(byId).toMatchObject({ status: 200, body: { id: answer, position, request: 'r-rest', outcome: 'answered', ...record } })
    expect(byId.body).toMatchObject({ queries: [{ sql: `SELECT 'restful' AS word`, rows: [['restful']] }] })
    expect((await get(`/${position}`)).body).toEqual(byId.body)
    expect((await get(`/${position}?as_of=${before}`)).status).toBe(404)
    expect((await get(`/${answer}?as_of=${position}`)).status).toBe(200)
  })

  test('is listed in pages, with only the beginning of what is long', async () => {
    const agent = await at.makeAgent('lister')
    const made = []
    for (let i = 0; i < 5; i++) made.push(await at.maker.answer(agent, recordOf(i === 4 ? 'long '.repeat(1_000) : `question ${i}`, 'said')))
    const listing = '/api/projects/mindsdb/agents/lister/answers'
    const all = (await send(at.url, 'GET', listing)).body as { id: string; question: string; readable: boolean }[]
    expect(all.map(({ id }) => id)).toEqual(made.map(({ answer }) => answer))
    expect(all[4]?.question).toHaveLength(2_000)
    const paged: string[] = []
    let next: string | undefined = `${listing}?limit=2`
    while (next !== undefined) {
      const { body, headers } = await send(at.url, 'GET', next)
      paged.push(...(body as { id: string }[]).map(({ id }) => id))
      next = /<([^>]+)>/.exec(headers.get('link') ?? '')?.[1]
    }
    expect(paged).toEqual(all.map(({ id }) => id))
    expect((await send(at.url, 'GET', `${listing}?as_of=${made[1]!.position}`)).body).toHaveLength(2)
  })

  test('of another agent, or none at all, is not found', async () => {
    const other = await at.maker.answer(await at.makeAgent('other'), recordOf('a', 'b'))
    for (const ref of [other.answer, other.position, streamId.parse('0198f0c2-0000-7000-8000-000000000000'), 1, 'x', `x' OR 1=1 --`])
      expect((await get(`/${encodeURIComponent(ref)}`)).status).toBe(404)
    expect((await feedback(other.answer, { verdict: 'good' })).status).toBe(404)
    expect((await send(at.url, 'GET', '/api/projects/mindsdb/agents/nobody/answers')).status).toBe(404)
  })

  test('changes neither the version nor the history of its agent, and stays when the agent is deleted', async () => {
    const agent = await at.makeAgent('leaver')
    const own = '/api/projects/mindsdb/agents/leaver'
    const { answer, position } = await at.maker.answer(agent, recordOf('and then?', 'Nothing.'))
    expect((await send(at.url, 'GET', own)).headers.get('etag')).toBe('"1"')
    expect(((await send(at.url, 'GET', `${own}/history`)).body as { changes: unknown[] }).changes).toHaveLength(1)
    expect((await send(at.url, 'DELETE', own)).status).toBe(204)
    expect(await rows(`SELECT agent, question FROM log.answers WHERE answer_id = '${answer}'`)).toEqual([['leaver', 'and then?']])
    expect((await send(at.url, 'GET', `${own}/answers/${answer}`)).status).toBe(404)
    const deleted = `/api/projects/mindsdb/agents/${agent}/answers`
    expect((await send(at.url, 'GET', `${deleted}/${position}`)).body).toMatchObject({ question: 'and then?' })
    expect((await send(at.url, 'GET', deleted)).body).toHaveLength(1)
  })
})

describe('a verdict', () => {
  test('is given in any of the usual forms; the last of an actor counts, and the comment is no part of the event', async () => {
    const { answer, position } = await at.maker.answer(at.agent, recordOf('good?', 'Perhaps.'))
    expect(await feedback(answer, { verdict: 'good' })).toMatchObject({ status: 200, body: { answer, verdict: 'good' } })
    expect(await feedback(position, { rating: -1, comment: 'counts twice' })).toMatchObject({
      status: 200,
      body: { answer, verdict: 'bad' },
    })
    await at.maker.judge({ agent: at.agent, answer, position }, 'good', undefined, 'grace')
    expect(await feedback(answer, { score: true })).toMatchObject({ body: { verdict: 'good' } })
    expect(await feedback(answer, { score: 1 })).toMatchObject({ body: { verdict: 'good' } })
    expect(await feedback(answer, { rating: 'bad' })).toMatchObject({ body: { verdict: 'bad' } })
    const judgements = `SELECT actor, verdict, comment, replaced_by IS NULL FROM log.answer_judgements WHERE answer_id = '${answer}' ORDER BY position`
    const judged = await rows(judgements)
    expect(judged).toEqual([
      ['anonymous', 'good', null, false],
      ['anonymous', 'bad', 'counts twice', false],
      ['grace', 'good', null, true],
      ['anonymous', 'good', null, false],
      ['anonymous', 'good', null, false],
      ['anonymous', 'bad', null, true],
    ])
    expect(await rows(`SELECT verdict, good, bad FROM log.answers WHERE answer_id = '${answer}'`)).toEqual([['bad', 1, 1]])
    expect(await rows(`SELECT verdict, good, bad FROM log.answers AT (VERSION => ${position + 1}) WHERE answer_id = '${answer}'`)).toEqual([
      ['good', 1, 0],
    ])
    expect(await rows(`SELECT count(*) FROM log.events WHERE data LIKE '%counts twice%'`)).toEqual([[0]])
  })

  test('with a key is recorded once; a dry run records nothing', async () => {
    const { answer } = await at.maker.answer(at.agent, recordOf('once?', 'Once.'))
    const keyed = { 'idempotency-key': 'verdict' }
    const first = await feedback(answer, { verdict: 'good', comment: 'yes' }, keyed)
    expect((await feedback(answer, { verdict: 'good', comment: 'yes' }, keyed)).body).toEqual(first.body)
    expect((await feedback(answer, { verdict: 'bad' }, keyed)).status).toBe(422)
    const before = await head()
    expect((await feedback(answer, { verdict: 'bad' }, { prefer: 'dry-run' })).status).toBe(200)
    expect(await head()).toBe(before)
    expect(await rows(`SELECT good, bad FROM log.answers WHERE answer_id = '${answer}'`)).toEqual([[1, 0]])
  })

  test.each([
    ['without a verdict', {}],
    ['of another word', { verdict: 'fine' }],
    ['given twice', { verdict: 'good', rating: 1 }],
    ['of another number', { rating: 5 }],
    ['with a comment that is too long', { verdict: 'good', comment: 'x'.repeat(10_001) }],
    ['with another member', { verdict: 'good', more: 1 }],
  ])('%s is refused', async (_, body) => {
    const { answer } = await at.maker.answer(at.agent, recordOf('read?', 'No.'))
    expect((await feedback(answer, body)).status).toBe(400)
  })
})

describe('usage', () => {
  test('counts tokens by day, agent and model, at the prices of the time, now and then', async () => {
    await inOneDay()
    const agent = await at.makeAgent('spender')
    const ask = (facts: object) => at.maker.answer(agent, recordOf('q', 'a'), facts)
    const prices = (llm_prices: unknown) => send(at.url, 'PUT', '/api/config', { llm_prices })
    const usage = (when = '') =>
      rows(
        `SELECT provider, model, answers, failed, input_tokens, output_tokens, round(cost, 9), unpriced FROM log.usage ${when} WHERE agent = 'spender' ORDER BY model`,
      )
    await ask({ input_tokens: 1_000_000, output_tokens: 0 })
    expect(await usage()).toEqual([['openai', 'gpt-4o', 1, 0, 1_000_000, 0, null, 1]])
    expect((await prices({ 'gpt-4o': { input: 2, output: 10 } })).status).toBe(200)
    await ask({ input_tokens: 500_000, output_tokens: 100_000 })
    const { position } = await ask({ input_tokens: null, output_tokens: null, outcome: 'failed', error: 'refused' })
    expect((await prices({ 'gpt-4o': { input: 100, output: 100 }, 'openai/gpt-4o': { input: 4, output: 20 } })).status).toBe(200)
    await ask({ input_tokens: 1_000_000, output_tokens: 0 })
    await ask({ model: 'free', provider: 'local', input_tokens: 7, output_tokens: 7 })
    expect(await usage()).toEqual([
      ['local', 'free', 1, 0, 7, 7, null, 1],
      ['openai', 'gpt-4o', 4, 1, 2_500_000, 100_000, 1 + 1 + 4, 2],
    ])
    expect(await usage(`AT (VERSION => ${position})`)).toEqual([['openai', 'gpt-4o', 3, 1, 1_500_000, 100_000, 2, 2]])
    expect(await rows("SELECT round(cost, 9) FROM log.answers WHERE agent = 'spender' ORDER BY position")).toEqual(
      [null, 2, null, 4, null].map((cost) => [cost]),
    )
    expect((await send(at.url, 'GET', '/api/config')).body).toMatchObject({ llm_prices: { 'openai/gpt-4o': { input: 4, output: 20 } } })
  })

  test.each([{ m: { input: -1, output: 1 } }, { m: { input: 1 } }, { m: 3 }, { m: { input: '1', output: 1 } }, [1]])(
    'has prices only from what is a price: %j',
    async (llm_prices) => {
      expect((await send(at.url, 'PUT', '/api/config', { llm_prices })).status).toBe(400)
    },
  )
})

test('an evaluation has a row, and one for each of its cases', async () => {
  const { answer: first, position: one } = await at.maker.answer(at.agent, recordOf('case?', 'first'))
  const { answer: again, position: two } = await at.maker.answer(at.agent, recordOf('case?', 'second'), { purpose: 'rerun' })
  const position = await at.maker.evaluate(at.agent, [
    {
      question: 'case?',
      expected: null,
      answer: 'second',
      of: { answer: first, position: one },
      gave: { answer: again, position: two },
      scores: { same_text: 0 },
    },
  ])
  expect(
    await rows(`SELECT agent, version, test, replayed, cases, failed, metrics, readable FROM log.evaluations WHERE position = ${position}`),
  ).toEqual([['helper', 1, 'rerun', 'tools', 1, 0, '[{"name":"same_text","value":0.5}]', true]])
  expect(
    await rows(
      `SELECT n, question, expected, answer, recorded_answer_id, answer_id, scores FROM log.evaluation_cases WHERE position = ${position}`,
    ),
  ).toEqual([[1, 'case?', null, 'second', first, again, '{"same_text":0}']])
})
