/** Room: what a question to an agent and its answer are. It imports events, basics, log/contract, commands and llm/contract alone. */

import type { AnswerOutcome, AnswerPurpose } from '../../../events/records/answers.js'
import type { Json, StreamId } from '../../../events/common.js'
import type { Problem } from '../../basics/errors.js'
import type { ChatMessage, TokenUsage, ToolDescription } from '../../llm/contract/language-model.js'
import type { Execution } from '../../commands/ledger.js'
import type { Resource, Origin } from '../../log/contract/log.js'
import type { AnswerRecord, ToolUse } from './answer-record.js'

/** One turn of a conversation. */
export type Turn = { role: 'user' | 'assistant'; content: string }

/** A question to an agent. The last of the turns is the question. */
export type AgentRequest = {
  project: Resource<'project'>
  agent: Resource<'agent'>
  turns: readonly Turn[]
  purpose: AnswerPurpose
  origin: Origin
  /** Whose turn the agent's queries take in SQL. */
  client?: string | undefined
  /** The conversation that the question belongs to. */
  conversation?: StreamId
  /** The key of the request, and its text: asked again with it, an answer that was given is given again. */
  idempotency?: Execution['idempotency']
  /** A log position at which the agent, its skills and its data are read. */
  asOf?: number
  /** The agent is asked as it is given here, and not as the log has it. */
  isGiven?: boolean
  /** What tools gave for another answer: they give it again. What they were not asked then runs only if `runsOthers`. */
  replay?: { tools: readonly ToolUse[]; runsOthers: boolean } | undefined
  signal: AbortSignal
}

/** The rows that a query of the agent gave; at most the first ones. */
export type AnswerRows = { sql: string; columns: readonly string[]; rows: readonly (readonly Json[])[]; cut: boolean }

/** The query of one use of a tool; undefined if there was none, or it failed. */
export const rowsOf = ({ failed, sql, columns = [], rows = [], cut = false }: ToolUse): AnswerRows | undefined =>
  failed || sql === undefined ? undefined : { sql, columns, rows, cut }

/** The queries that a recorded answer rests on. */
export const queriesOf = ({ tools }: Pick<AnswerRecord, 'tools'>): AnswerRows[] => tools.flatMap((use) => rowsOf(use) ?? [])

/**
 * What happens on the way to an answer, as it happens. `text` is a part of what the language model says. If a step follows, that was a remark
 * on the way, and the answer begins anew.
 */
export type AnswerFrame =
  | { type: 'start'; answer: string }
  | { type: 'step'; tool: string; input: string }
  | { type: 'result'; tool: string; failed: boolean; text: string; rows?: AnswerRows }
  | { type: 'text'; text: string }

/** The end of an answer. It is recorded, at `position`, before this is known to anybody. */
export type AgentAnswer = {
  answer: string
  position: number
  /** The language model that was asked. */
  model: string
  content: string
  outcome: AnswerOutcome
  /** The queries that the answer rests on, with their rows. */
  queries: readonly AnswerRows[]
  /** What it rests on where no query gave rows; see `noteOf`. */
  note?: string
  usage: TokenUsage
  /** Why there is no answer. */
  problem?: Problem
}

/**
 * Whether the question is settled: `unanswered` counts, a failure does not. A request that failed or was given up asks again when it is
 * sent again.
 */
export const hasAnswer = ({ outcome }: Pick<AgentAnswer, 'outcome'>): boolean => outcome === 'answered' || outcome === 'unanswered'

/** What a question would be sent as: nothing is asked, and nothing recorded. */
export type AnswerPlan = {
  provider: string
  model: string
  host: string
  read_at: number
  messages: readonly ChatMessage[]
  tools: readonly ToolDescription[]
  /** The tables that the agent may read, and the descriptions of those that the prompt describes. */
  tables: readonly string[]
  schema: readonly object[]
  models: readonly string[]
  knowledge_bases: readonly string[]
  /** What the agent was given, and is not there. */
  missing: readonly string[]
  max_output_tokens: number
}

/**
 * Answers a question: gives the frames as they come, and returns the end. It throws only what was refused before anything was asked or
 * recorded; whatever happens later is an outcome.
 *
 * @example for await (const frame of agents.ask({ project, agent, turns, purpose: 'completion', origin, signal })) …
 * @throws Problem not_ready, busy, egress_refused
 */
export type AskAgent = (asked: AgentRequest) => AsyncGenerator<AnswerFrame, AgentAnswer, void>

/** The end of an answer, for callers that do not need its frames. @example await answerOf(agents.ask(asked)) */
export const answerOf = async (frames: ReturnType<AskAgent>): Promise<AgentAnswer> => {
  for (;;) {
    const next = await frames.next()
    if (next.done === true) return next.value
  }
}
