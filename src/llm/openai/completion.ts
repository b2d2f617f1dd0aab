/**
 * Room: chats with servers with OpenAI's protocol: the body of a request, and the answer. It imports only events, basics and llm/contract.
 */

import { limits } from '../../basics/limits.js'
import type { ChatEnd } from '../contract/language-model.js'
import type { WirePart } from '../contract/wire.js'
import { countIn, listIn, recordIn, textIn } from './members.js'
import { ThoughtPieces } from './thoughts.js'
import { ToolCalls } from './tool-calls.js'

/** The text that a server sends after its last chunk. */
export const done = '[DONE]'

const finishes: Readonly<Record<string, ChatEnd['finish']>> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content_filter',
  function_call: 'tool_calls',
  tool_calls: 'tool_calls',
}

/** The text of a `content`: some servers send a list of parts, and the thoughts beside the text. */
const textOf = (content: unknown): string =>
  textIn(content) ??
  listIn(content)
    .map(recordIn)
    .map((part) => (part?.['type'] === 'text' ? (textIn(part['text']) ?? '') : ''))
    .join('')

/**
 * Reads the chunks of a chat completion as OpenAI streams them, and as other servers with its protocol do, which differ in details.
 *
 * @example
 * const completion = new Completion()
 * completion.take('{"choices":[{"delta":{"content":"42"}}]}', parts) // parts: [{ type: 'text', text: '42' }]
 */
export class Completion {
  readonly #calls = new ToolCalls()
  readonly #thoughts = new ThoughtPieces()
  #isModelTold = false
  #hasRefused = false
  #finish: string | undefined
  #usage: Record<string, unknown> | undefined

  /** Adds the parts of one chunk; text goes on in the part before it. @throws SyntaxError when the chunk is no JSON */
  take(data: string, parts: WirePart[]): void {
    const chunk = recordIn(JSON.parse(data))
    if (chunk === undefined) return
    const error = chunk['error'] ?? undefined
    if (error !== undefined) {
      parts.push({ type: 'failed', error })
      return
    }
    const model = textIn(chunk['model'])
    if (!this.#isModelTold && model) {
      this.#isModelTold = true
      parts.push({ type: 'model', model })
    }
    this.#usage = recordIn(chunk['usage']) ?? this.#usage
    const choice = recordIn(listIn(chunk['choices'])[0])
    this.#finish = textIn(choice?.['finish_reason']) ?? this.#finish
    const delta = recordIn(choice?.['delta'])
    if (delta) this.#takeDelta(delta, parts)
  }

  #takeDelta(delta: Record<string, unknown>, parts: WirePart[]): void {
    const refused = textIn(delta['refusal']) ?? ''
    this.#hasRefused ||= refused !== ''
    const text = textOf(delta['content']) + refused
    const before = parts.at(-1)
    if (text !== '' && before?.type === 'text') before.text += text
    else if (text !== '') parts.push({ type: 'text', text })
    this.#thoughts.take(delta)
    for (const piece of listIn(delta['tool_calls'])) this.#calls.take(piece)
    // More than these are refused, so no more are kept.
    if (this.#calls.count > limits.llmToolCallsMax) parts.push(...this.#whole())
  }

  #whole(): WirePart[] {
    return this.#calls.whole().map((toolCall) => ({ type: 'toolCall', toolCall }))
  }

  /** The parts that are known at the end; no `end` among them if the answer was cut off. */
  end(): WirePart[] {
    if (this.#finish === undefined) return []
    const finish = finishes[this.#finish] ?? 'other'
    const usage = { input: countIn(this.#usage?.['prompt_tokens']), output: countIn(this.#usage?.['completion_tokens']) }
    // Nothing follows an answer without calls.
    const thoughts = this.#calls.count > 0 ? this.#thoughts.whole() : undefined
    return [
      ...this.#whole(),
      { type: 'end', finish: finish === 'stop' && this.#hasRefused ? 'content_filter' : finish, usage, ...(thoughts && { thoughts }) },
    ]
  }
}
