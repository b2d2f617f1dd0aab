import type { ChatEnd, ChatRequest, ToolCall } from './language-model.js'

/** A part of an answer as a provider sends it. `failed` is what it says when it fails in the middle. */
export type WirePart =
  | { type: 'text'; text: string }
  | { type: 'toolCall'; toolCall: ToolCall }
  | { type: 'model'; model: string }
  | { type: 'failed'; error: unknown }
  | ({ type: 'end' } & Pick<ChatEnd, 'finish' | 'usage'>)

/**
 * Sends a request, and gives the parts of the answer, those together that arrived together. `end` is the last one; there is none where the
 * answer was cut off. What refuses the request is thrown, with its `statusCode`, `responseHeaders` and `responseBody`.
 */
export type OpenWire = (request: ChatRequest, signal: AbortSignal) => Promise<AsyncIterable<readonly WirePart[]>>
