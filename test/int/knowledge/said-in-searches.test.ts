import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { Readable, pipeline } from 'node:stream'
import { join } from 'node:path'
import { limits } from '../../../src/basics/limits.js'
import { verifyLog } from '../../../src/log/verify/verify.js'
import { calls, contentOf, questionOf, resultsOf, ScriptedModel, type Asked } from '../../support/agents/scripted-model.js'
import { chunk, last, RawServer, stream } from '../../support/llm/raw-server.js'
import { filesUnder, tracesInFiles } from '../../support/observe/traces.js'
import { send, sql, startTestService } from '../../support/service.js'

const model = new ScriptedModel()
/** A reranking model that does what a test wants. */
const bad = new RawServer()
let at: Awaited<ReturnType<typeof startTestService>>
const bases = '/api/projects/mindsdb/knowledge_bases'
const agents = '/api/projects/mindsdb/agents'
const rows = ['a lamp with a battery', 'a radio', 'a battery for lamps'].map((content, i) => ({ id: `d${i}`, content }))

const isReranked = (asked: Asked): boolean => !asked.tools?.length
const passagesIn = (asked: Asked): string[] => (JSON.parse(questionOf(asked)) as { passages: string[] }).passages
/** Scores, and words beside them. */
const scored = (asked: Asked, words = 'So be it.'): string => `${JSON.stringify(passagesIn(asked).map(() => 5))} ${words}`

type Said = { new: { role: string; content: string }[]; response: Record<string, unknown> }
type Searched = {
  position: number
  outcome: string
  answer: string | null
  question: string | null
  said: Said[] | null
  readable: boolean
}

const searches = async (where = 'true'): Promise<Searched[]> =>
  (
    await sql(
      at.url,
      `SELECT position, outcome, answer_id, question, exchanges, readable FROM log.knowledge_searches WHERE ${where} ORDER BY position`,
    )
  ).data.map(([position, outcome, answer, question, said, readable]) => ({
    ...{ position: Number(position), outcome: String(outcome), answer: answer as string | null, question: question as string | null },
    said: said === null ? null : (JSON.parse(said as string) as Said[]),
    readable: readable === true,
  }))
const newest = async (): Promise<Searched | undefined> => (await searches()).at(-1)
const search = (query: string, headers: Record<string, string> = {}, name = 'attic') =>
  send(at.url, 'POST', `${bases}/${name}/completions`, { query, type: 'context' }, headers)
const erase = async (body: object) =>
  (await send(at.url, 'POST', '/api/log/erasures', body)) as { status: number; body: { payloads: number } }
const findings = async () => (await verifyLog({ logFile: join(at.directory, 'log.sqlite') })).findings
/** Which of these words are in a byte of the data directory. */
const left = (...words: string[]) =>
  tracesInFiles(
    filesUnder(at.directory),
    words.map((word) => Buffer.from(word)),
  )

beforeAll(async () => {
  await Promise.all([model.start(), bad.start()])
  at = await startTestService()
  for (const [name, reranking_model] of [
    ['attic', model.model],
    ['cellar', { ...model.model, base_url: `${bad.url}/v1` }],
  ] as const) {
    await send(at.url, 'POST', bases, { knowledge_base: { name, reranking_model } })
    expect((await send(at.url, 'PUT', `${bases}/${name}`, { knowledge_base: { rows } })).status).toBe(200)
  }
})
beforeEach(() => {
  bad.reset()
  model.asked.length = 0
  model.script = (asked) => scored(asked)
})
afterAll(async () => {
  await at.stop()
  bad.stop()
  await model.stop()
})

test('what a search asked, and what was said to its reranking model and by it, is on record, over REST and in SQL', async () => {
  await search('battery lamp')
  const [asked] = model.asked
  const exchange = {
    new: asked!.messages.map((message) => ({ role: message.role, content: contentOf(message) })),
    response: { text: '[5,5] So be it.', toolCalls: [], finish: 'stop', usage: expect.any(Object), model: expect.any(String) },
  }
  expect(passagesIn(asked!)).toHaveLength(2)
  expect(await newest()).toMatchObject({ outcome: 'complete', answer: null, question: 'battery lamp', said: [exchange], readable: true })
  await sql(at.url, "SELECT id FROM attic WHERE content = 'a radio in SQL'")
  expect(await newest()).toMatchObject({ outcome: 'complete', question: 'a radio in SQL', said: [{ response: { finish: 'stop' } }] })
  expect(await findings()).toEqual([])
})

test('a reranking model that writes for ever fails the search, and what it wrote is on record', async () => {
  const piece = 'x'.repeat(8_192)
  function* forever(): Generator<string, void> {
    for (;;) yield chunk({ content: piece })
  }
  bad.answer = (response) => pipeline(Readable.from(forever()), stream(response), () => undefined)
  expect(await search('battery', {}, 'cellar')).toMatchObject({
    status: 502,
    body: { code: 'llm_failed', title: 'Unusable scores', detail: expect.stringContaining('agentOutputMaxChars') },
  })
  await bad.isLeft()
  const { outcome, said } = (await newest())!
  const { text, error } = said![0]!.response
  expect([outcome, error]).toEqual(['failed', 'The answer is too long'])
  // The tables hold the beginning of a long text.
  expect(String(text).length).toBeGreaterThan(piece.length)
  expect(String(text).length).toBeLessThanOrEqual(limits.agentOutputMaxChars + piece.length)
})

