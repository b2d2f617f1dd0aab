import * as z from 'zod'
import { jsonObject, text } from '../../../events/common.js'
import { answersStream } from '../../../events/records/answers.js'
import { asAnswer, type AnswerRecords, type RecordedAnswer } from '../../agents/record/answer-records.js'
import type { AnswerJudge } from '../../agents/record/judge-answer.js'
import { isProblem, wrong } from '../../basics/errors.js'
import { jsonMembers } from '../../basics/json-text.js'
import { limits } from '../../basics/limits.js'
import { LongWork } from '../../basics/long-work.js'
import type { Ledger } from '../../commands/ledger.js'
import type { Log } from '../../log/contract/log.js'
import type { LogAt } from '../../log/read/time-travel.js'
import { object } from '../protocol/body-schema.js'
import { carriedOut } from '../protocol/carry-out.js'
import { json, jsonPieces } from '../protocol/reply.js'
import { route, type Route } from '../protocol/route.js'
import { list, listParameters, type Entry } from '../reads/paged-list.js'
import type { ReadRouteFactory } from '../reads/read-routes.js'
import { streamInProject } from './resources/history.js'

const facts = {
  id: z.string().describe('Id of the answer; completions call it trace_id'),
  position: z.int().describe('Position of its event in the log'),
  recorded_at: z.string(),
  version: z.int().describe('Version of the agent that answered'),
  purpose: z.string(),
  conversation: z.string().nullable(),
  model: z.string(),
  outcome: z.string().describe('answered, unanswered, failed or aborted'),
  error: z.string().nullable(),
  input_tokens: z.int().nullable().describe('Tokens that were read for it, those of its searches included'),
  output_tokens: z.int().nullable().describe('Tokens that were written for it'),
  duration_ms: z.number(),
}

const listed = z
  .looseObject({
    ...facts,
    question: z.string().nullable().describe(`Its first ${limits.answerListedMaxChars} characters; null when it was erased`),
    answer: z.string().nullable(),
    readable: z.boolean().describe('False when it was erased'),
  })
  .meta({ id: 'ListedAnswer' })

const whole = z
  .looseObject({
    ...facts,
    question: z.string(),
    history: z.array(jsonObject).describe('The conversation before the question'),
    settings: jsonObject.describe('The settings that the language model got beside the messages'),
    exchanges: z.array(jsonObject).describe('Each exchange with the language model: the new messages, and the response'),
    tools: z.array(jsonObject).describe('Each use of a tool: input, output, and for queries the SQL and rows'),
    queries: z.array(jsonObject).describe('The queries that were run without an error, with their rows'),
    answer: z.string(),
    failure: jsonObject.optional().describe('Why there is no answer: code, title and detail, as the client was told'),
    history_erased: z.literal(true).optional().describe('Earlier turns of the conversation were erased'),
    data_gone: z.literal(true).optional().describe('The agent was granted data, and nothing of them was there or could be read'),
    cut: z.literal(true).optional().describe('The longest texts are cut, because the record would be too large'),
  })
  .meta({ id: 'Answer' })

const verdictWords = z.union([z.enum(['good', 'bad']), z.literal(1), z.literal(-1), z.boolean()])

const feedback = z
  .strictObject({
    verdict: verdictWords.exactOptional().describe('good or bad; also 1 or -1, true or false'),
    rating: verdictWords.exactOptional().describe('The same under another name'),
    score: verdictWords.exactOptional().describe('The same under another name'),
    comment: text.max(limits.answerCommentMaxChars).nullish().describe('Why; it is encrypted, and can be erased'),
  })
  .meta({ id: 'AnswerFeedback', anyOf: [{ required: ['verdict'] }, { required: ['rating'] }, { required: ['score'] }] })

const judged = z
  .object({
    position: z.int().nullable().describe('Position of the event; null in a dry run'),
    answer: z.string(),
    verdict: z.enum(['good', 'bad']),
  })
  .meta({ id: 'JudgedAnswer' })

const isGood = (word: z.infer<typeof verdictWords>): boolean => word === 'good' || word === 1 || word === true

