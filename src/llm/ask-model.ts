import { over, AbortableWait } from '../basics/concurrency/bounded-waits.js'
import { Problem } from '../basics/errors.js'
import { isNestedDeeper } from '../basics/json-text.js'
import { limits } from '../basics/limits.js'
import type {
  ChatEnd,
  ChatExchange,
  ChatRequest,
  ChatResponse,
  LanguageModel,
  OnSent,
  Thoughts,
  ToolCall,
} from './contract/language-model.js'

/**
 * The result of an exchange. `failure` says why it was cut off; it `isFree` if no model had answered by then, and none had a request to
 * answer.
 */
export type ExchangeResult = { response: ChatResponse; failure?: unknown; isFree?: boolean; durationMs: number }

const tooMuch = (): Problem =>
  new Problem(
    'answer_limit',
    'The answer is too long',
    `the language model wrote more than ${limits.agentOutputMaxChars} characters (agentOutputMaxChars)`,
    { hint: 'Ask for less at once, or give the agent max_tokens.' },
  )

const tooManyCalls = (): Problem =>
  new Problem(
    'answer_limit',
    'Too many uses of tools',
    `the language model wanted more than ${limits.agentToolCallsMax} uses of tools at once (agentToolCallsMax)`,
    { hint: 'Ask for less at once, or take another language model.' },
  )

const cutOff = 'It was cut off'

/** What a model has said so far. It counts as cut off until it has ended. */
type ModelOutput = { text: string; remarks?: string; toolCalls: ToolCall[]; error: string }

/** The response of a model that has said nothing. */
const unsaid = (): ModelOutput => ({ text: '', toolCalls: [], error: cutOff })

/** A text of a language model without the characters that events must not have. */
const fit = (text: string): string => text.toWellFormed().replaceAll('\0', '')

/**
 * An end whose thoughts have no such characters either. Of thoughts that a record cannot have, because they are nested too deeply, nothing
 * is kept.
 */
const fitEnd = ({ thoughts, ...end }: ChatEnd): ChatEnd => {
  if (!thoughts || isNestedDeeper(thoughts, limits.jsonMaxDepth)) return end
  const cleaned = (name: string, value: unknown): unknown =>
    name === '__proto__' ? undefined : typeof value === 'string' ? fit(value) : value
  return { ...end, thoughts: JSON.parse(JSON.stringify(thoughts, cleaned)) as Thoughts }
}

const titleOf = (error: unknown): string => (error instanceof Problem ? error.title : cutOff)

/**
 * Who listens to an exchange. `onBegun` gets the response before the request goes out, and the response grows with what is said: a record
 * that is made in between has everything up to then.
 */
type Listening = {
  signal: AbortSignal
  onBegun?: (response: ChatResponse) => void
  onText?: (text: string) => void
  onRemark?: () => void
  onSent?: OnSent | undefined
}

/**
 * Sends a language model one request. It passes the text on at once, and tells when the text so far was only a remark. After a failure, the
 * text so far is part of the result.
 *
 * @example const { response } = await exchange(model, request, { signal, onText: (text) => … })
 */
export const exchange = async (
  model: LanguageModel,
  request: ChatRequest,
  { signal, onBegun, onText, onRemark, onSent: onRequest }: Listening,
): Promise<ExchangeResult> => {
  const began = performance.now()
  const said = unsaid()
  onBegun?.(said)
  let chars = 0
  let sent = 0
  const onSent = () => {
    sent += 1
    const tellUnanswered = onRequest?.()
    return () => {
      sent -= 1
      tellUnanswered?.()
    }
  }
  const stop = new AbortController()
  const waiting = new AbortableWait(signal)
  const parts = model.chat(request, { signal: AbortSignal.any([signal, stop.signal]), onSent })
  try {
    for (;;) {
      // A model may ignore the signal.
      const next = await waiting.for(parts.next())
      if (next.done === true) {
        const { error: _, ...whole } = said
        return { response: { ...whole, ...fitEnd(next.value) }, durationMs: performance.now() - began }
      }
      const part = next.value
      if ('toolCall' in part) {
        const { id, tool, input } = part.toolCall
        chars += input.length
        said.toolCalls.push({ ...part.toolCall, id: fit(id), tool: fit(tool), input: fit(input) })
      } else if ('remark' in part) {
        if (said.text !== '') said.remarks = (said.remarks ?? '') + said.text
        said.text = ''
        onRemark?.()
      } else if (part.text !== '') {
        const text = fit(part.text)
        chars += text.length
        said.text += text
        onText?.(text)
      }
      if (chars > limits.agentOutputMaxChars) throw tooMuch()
      if (said.toolCalls.length > limits.agentToolCallsMax) throw tooManyCalls()
    }
  } catch (error) {
    const failure: unknown = signal.aborted ? signal.reason : error
    return { response: { ...said, error: titleOf(failure) }, failure, isFree: sent === 0, durationMs: performance.now() - began }
  } finally {
    waiting.end()
    stop.abort(over)
    // Not awaited: a model that hangs may never end.
    void parts.return({ finish: 'other', usage: { input: null, output: null }, model: '' }).catch(() => undefined)
  }
}

/**
 * The same for a request that is an exchange of its own. `onExchange` gets it before anything is sent, so that it is on record however it
 * ends, and even if nobody waits for its end.
 */
export const exchangeOnRecord = async (
  model: LanguageModel,
  request: ChatRequest,
  { onExchange, ...listening }: Omit<Listening, 'onBegun'> & { onExchange: (exchange: ChatExchange) => void },
): Promise<ExchangeResult> => {
  const kept: ChatExchange = { new: request.messages, response: unsaid() }
  onExchange(kept)
  const exchanged = await exchange(model, request, { ...listening, onBegun: (said) => (kept.response = said) })
  kept.response = exchanged.response
  return exchanged
}