test('what a reranking model said before it broke off is on record', async () => {
  bad.answer = (response) => void stream(response).write(chunk({ content: 'I think ' }), () => response.destroy())
  expect((await search('battery', {}, 'cellar')).status).toBe(502)
  expect(await newest()).toMatchObject({ outcome: 'failed', said: [{ response: { text: 'I think ', error: 'Connection lost' } }] })
})

test('what a provider says of its failure, which the client gets, is on record and not in the event', async () => {
  bad.answer = (response) => response.writeHead(400).end(JSON.stringify({ error: { message: 'the word is hunter2' } }))
  const { body } = await search('battery', {}, 'cellar')
  const { detail } = body as { detail: string }
  expect(detail).toContain('the word is hunter2')
  const { position } = (await newest())!
  const told = `SELECT error, error_detail FROM log.knowledge_searches WHERE position = ${position}`
  expect((await sql(at.url, told)).data).toEqual([['Request refused', detail]])
  const inEvent = `SELECT count(*) FROM log.events WHERE position = ${position} AND data LIKE '%hunter2%'`
  expect((await sql(at.url, inEvent)).data).toEqual([[0]])
})

describe('the words of a search leave no byte', () => {
  const planted = async (word: string, headers: Record<string, string> = {}): Promise<Searched> => {
    model.script = (asked) => scored(asked, `${word}-said`)
    await search(`battery lamp ${word}-asked`, headers)
    return (await newest())!
  }
  const isGone = async (word: string, { position }: Searched) => {
    expect(left(`${word}-asked`, `${word}-said`)).toEqual([])
    expect(await searches(`position = ${position}`)).toMatchObject([{ outcome: 'complete', question: null, said: null, readable: false }])
  }

  test('after an erasure of their request', async () => {
    const one = await planted('planted1', { 'x-request-id': 'asked-once' })
    expect(await erase({ request: 'asked-once' })).toMatchObject({ status: 200, body: { payloads: 1, rows: 1 } })
    await isGone('planted1', one)
  })

  test('after an erasure of their event', async () => {
    const one = await planted('planted2')
    expect(await erase({ answer: one.position })).toMatchObject({ status: 200, body: { payloads: 1 } })
    await isGone('planted2', one)
  })

  test('after an erasure of all before a time', async () => {
    const one = await planted('planted3')
    expect((await erase({ before: '2999-01-01' })).status).toBe(200)
    await isGone('planted3', one)
    expect((await searches('readable AND question IS NOT NULL')).length).toBe(0)
  })

  test('after an erasure of a document whose passage was in it, and others stay', async () => {
    await send(at.url, 'PUT', `${bases}/attic`, { knowledge_base: { rows: [{ id: 'secret', content: 'a zebra of planted4-text' }] } })
    const one = await planted('planted4 zebra')
    model.script = (asked) => scored(asked)
    await search('radio')
    const other = (await newest())!
    const documents = { project: 'mindsdb', knowledge_base: 'attic', ids: ['secret'] }
    expect((await erase({ documents })).status).toBe(200)
    await isGone('planted4 zebra', one)
    expect(left('planted4-text')).toEqual([])
    expect(await searches(`position = ${other.position}`)).toMatchObject([{ question: 'radio', readable: true }])
    expect(await findings()).toEqual([])
  })
})

test('a search in a query of an agent names the answer, and is erased with it', async () => {
  await sql(at.url, "CREATE VIEW lamps AS (SELECT id FROM attic WHERE content = 'planted5-asked battery')")
  const agent = { name: 'viewer', model: model.model, data: { tables: ['mindsdb.lamps'] } }
  expect((await send(at.url, 'POST', agents, { agent })).status).toBe(201)
  model.script = (asked) => {
    if (isReranked(asked)) return scored(asked, 'planted5-said')
    return resultsOf(asked).length === 0 ? calls(['sql', { query: 'SELECT count(*) AS n FROM mindsdb.lamps' }]) : 'Two.'
  }
  const question = { messages: [{ role: 'user', content: 'How many lamps?' }] }
  const { body } = await send(at.url, 'POST', `${agents}/viewer/completions`, question)
  const { trace_id } = (body as { message: { trace_id: string } }).message
  const own = `answer_id = '${trace_id}'`
  const found = await searches(own)
  expect(found.length).toBeGreaterThan(0)
  expect(found.every(({ said }) => String(said?.[0]?.response['text']).includes('planted5-said'))).toBe(true)
  expect(await searches("purpose = 'skill'")).toEqual(found)
  expect((await erase({ answer: trace_id })).body.payloads).toBe(found.length + 1)
  expect(left('planted5-said')).toEqual([])
  expect((await searches(own)).map(({ readable }) => readable)).toEqual(found.map(() => false))
})

test('a search during an erasure is recorded with its tokens and without its words', async () => {
  await search('a battery that is soon gone', { 'x-request-id': 'soon-gone' })
  let goOn: () => void = () => undefined
  const isAsked = new Promise<void>((asked) => {
    bad.answer = async (response) => {
      asked()
      await new Promise<void>((resolve) => (goOn = resolve))
      stream(response).end(chunk({ content: '[5, 5]' }) + last('stop', { usage: { prompt_tokens: 70, completion_tokens: 5 } }))
    }
  })
  const searching = search('battery lamp', {}, 'cellar')
  await isAsked
  expect((await erase({ request: 'soon-gone' })).status).toBe(200)
  goOn()
  expect((await searching).status).toBe(200)
  expect(await newest()).toMatchObject({ outcome: 'complete', question: null, said: null })
  const used = 'SELECT reranking_input_tokens FROM log.knowledge_searches ORDER BY position DESC LIMIT 1'
  expect((await sql(at.url, used)).data).toEqual([[70]])
})
