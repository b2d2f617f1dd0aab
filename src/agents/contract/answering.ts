import type { AnswerOutcome, AnswerPurpose } from '../../../events/records/answers.js'
import type { Json, StreamId } from '../../../events/common.js'
import type { Problem } from '../../basics/errors.js'
import type { TokenUsage } from '../../llm/contract/language-model.js'
import type { Found, Origin } from '../../log/contract/log.js'

/** One turn of a conversation. */
export type Turn = { role: 'user' | 'assistant'; content: string }

/** A question to an agent. The last of the turns is the question. */
export type Asked = {
  project: Found<'project'>
  agent: Found<'agent'>
  turns: readonly Turn[]
  purpose: AnswerPurpose
  origin: Origin
  /** Whose turn the agent's queries take in SQL. */
  client?: string | undefined
  /** The conversation that the question belongs to. */
  conversation?: StreamId
  /** A log position at which the agent, its skills and its data are read. */
  asOf?: number
  signal: AbortSignal
}

/** The rows that a query of the agent gave; at most the first ones. */
export type AnswerRows = { sql: string; columns: readonly string[]; rows: readonly (readonly Json[])[]; cut: boolean }

/** What happens on the way to an answer, as it happens. `text` is a part of the answer itself. */
export type AnswerFrame =
  | { type: 'start'; answer: string }
  | { type: 'step'; tool: string; input: string }
  | { type: 'result'; tool: string; failed: boolean; text: string; rows?: AnswerRows }
  | { type: 'text'; text: string }

/** The end of an answer. It is recorded, at `position`, before this is known to anybody. */
export type Answered = {
  answer: string
  position: number
  content: string
  outcome: AnswerOutcome
  /** The queries that the answer rests on, with their rows. */
  queries: readonly AnswerRows[]
  usage: TokenUsage
  /** Why there is no answer. */
  problem?: Problem
}

/**
 * Answers a question: gives the frames as they come, and returns the end. It throws only what was refused before anything was asked or
 * recorded; whatever happens later is an outcome.
 *
 * @example for await (const frame of agents.ask({ project, agent, turns, purpose: 'completion', origin, signal })) …
 * @throws Problem not_ready, busy, egress_refused
 */
export type AskAgent = (asked: Asked) => AsyncGenerator<AnswerFrame, Answered, void>
