import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { join } from 'node:path'
import { v7 as uuidv7 } from 'uuid'
import { streamId } from '../../../events/common.js'
import type { EvaluationCase } from '../../../src/agents/contract/evaluation-case.js'
import type { ErasureResult } from '../../../src/erasure/plan/plan.js'
import { verifyLog } from '../../../src/log/verify/verify.js'
import { startWithAgent } from '../../support/agents/agent-service.js'
import { by, recordOf } from '../../support/agents/answer-maker.js'
import { send, sql } from '../../support/service.js'
import { filesUnder, tracesInFiles } from '../../support/observe/traces.js'

let at: Awaited<ReturnType<typeof startWithAgent>>
beforeAll(async () => {
  at = await startWithAgent()
})
afterAll(() => at.stop())

const path = '/api/projects/mindsdb/agents/helper/answers'
const erase = async (body: object) => {
  const { status, body: answer } = await send(at.url, 'POST', '/api/log/erasures', body)
  return { status, ...(answer as ErasureResult & { detail?: string }) }
}
const rows = async (query: string): Promise<unknown[][]> => {
  const answer = await sql(at.url, query)
  expect(answer.error_message).toBeUndefined()
  return answer.data
}
const readable = async () => (await rows('SELECT answer_id FROM log.answers WHERE readable ORDER BY position')).map(([id]) => id)
const judge = (answer: string, comment: string) => send(at.url, 'POST', `${path}/${answer}/feedback`, { verdict: 'bad', comment })
/** Which of these words are in a byte of the data directory. */
const left = (...words: string[]) => {
  const found = tracesInFiles(
    filesUnder(at.directory),
    words.map((word) => Buffer.from(word)),
  )
  return [...new Set(found.flatMap(({ needles }) => needles.map((i) => words[i])))]
}
const unique = () => `planted-${uuidv7()}`
const findings = async () => (await verifyLog({ logFile: join(at.directory, 'log.sqlite') })).findings

/** An answer with words of its own in its question, prompt, rows and text. */
const planted = async (facts: Parameters<typeof at.maker.answer>[2] = {}, request = 'r') => {
  const words = { question: unique(), rows: unique(), answer: unique() }
  const made = await at.maker.answer(at.agent, recordOf(words.question, words.answer, words.rows), facts, by(request))
  return { ...made, words: Object.values(words) }
}

type Made = { answer: string; position: number }

/** A case of an evaluation, for which an answer was given: anew, or to the question of an earlier one. */
const caseOf = (earlier: Made | null, given: Made, question: string): EvaluationCase => {
  const place = ({ answer, position }: Made) => ({ answer: streamId.parse(answer), position })
  return { question, expected: null, answer: 'x', of: earlier && place(earlier), gave: place(given), scores: {} }
}

