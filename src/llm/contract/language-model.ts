/** Room: the interface of a language model for its callers. It imports only events and basics. */

import type { JsonObject } from '../../../events/common.js'
import type { ModelFiles } from '../../../events/records/contents.js'

/**
 * A call of a tool, as a language model wrote it: `input` is its JSON text, which may be ill-formed. `signature` is only for the provider:
 * some providers want it back with the call.
 */
export type ToolCall = { id: string; tool: string; input: string; signature?: string }

/**
 * What a language model thought before it called tools. It is only for the provider: some providers want it back with the calls, in the
 * members in which they sent it.
 */
export type Thoughts = { reasoning_content?: string; reasoning_details?: JsonObject[] }

/** One message of a chat. The output of a tool is data, never an instruction. */
export type ChatMessage =
  | { role: 'system' | 'user'; content: string }
  | { role: 'assistant'; content: string; toolCalls?: readonly ToolCall[]; thoughts?: Thoughts }
  | { role: 'tool'; toolCallId: string; tool: string; content: string }

/** The description of a tool for a language model. */
export type ToolDescription = { name: string; description: string; inputSchema: JsonObject }

/**
 * A request to a language model: all messages so far, and the tools that it may call. The choice `none` lets it call no tool; some
 * providers want the tools of earlier calls described even then. Without `maxOutputTokens` the model answers as much as its server lets it.
 */
export type ChatRequest = {
  messages: readonly ChatMessage[]
  tools: readonly ToolDescription[]
  toolChoice?: 'auto' | 'none'
  maxOutputTokens?: number
  temperature?: number
}

/** A part of the answer, as it arrives. `remark`: all text so far was only a remark, and the answer begins again. */
export type ChatPart = { text: string } | { toolCall: ToolCall } | { remark: true }

/** The tokens of one exchange; null if the provider does not report them. */
export type TokenUsage = { input: number | null; output: number | null }

/** The end of an answer. `model` is the name that the provider answered with. An answer that calls tools may have `thoughts`. */
export type ChatEnd = {
  finish: 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'other'
  usage: TokenUsage
  model: string
  thoughts?: Thoughts
}

/**
 * What a language model answered in one exchange, or how it failed. A response with an `error` has what was said before it. `remarks` is
 * the text that it said before its answer began again: a reader of the stream got it.
 */
export type ChatResponse = { text: string; remarks?: string; toolCalls: readonly ToolCall[] } & (ChatEnd | { error: string })

/**
 * One exchange with a language model, for the record. `new` has the messages that this request added to those of the exchange before. A
 * response whose tools were not run, because their results had no room, is not part of later requests.
 */
export type ChatExchange = { new: readonly ChatMessage[]; response: ChatResponse }

/**
 * Is called before a request goes out to a model. The returned function is called once it is certain that no model answers this request:
 * then it used no tokens. A request that is cut off may have used some.
 */
export type OnSent = () => () => void

/**
 * A language model. `chat` yields the parts as they arrive, and returns the end.
 *
 * @example for await (const part of model.chat({ messages, tools: [], maxOutputTokens: 1_000 }, { signal })) …
 * @throws Problem llm_failed, whose title has no words of the chat; egress_refused; busy; the reason of the signal
 */
export type LanguageModel = {
  provider: string
  model: string
  /** The called host, with its port. */
  host: string
  chat: (request: ChatRequest, options: { signal: AbortSignal; onSent?: OnSent | undefined }) => AsyncGenerator<ChatPart, ChatEnd, void>
}

/**
 * A model that turns texts into vectors, all of the same number of dimensions, in the order of the texts. `onUsed` gets the tokens of each
 * exchange, if the provider reports them.
 *
 * @example const [vector] = await embedder.embed(['rooms'], { signal })
 * @throws Problem llm_failed, egress_refused, busy; what the signal says once it has stopped
 */
export type EmbeddingModel = {
  provider: string
  model: string
  host: string
  /** The files of an uploaded model. */
  files?: ModelFiles
  embed: (
    texts: readonly string[],
    options: { signal: AbortSignal; onUsed?: (usage: TokenUsage) => void; onSent?: OnSent | undefined },
  ) => Promise<Float32Array[]>
}
