import type { Json, JsonObject } from '../../../events/common.js'
import type { ChatEnd, ChatMessage, ChatRequest, TokenUsage, ToolCall } from '../../llm/contract/language-model.js'

/** What a language model answered in one exchange, or how it failed. */
export type ChatResponse = { text: string; toolCalls: readonly ToolCall[] } & (ChatEnd | { error: string })

/** One exchange with a language model. `new` are the messages that this request added to those of the exchange before. */
export type Exchange = { new: readonly ChatMessage[]; response: ChatResponse }

/** One use of a tool: what was asked, and what the language model was told. `sql`, `columns` and `rows` are those of a query. */
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
  /** Tokens that the tool used itself, as a search does whose finds a model orders. */
  usage?: TokenUsage
}

/**
 * Everything of an answer that may have to be erased: the payload of `AgentAnswered`, sealed by `sealAnswer`. The nth exchange belongs to
 * the nth step of kind `model` in the event, and the nth use of a tool to the nth other step: SQL shows them side by side.
 */
export type AnswerRecord = {
  question: string
  /** What was said before the question. */
  history: readonly { role: 'user' | 'assistant'; content: string }[]
  settings: Omit<ChatRequest, 'messages'> & { params: JsonObject }
  exchanges: readonly Exchange[]
  tools: readonly ToolUse[]
  answer: string
}

/** What somebody said beside a verdict: the payload of `AnswerJudged`. */
export type JudgementRecord = { comment: string }