describe('an erased answer', () => {
  test('leaves no byte of question, prompt, rows, answer and comments, and neither does what asked it again', async () => {
    const [gone, stays] = [await planted(), await planted()]
    const again = await planted({ purpose: 'rerun' })
    const [comment, onRerun, casual] = [unique(), unique(), unique()]
    await judge(gone.answer, comment)
    await judge(again.answer, onRerun)
    await at.maker.evaluate(at.agent, [caseOf(gone, again, casual)])
    expect(await rows(`SELECT count(*) FROM log.answer_steps WHERE output LIKE '%${gone.words[1]}%'`)).toEqual([[1]])

    const planned = await erase({ answer: gone.answer, dry_run: true })
    expect(planned).toMatchObject({ status: 200, positions: [], payloads: 5, rows: 2 })
    expect(await readable()).toContain(gone.answer)
    const erased = await erase({ answer: gone.answer, reason: 'Article 17' })
    expect(erased).toMatchObject({ status: 200, payloads: 5, rows: 2, already_erased: 0 })

    expect(left(...gone.words, ...again.words, comment, onRerun, casual)).toEqual([])
    expect(await readable()).toEqual([stays.answer])
    expect(
      await rows(
        `SELECT outcome, input_tokens, question, answer, sql, rows, steps, readable FROM log.answers WHERE answer_id = '${gone.answer}'`,
      ),
    ).toEqual([['answered', 200, null, null, null, 1, 3, false]])
    expect(
      await rows(`SELECT kind, rows, input, output, sql, readable FROM log.answer_steps WHERE position = ${gone.position} AND step = 2`),
    ).toEqual([['sql', 1, null, null, null, false]])
    expect(await rows(`SELECT verdict, comment, readable FROM log.answer_judgements ORDER BY position`)).toEqual([
      ['bad', null, false],
      ['bad', null, false],
    ])
    expect(await rows('SELECT cases, readable FROM log.evaluations')).toEqual([[1, false]])
    expect(await rows('SELECT * FROM log.evaluation_cases')).toEqual([])
    // The past does not show it either.
    expect(
      await rows(
        `SELECT question, readable FROM log.answers AT (VERSION => ${erased.positions[0]! - 1}) WHERE answer_id = '${gone.answer}'`,
      ),
    ).toEqual([[null, false]])
    expect(await rows(`SELECT what, subject, reason, payloads FROM log.erasures WHERE position = ${erased.positions[0]!}`)).toEqual([
      ['answer', gone.answer, 'Article 17', 5],
    ])
    expect(await findings()).toEqual([])
    const proof = await send(at.url, 'GET', `/api/log/proofs/inclusion?position=${gone.position}`)
    expect(proof.status).toBe(200)
  })

  test('is 410 over REST, with the position and the reason; it can be judged no more', async () => {
    const { answer, position } = await planted()
    const { positions } = await erase({ answer: position, reason: 'asked for' })
    const read = await send(at.url, 'GET', `${path}/${answer}`)
    expect(read).toMatchObject({
      status: 410,
      body: { code: 'erased', erased_at: positions[0], detail: expect.stringContaining('asked for') },
    })
    expect((await judge(answer, 'late')).status).toBe(410)
    const list = (await send(at.url, 'GET', path)).body as { id: string; question: unknown; readable: boolean }[]
    expect(list.find(({ id }) => id === answer)).toMatchObject({ question: null, readable: false, outcome: 'answered' })
    expect(await erase({ answer: position })).toMatchObject({ positions: [], already_erased: 1 })
  })

  test('is named by its request or its conversation as well, and all of that goes', async () => {
    const conversation = streamId.parse(uuidv7())
    const [one, two, other] = [await planted({ conversation }), await planted({ conversation }), await planted({}, 'r-erased')]
    expect(await erase({ conversation })).toMatchObject({ status: 200, payloads: 2, rows: 2 })
    expect(left(...one.words, ...two.words)).toEqual([])
    expect(await readable()).toContain(other.answer)
    expect(await erase({ request: 'r-erased' })).toMatchObject({ status: 200, payloads: 1, rows: 1 })
    expect(left(...other.words)).toEqual([])
    expect(await rows(`SELECT what, subject FROM log.erasures ORDER BY position DESC LIMIT 2`)).toEqual([
      ['request', 'r-erased'],
      ['conversation', conversation],
    ])
  })

  test('is one of all before a time, with comments and evaluations that came later', async () => {
    const old = await planted()
    await new Promise((resolve) => setTimeout(resolve, 5))
    const time = new Date().toISOString()
    await new Promise((resolve) => setTimeout(resolve, 5))
    const young = await planted()
    const [comment, kept, asked, keptAsked] = [unique(), unique(), unique(), unique()]
    await judge(old.answer, comment)
    await judge(young.answer, kept)
    await at.maker.evaluate(at.agent, [caseOf(null, old, asked)])
    await at.maker.evaluate(at.agent, [caseOf(null, young, keptAsked)])
    await erase({ before: time })
    expect(left(...old.words, comment, asked)).toEqual([])
    expect(await rows('SELECT question FROM log.evaluation_cases')).toEqual([[keptAsked]])
    expect(await readable()).toEqual([young.answer])
    expect(await rows(`SELECT comment FROM log.answer_judgements WHERE readable ORDER BY position DESC LIMIT 1`)).toEqual([[kept]])
    expect(await findings()).toEqual([])
  })

  test('is found in its place only: what is none, or was never given, is not found', async () => {
    for (const body of [{ answer: 1 }, { answer: 99_999 }, { answer: uuidv7() }, { conversation: uuidv7() }, { request: uuidv7() }])
      expect(await erase(body)).toMatchObject({ status: 404 })
    for (const body of [{ answer: 'x' }, { answer: 0 }, { conversation: 'x' }, { answer: uuidv7(), conversation: uuidv7() }])
      expect(await erase(body)).toMatchObject({ status: 400 })
  })
})

test('the kept reply of a statement that showed answers is erased with them', async () => {
  const { words } = await planted()
  const keyed = { 'idempotency-key': 'shows-answers' }
  const ask = () => send(at.url, 'POST', '/api/sql/query', { query: 'SELECT question, answer FROM log.answers' }, keyed)
  expect((await ask()).status).toBe(200)
  const [[position] = []] = await rows('SELECT max(position) FROM log.answers')
  await erase({ answer: position })
  expect(left(...words)).toEqual([])
  expect(JSON.stringify((await ask()).body)).not.toContain(words[0])
})

test('another master key opens answers that were given before', async () => {
  const { answer, words } = await planted()
  expect((await send(at.url, 'POST', '/api/log/rotations')).status).toBe(202)
  for (;;) {
    const { body } = await send(at.url, 'GET', '/api/log/rotations')
    if ((body as { rotation: { position: number | null } | null }).rotation?.position) break
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  expect((await send(at.url, 'GET', `${path}/${answer}`)).body).toMatchObject({ question: words[0] })
  expect(await findings()).toEqual([])
})
