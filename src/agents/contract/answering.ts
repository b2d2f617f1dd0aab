/**
 * Room: what a question to an agent and its answer are. It imports only events, basics, log/contract, commands, llm/contract and
 * llm/tokens.
 */

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
  /** The client whose turn the agent's queries take in SQL. */
  client?: string | undefined
  /** The conversation that the question belongs to. */
  conversation?: StreamId
  /** The key of the request, and its text: a second request with this key gets the recorded answer. */
  idempotency?: Execution['idempotency']
  /** A log position at which the agent, its skills and its data are read. */
  asOf?: number
  /** Use this agent instead of the one in the log. */
  isGiven?: boolean
  /** The results of tools for another answer: the tools return them again. A new input runs only if `runsOthers` is set. */
  replay?: { tools: readonly ToolUse[]; runsOthers: boolean } | undefined
  signal: AbortSignal
}

/** The rows of an agent's query; only the first ones if there are many. */
export type AnswerRows = { sql: string; columns: readonly string[]; rows: readonly (readonly Json[])[]; cut: boolean }

/** The query of one use of a tool; undefined if there was none, or it failed. */
export const rowsOf = ({ failed, sql, columns = [], rows = [], cut = false }: ToolUse): AnswerRows | undefined =>
  failed || sql === undefined ? undefined : { sql, columns, rows, cut }

/** The queries behind a recorded answer. */
export const queriesOf = ({ tools }: Pick<AnswerRecord, 'tools'>): AnswerRows[] => tools.flatMap((use) => rowsOf(use) ?? [])

/**
 * The events on the way to an answer, at the time when they happen. `text` is a part of the language model's text. If a step or `remark`
 * follows, the text so far was only a remark, and the answer begins again.
 */
export type AnswerFrame =
  | { type: 'start'; answer: string }
  | { type: 'step'; tool: string; input: string }
  | { type: 'result'; tool: string; failed: boolean; text: string; rows?: AnswerRows }
  | { type: 'text'; text: string }
  | { type: 'remark' }

/** The end of an answer. It was recorded at `position` before anybody gets this object. */
export type AgentAnswer = {
  answer: string
  position: number
  /** The language model that gave the answer, and the called host. */
  model: string
  host: string
  content: string
  outcome: AnswerOutcome
  /** The queries behind the answer, with their rows. */
  queries: readonly AnswerRows[]
  /** The outputs of its tools. */
  retrieved: readonly string[]
  /** A note that the answer or its prompt is cut off, or on what it is based if no query returned rows; see `noteOf`. */
  note?: string
  usage: TokenUsage
  /** Why there is no answer. */
  problem?: Problem
}

/**
 * Whether the question has its final answer: `unanswered` is final, a failure is not. A request that failed or was given up runs again when
 * the client repeats it.
 */
export const hasAnswer = ({ outcome }: Pick<AgentAnswer, 'outcome'>): boolean => outcome === 'answered' || outcome === 'unanswered'

/** The messages that a question would send. No model is asked, and nothing is recorded. */
export type AnswerPlan = {
  provider: string
  model: string
  host: string
  read_at: number
  messages: readonly ChatMessage[]
  tools: readonly ToolDescription[]
  /** The tables that the agent may read, and the table descriptions in the prompt. */
  tables: readonly string[]
  schema: readonly object[]
  models: readonly string[]
  knowledge_bases: readonly string[]
  /** Names in the agent's settings that do not exist. */
  missing: readonly string[]
  /** Null: as many as the language model gives. */
  max_output_tokens: number | null
  max_prompt_tokens: number
  max_answer_tokens: number
  max_history: number
  max_steps: number
  max_queries: number
  max_repairs: number
}

/**
 * Answers a question: yields the frames at once, and returns the end. It throws only if the question is refused before a model is asked or
 * an event recorded; every later failure is an outcome.
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
