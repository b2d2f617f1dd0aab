import type { Json, JsonObject } from '../../../events/common.js'
import type { ChatExchange, ChatRequest, TokenUsage, ToolCall } from '../../llm/contract/language-model.js'

/** One use of a tool: its input, and its output for the language model. A query has `sql`, `columns` and `rows`. */
export type ToolUse = {
  call: ToolCall
  output: string
  failed: boolean
  /** Whether it was cut off before it gave anything. */
  aborted?: boolean
  sql?: string
  columns?: readonly string[]
  rows?: readonly (readonly Json[])[]
  /** Whether `rows` are only the first ones. */
  cut?: boolean
  /** Tokens that the tool itself used, for example in a search whose results a model reranks. */
  usage?: TokenUsage
  /** What a search said to its reranking model, and what this answered. The embedding model gets the question alone, which is the input. */
  exchanges?: readonly ChatExchange[]
}

/**
 * The bounds of one answer: the requests to the language model (`steps`), the estimated tokens of each (`promptTokens`) and of all with
 * their answers (`answerTokens`), the earlier messages in them (`history`), the queries, and how many of these may fail in a row before the
 * last one (`repairs`).
 */
export type AnswerBounds = {
  promptTokens: number
  answerTokens: number
  history: number
  steps: number
  queries: number
  repairs: number
}

/**
 * Every erasable part of an answer: the payload of `AgentAnswered`, sealed by `sealAnswer`. The nth exchange belongs to the nth step of
 * kind `model` in the event, and the nth use of a tool to the nth other step. SQL shows them side by side.
 */
export type AnswerRecord = {
  question: string
  /** The conversation before the question. */
  history: readonly { role: 'user' | 'assistant'; content: string }[]
  /** `bounds` is missing in answers of earlier releases. */
  settings: Omit<ChatRequest, 'messages'> & { params: JsonObject; bounds?: AnswerBounds }
  exchanges: readonly ChatExchange[]
  tools: readonly ToolUse[]
  answer: string
  /** Why there is no answer, as its client was told; the detail may repeat words of the provider. The event has the title alone. */
  failure?: { code: string; title: string; detail: string }
  /** Whether erasures cut turns out of `history`, and out of the first exchange. */
  history_erased?: true
  /** Whether the agent was granted data, and nothing of them was there or could be read. */
  data_gone?: true
  /** Whether the longest texts are cut, because the record would be too large. */
  cut?: true
}

/** The comment beside a verdict: the payload of `AnswerJudged`. */
export type JudgementRecord = { comment: string }