/** The verdict in a request. @throws Problem unless there is exactly one */
const verdictOf = ({ verdict, rating, score }: z.infer<typeof feedback>): 'good' | 'bad' => {
  const [given, ...more] = [verdict, rating, score].filter((word) => word !== undefined)
  if (given === undefined || more.length > 0)
    throw wrong(
      `a verdict is given once; this request gives ${given === undefined ? 'none' : 'several'}`,
      'Send {"verdict": "good"} or {"verdict": "bad"}, and a comment if there is one.',
    )
  return isGood(given) ? 'good' : 'bad'
}

const factsOf = ({ answer: id, agent: _, payload: __, position, recorded_at, ...more }: RecordedAnswer) => ({
  ...{ id, position, recorded_at },
  ...more,
})

/** Copies a text: a part of a text would keep the whole text in memory. */
const beginningOf = (words: string): string =>
  words.length <= limits.answerListedMaxChars ? words : Buffer.from(words.slice(0, limits.answerListedMaxChars).toWellFormed()).toString()

const path = '/projects/:project/agents/:agent/answers'

type Options = { ledger: Ledger; log: Log; reading: ReadRouteFactory; records: AnswerRecords; judge: AnswerJudge }

/** The routes for recorded answers of agents: a list, a single answer with its question and data, and judgements. */
export const answerRoutes = ({ ledger, log, reading, records, judge }: Options): Route[] => {
  const shortly = async (answer: RecordedAnswer) => {
    const { steps, ...shown } = factsOf(answer)
    try {
      const { question, answer: said } = await records.open(answer)
      return { ...shown, steps: steps.length, question: beginningOf(question), answer: beginningOf(said), readable: true }
    } catch (error) {
      if (!isProblem(error)) throw error
      return { ...shown, steps: steps.length, question: null, answer: null, readable: false }
    }
  }
  const page = async (at: LogAt, stream: string, after: number, limit: number): Promise<Entry[]> => {
    const work = new LongWork()
    const entries: Entry[] = []
    // Answers are read one at a time, because each record may have many bytes.
    for (const [i, stored] of (await at.readStream(stream, after, limit, limits.eventSliceMaxChars)).entries()) {
      const answer = asAnswer(stored.text)
      entries.push({ place: after + i + 1, items: answer ? [await shortly(answer)] : [] })
      await work.pause()
    }
    return entries
  }
  return [
    reading({
      path,
      summary: 'List the answers of an agent, oldest first; of a deleted agent by its id or stream',
      query: listParameters,
      answers: { 200: z.array(listed) },
      async handle(input, moment) {
        const { project, agent } = input.segments
        const stream = answersStream(await streamInProject(moment, 'agent', project, agent))
        return list(input, [(after, limit) => page(moment, stream, after, limit)])
      },
    }),
    reading({
      path: `${path}/:answer`,
      summary: 'Get an answer with its question, data and texts, by its id or position; 410 if it was erased',
      answers: { 200: whole },
      async handle({ segments, call }, moment) {
        const agent = await streamInProject(moment, 'agent', segments.project, segments.agent)
        const answer = await records.one(segments.answer, { agent, log: moment, client: call.client })
        const record = await records.open(answer)
        const queries = record.tools.flatMap(({ sql, columns, rows, cut, failed }) =>
          sql === undefined || failed ? [] : [{ sql, columns, rows, cut }],
        )
        // With its data it may have 20 MB.
        return jsonPieces(jsonMembers({ ...factsOf(answer), ...record, queries }))
      },
    }),
    route({
      method: 'post',
      path: `${path}/:answer/feedback`,
      summary: 'Judge an answer as good or bad; a later verdict of the same caller replaces an earlier one',
      commandHeaders: ['Idempotency-Key', 'Prefer'],
      body: object(feedback, 'feedback'),
      answers: { 200: judged },
      async handle({ segments, body, call }) {
        const [verdict, origin] = [verdictOf(body), call.origin()]
        const { expects: _, ...how } = call.execution()
        const repeated = await carriedOut(ledger, call)
        if (repeated) return json({ position: repeated.positions[0] ?? null, answer: segments.answer, verdict })
        const agent = await streamInProject(log, 'agent', segments.project, segments.agent)
        const { answer, ...outcome } = await judge.record({
          ...{ agent, ref: segments.answer, verdict, comment: body.comment ?? undefined, origin, client: call.client },
          ...how,
        })
        return json({ position: call.note(outcome).positions[0] ?? null, answer, verdict })
      },
    }),
  ]
}
