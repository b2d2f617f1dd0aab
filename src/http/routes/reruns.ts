import * as z from 'zod'
import { answerOutcomes } from '../../../events/records/answers.js'
import { chosenAnswers } from '../../agents/rerun/chosen-answers.js'
import type { Comparison, Side, FailedRerun } from '../../agents/rerun/compare.js'
import type { Rerun, Reruns } from '../../agents/rerun/reruns.js'
import { Problem, wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Log } from '../../log/contract/log.js'
import { allRows } from '../../sql/contract/answer.js'
import type { SqlEngine } from '../../sql/facade/execute.js'
import { object } from '../protocol/body-schema.js'
import type { Call } from '../protocol/call.js'
import { json } from '../protocol/reply.js'
import { route, type Route } from '../protocol/route.js'
import { streamInProject } from './resources/history.js'

const position = z.int().min(1).max(999_999_999_999_999)

const changes = {
  replay: z
    .enum(['exchanges', 'tools', 'nothing'])
    .exactOptional()
    .describe('The replayed part; by default exchanges, or tools if anything is changed'),
  agent_version: position.exactOptional().describe('A version of the agent'),
  model: z.string().min(1).max(500).exactOptional().describe('Another language model, at the address of the agent'),
  provider: z.string().min(1).max(100).exactOptional().describe('The provider of that model, with the address and the key of the service'),
  prompt: z.string().min(1).max(limits.agentQuestionMaxChars).exactOptional().describe('Instead of the prompt_template of the agent'),
  as_of: z
    .union([position, z.literal('then')])
    .exactOptional()
    .describe('A log position at which the agent and its data are read; then: where the answer read them'),
  live_tools: z.boolean().exactOptional().describe('With replayed tools: whether a new input of a tool runs now'),
}

const one = z.strictObject(changes).meta({ id: 'RerunRequest' })
const many = z
  .strictObject({
    ...changes,
    answers: z
      .array(z.union([z.string().min(1).max(100), position]))
      .min(1)
      .max(limits.rerunAnswersMax)
      .exactOptional()
      .describe('Ids or positions'),
    query: z
      .string()
      .min(1)
      .max(limits.rerunQueryMaxChars)
      .exactOptional()
      .describe('A SELECT whose first column has ids or positions of answers of this agent'),
  })
  .meta({ id: 'RerunsRequest' })

const side = z.object({
  text: z.string(),
  outcome: z.enum(answerOutcomes),
  error: z.string().nullable().describe('Why it failed'),
  version: z.int(),
  model: z.string(),
  host: z.string().describe('The host that was called, with its port'),
  queries: z.array(z.object({ sql: z.string(), columns: z.array(z.string()), rows: z.int(), cut: z.boolean() })),
  input_tokens: z.int().nullable(),
  output_tokens: z.int().nullable(),
  duration_ms: z.number(),
})
const place = z.object({ answer: z.string(), position: z.int() })
const comparison = z
  .looseObject({
    of: place.describe('The recorded answer'),
    result: z.enum(['same', 'different', 'failed']),
    gave: place.nullish().describe('The new answer, if it was recorded'),
    question: z.string().optional(),
    history_erased: z.literal(true).optional().describe('Earlier turns of the conversation were erased: the rerun is without them'),
    same_text: z.boolean().optional(),
    same_rows: z.boolean().nullish().describe('Whether the last queries gave the same rows; null if there is nothing to compare'),
    before: side.optional(),
    after: side.optional(),
    code: z.string().optional(),
    detail: z.string().optional().describe('Why the rerun was not possible'),
  })
  .meta({ id: 'RerunCase' })
const answerSchema = z
  .object({
    replayed: z.enum(['exchanges', 'tools', 'nothing']),
    evaluation: z.int().nullable().describe('Position of the event that sums it up; null when nothing was recorded'),
    metrics: z.array(z.object({ name: z.string(), value: z.number() })).describe('Means over the answers'),
    cases: z.array(comparison),
  })
  .meta({ id: 'Rerun' })

