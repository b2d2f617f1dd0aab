import type { ChatEnd, ChatRequest, ToolCall } from './language-model.js'

/** A part of an answer as a provider sends it. `failed` is its error after a failure in the middle. */
export type WirePart =
  | { type: 'text'; text: string }
  | { type: 'toolCall'; toolCall: ToolCall }
  | { type: 'model'; model: string }
  | { type: 'failed'; error: unknown }
  | ({ type: 'end' } & Pick<ChatEnd, 'finish' | 'usage' | 'thoughts'>)

/** Parameters, and members of messages, that a model was found to refuse, by the names that they have on the wire. */
export type Refusals = ReadonlySet<string>

/** The refusal of a text of a user behind the result of a tool, or behind another text of a user. */
export const freeOrder = 'order of roles'

/** The names that OpenAI's protocol has for the limit of an answer's tokens. */
export const limitNames = ['max_tokens', 'max_completion_tokens'] as const

/**
 * Sends a request without the refused parameters, and gives the parts of the answer; parts that arrived together come together. `end` is
 * the last part; an answer that was cut off has no `end`. The error of a refused request is thrown, with its `statusCode`,
 * `responseHeaders` and `responseBody`.
 */
export type OpenWire = (request: ChatRequest, refused: Refusals, signal: AbortSignal) => Promise<AsyncIterable<readonly WirePart[]>>
