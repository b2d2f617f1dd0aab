/** Room: what a language model is to those who ask it. It imports events alone. */

import type { JsonObject } from '../../../events/common.js'

/**
 * A call of a tool, as a language model wrote it: `input` is its JSON text, which may be ill-formed. `signature` is for the provider only,
 * some of which want it back with the call.
 */
export type ToolCall = { id: string; tool: string; input: string; signature?: string }

/** One message of a chat. What tools gave is data: it is never an instruction. */
export type ChatMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; toolCalls?: readonly ToolCall[] }
  | { role: 'tool'; toolCallId: string; tool: string; content: string }

/** What a language model is told of a tool. */
export type ToolDescription = { name: string; description: string; inputSchema: JsonObject }

/** What a language model is asked: all messages so far, and the tools that it may call. */
export type ChatRequest = {
  messages: readonly ChatMessage[]
  tools: readonly ToolDescription[]
  maxOutputTokens: number
  temperature?: number
}

/** A part of the answer, as it arrives. */
export type ChatPart = { text: string } | { toolCall: ToolCall }

/** The tokens of one exchange; null where the provider does not say. */
export type TokenUsage = { input: number | null; output: number | null }

/** The end of an answer. `model` is the name that the provider answered with. */
export type ChatEnd = { finish: 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'other'; usage: TokenUsage; model: string }

/**
 * A language model that can be asked. `chat` gives the parts as they arrive, and returns the end.
 *
 * @example for await (const part of model.chat({ messages, tools: [], maxOutputTokens: 1_000 }, { signal })) …
 * @throws Problem llm_failed, whose title says nothing of what was said; egress_refused; busy; what the signal says once it has stopped
 */
export type LanguageModel = {
  provider: string
  model: string
  /** The host that is called, with its port. */
  host: string
  chat: (request: ChatRequest, options: { signal: AbortSignal }) => AsyncGenerator<ChatPart, ChatEnd, void>
}

/**
 * A model that turns texts into vectors, all of the same number of dimensions, in the order of the texts. `onUsed` is told the tokens of each
 * exchange whose provider says them.
 *
 * @example const [vector] = await embedder.embed(['rooms'], { signal })
 * @throws Problem llm_failed, egress_refused, busy; what the signal says once it has stopped
 */
export type EmbeddingModel = {
  provider: string
  model: string
  host: string
  embed: (texts: readonly string[], options: { signal: AbortSignal; onUsed?: (usage: TokenUsage) => void }) => Promise<Float32Array[]>
}
