import * as z from 'zod'
import type { Agents } from '../../agents/agents.js'
import { answerOf, type AgentAnswer, type AgentRequest } from '../../agents/contract/answering.js'
import { isProblem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Log } from '../../log/contract/log.js'
import type { Call } from '../protocol/call.js'
import { oneOf } from '../protocol/parameters.js'
import { eventHeaders, json, stream, type Piece, type Reply } from '../protocol/reply.js'
import { route, type Route } from '../protocol/route.js'
import { AnswerEvents, groundsOf, refusalOf } from '../reads/answer-frames.js'
import { chatBody } from '../reads/chat-body.js'
import { withBeats } from '../reads/heartbeat.js'
import { asOf, positionOf } from '../reads/read-routes.js'
import { inProject } from '../../log/read/by-name.js'

const path = '/projects/:project/agents/:agent/completions'

const query = {
  dry_run: oneOf(['true', 'false'], 'dry_run is true or false'),
  as_of: asOf,
}

const answerSchema = z
  .looseObject({
    message: z.looseObject({
      content: z.string(),
      role: z.literal('assistant'),
      trace_id: z.string().describe('The id of the answer, which its record has'),
      context: z.array(z.string()).optional().describe('The outputs of tools, if the agent has return_context'),
    }),
    outcome: z.string().describe('answered or unanswered'),
    position: z.int().describe('Position of the event that records it'),
    sql: z.array(z.string()).describe('The queries behind the answer'),
    data: z.array(z.looseObject({ sql: z.string(), columns: z.array(z.string()), rows: z.array(z.array(z.unknown())), cut: z.boolean() })),
    usage: z.object({ input_tokens: z.int().nullable(), output_tokens: z.int().nullable() }),
    note: z
      .string()
      .optional()
      .describe('That the answer or its prompt is cut off, and its basis if no query returned rows: other tools, or no data'),
  })
  .meta({ id: 'AgentAnswer' })

type Input = { segments: { project: string; agent: string }; query: { as_of: string | undefined }; body: AgentRequest['turns']; call: Call }

const planned = (agents: Agents, asked: AgentRequest): Promise<Reply> => agents.plan(asked).then((plan) => json(plan, { keep: 'never' }))

/** Whether the agent's answers include the context. */
const returnsContext = ({ agent }: AgentRequest): boolean => agent.state.params['return_context'] === true

const replyOf = (asked: AgentRequest, answered: AgentAnswer, call: Call): Reply => {
  call.positions = [answered.position]
  const refusal = refusalOf(answered)
  if (refusal) throw refusal
  const message = {
    content: answered.content,
    role: 'assistant',
    trace_id: answered.answer,
    ...(returnsContext(asked) && { context: answered.retrieved }),
  }
  return json({ message, ...groundsOf(answered) }, { keep: 'rows' })
}

/** The events of an answer, without delay. A refusal before the first event is thrown. */
async function* eventsOf(agents: Agents, asked: AgentRequest, call: Call): AsyncGenerator<Piece, void, void> {
  const events = new AnswerEvents(asked.turns.at(-1)?.content ?? '')
  const answering = agents.ask(asked)
  let hasBegun = false
  try {
    for (;;) {
      const next = await answering.next()
      if (next.done === true) {
        call.positions = [next.value.position]
        yield events.end(next.value, { returnsContext: returnsContext(asked) })
        return
      }
      yield events.of(next.value)
      hasBegun = true
    }
  } catch (error) {
    if (!hasBegun || !isProblem(error)) throw error
    yield events.failed(error)
  } finally {
    // If the client has left, the answer is still recorded.
    await answering.return(undefined as never)
  }
}

async function* withHeartbeats(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece, void, void> {
  for await (const piece of withBeats(pieces, limits.eventStreamHeartbeatMs)) yield piece === 'beat' ? ': heartbeat\n\n' : piece
}

/** Routes that ask agents. */
export const completionRoutes = (log: Log, agents: Agents): Route[] => {
  const askedBy = async ({ segments, query: { as_of: when }, body: turns, call }: Input): Promise<AgentRequest> => {
    const position = when === undefined ? undefined : await positionOf(when, log)
    if (position !== undefined) call.answerHeaders['X-As-Of'] = String(position)
    // The agent is looked up at the requested moment, as in reads.
    const place = position === undefined ? log : { resources: agents.resourcesAt(position, call.client), asOf: position }
    const { project, found: agent } = await inProject(place, 'agent', segments.project, segments.agent)
    return {
      ...{ project, agent, turns, purpose: 'completion', origin: call.origin(), client: call.client, signal: call.gone },
      ...call.idempotency(),
      ...(position !== undefined && { asOf: position }),
    }
  }

  return [
    route({
      method: 'post',
      path,
      summary: 'Ask an agent: its answer, with its queries and their rows, recorded before the client gets it',
      commandHeaders: ['Idempotency-Key'],
      query,
      body: chatBody,
      bodySize: 'resource',
      answers: { 200: answerSchema },
      async handle(input) {
        const { call } = input
        const asked = await askedBy(input)
        if (input.query.dry_run === 'true') return planned(agents, asked)
        return replyOf(asked, await answerOf(agents.ask(asked)), call)
      },
    }),
    route({
      method: 'post',
      path: `${path}/stream`,
      summary: 'Ask an agent: its steps and its answer as server-sent events, at once; the last events follow when the answer is recorded',
      commandHeaders: ['Idempotency-Key'],
      query,
      body: chatBody,
      bodySize: 'resource',
      gives: ['text/event-stream'],
      answers: { 200: null },
      async handle(input) {
        const { call } = input
        const asked = await askedBy(input)
        if (input.query.dry_run === 'true') return planned(agents, asked)
        const pieces = withHeartbeats(eventsOf(agents, asked, call))
        return stream('text/event-stream; charset=utf-8', { pieces, ends: call.gone }, { headers: eventHeaders, keep: 'never' })
      },
    }),
  ]
}