type Changes = z.infer<typeof one>

const shownSide = (side: Side, most: number): Side => ({ ...side, text: side.text.slice(0, most).toWellFormed() })

const shownCase = (one: Comparison | FailedRerun, most: number) =>
  one.result === 'failed' ? one : { ...one, before: shownSide(one.before, most), after: shownSide(one.after, most) }

const replyOf = ({ cases, ...rerun }: Rerun, call: Call, most: number) => {
  if (rerun.evaluation !== null) {
    call.positions = [rerun.evaluation]
  }
  // An answer that was only repeated from its record is repeated again next time.
  return json({ ...rerun, cases: cases.map((one) => shownCase(one, most)) }, { keep: rerun.evaluation === null ? 'never' : 'rows' })
}

const changeOf = ({ replay, agent_version: version, model, provider, prompt, as_of: asOf, live_tools: runsOthers }: Changes) => ({
  ...{ replay, version, model, provider, prompt, asOf, runsOthers },
})

const whoOf = (call: Call) => ({ origin: call.origin(), client: call.client, signal: call.gone })

type Options = { log: Log; reruns: Reruns; sql: SqlEngine }

/** The routes that repeat recorded answers. */
export const rerunRoutes = ({ log, reruns, sql }: Options): Route[] => {
  /** The answers of an agent that a query selects. @throws Problem of the query */
  const chosenBy = async (query: string, agent: string, call: Call): Promise<string[]> => {
    const { origin, client, signal } = whoOf(call)
    const answer = await sql.execute({
      ...{ query: chosenAnswers(query, limits.rerunAnswersMax + 1), readsOnly: true, origin, client, signal },
    })
    if (answer.type === 'error')
      throw new Problem(answer.problem.code, answer.problem.title, `query: ${answer.problem.detail}`, answer.problem.extras)
    if (answer.type !== 'table') throw wrong('query: must be a SELECT')
    const rows = await allRows(answer.rows)
    const other = rows.find(([, , , of]) => of !== agent)
    if (other) throw wrong(`query: the answer ${String(other[0])} is of another agent`, 'Add WHERE agent_id = … to it.')
    if (rows.length === 0)
      throw wrong(
        'query: it names no recorded answer',
        'SELECT answer_id FROM log.answers WHERE … names some; its column answer is the text.',
      )
    return rows.map(([, at]) => String(at))
  }
  return [
    route({
      method: 'post',
      path: '/projects/:project/agents/:agent/answers/:answer/rerun',
      summary: 'Ask a recorded answer again, and compare: from its record alone, or with another version, model, prompt or position',
      commandHeaders: ['Idempotency-Key'],
      body: object(one, 'rerun'),
      answers: { 200: answerSchema },
      async handle({ segments, body, call }) {
        const agent = await streamInProject(log, 'agent', segments.project, segments.agent)
        const rerun = await reruns.run({ agent, answers: [segments.answer], ...changeOf(body), ...whoOf(call) })
        return replyOf(rerun, call, Infinity)
      },
    }),
    route({
      method: 'post',
      path: '/projects/:project/agents/:agent/reruns',
      summary: `Ask up to ${limits.rerunAnswersMax} recorded answers again, and compare; an event sums it up`,
      commandHeaders: ['Idempotency-Key'],
      body: object(many, 'reruns'),
      answers: { 200: answerSchema },
      async handle({ segments, body, call }) {
        const { answers, query, ...change } = body
        if ((answers === undefined) === (query === undefined)) throw wrong('reruns: give either answers or a query')
        const agent = await streamInProject(log, 'agent', segments.project, segments.agent)
        const refs = answers?.map(String) ?? (await chosenBy(query ?? '', agent, call))
        const rerun = await reruns.run({ agent, answers: refs, ...changeOf(change), ...whoOf(call) })
        return replyOf(rerun, call, limits.answerListedMaxChars)
      },
    }),
  ]
}
