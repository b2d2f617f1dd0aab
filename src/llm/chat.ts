import { unreachable } from '../../events/common.js'
import { limits } from '../basics/limits.js'
import { wholeCharacters, withoutThoughts, type AnswerText } from './answer-text.js'
import type { ChatEnd, ChatPart, ChatRequest, LanguageModel, TokenUsage, ToolCall } from './contract/language-model.js'
import { limitNames, type OpenWire, type Refusals, type WirePart } from './contract/wire.js'
import { askAgain, Stop, type ExchangeLimits } from './exchange.js'
import { explainFailure, explainSent, llmFailed, endedEarly, notUnderstood, type Exchange } from './failures.js'
import type { HostSlots } from './host-slots.js'
import { refusesLimit, type RememberedRefusals } from './refusals.js'
import type { ModelSettings } from './settings.js'

/** What a chat needs. */
export type ChatParts = {
  settings: ModelSettings
  exchange: Exchange
  open: OpenWire
  refusals: RememberedRefusals
  slots: HostSlots
  most: ExchangeLimits
}

const longestName = 200

/** A request within the settings of the model. */
const within = ({ temperature: asked, maxOutputTokens, ...request }: ChatRequest, settings: ModelSettings): ChatRequest => {
  const temperature = asked ?? settings.temperature
  const most = Math.min(maxOutputTokens ?? Infinity, settings.maxTokens ?? Infinity)
  return { ...request, ...(most < Infinity && { maxOutputTokens: most }), ...(temperature !== null && { temperature }) }
}

const named = (name: string): string => name.slice(0, longestName).toWellFormed()

const callOf = (call: ToolCall): ToolCall => ({ ...call, tool: named(call.tool), input: call.input.trim() === '' ? '{}' : call.input })

/** The known counts: some servers say 0 for what they do not count. No request is empty, and no answer that has begun. */
const knownCounts = ({ input, output }: TokenUsage, hasBegun: boolean): TokenUsage => ({
  input: input === 0 ? null : input,
  output: output === 0 && hasBegun ? null : output,
})

/** Converts the data of a provider into parts of an answer. */
class ResponseReader {
  readonly #characters = wholeCharacters()
  readonly #thoughts = withoutThoughts()
  #calls = 0
  #answeredBy: string | undefined
  #end: ChatEnd | undefined
  #hasBegun = false

  constructor(
    private readonly exchange: Exchange,
    private readonly settings: ModelSettings,
  ) {}

  *take(part: WirePart): Generator<ChatPart, void> {
    this.#hasBegun ||= part.type === 'text' || part.type === 'toolCall'
    switch (part.type) {
      case 'text':
        yield* shown(this.#thoughts.next(this.#characters.next(part.text)))
        return
      case 'toolCall':
        this.#calls += 1
        if (this.#calls > limits.llmToolCallsMax)
          throw llmFailed(
            'Too many calls',
            `${this.exchange.host} calls more than ${limits.llmToolCallsMax} tools at once`,
            'Take another model.',
          )
        yield { toolCall: callOf(part.toolCall) }
        return
      case 'model':
        this.#answeredBy = named(part.model)
        return
      case 'failed':
        throw explainSent(part.error, this.exchange)
      case 'end': {
        yield* this.#rest()
        const { finish, usage, thoughts } = part
        this.#end = {
          // Some servers say "stop" where they call tools.
          finish: this.#calls > 0 && (finish === 'stop' || finish === 'other') ? 'tool_calls' : finish,
          usage: knownCounts(usage, this.#hasBegun),
          model: this.#answeredBy || this.settings.model,
          ...(thoughts && { thoughts }),
        }
        return
      }
      default:
        unreachable(part)
    }
  }

  end(): ChatEnd {
    if (this.#end) return this.#end
    throw this.#hasBegun ? endedEarly(this.exchange) : notUnderstood(this.exchange)
  }

  *#rest(): Generator<ChatPart, void> {
    const last = this.#characters.end()
    if (last !== '') yield* shown(this.#thoughts.next(last))
    yield* shown({ text: this.#thoughts.end() })
  }
}

const shown = function* ({ text, isAfterRemark }: AnswerText): Generator<ChatPart, void> {
  if (isAfterRemark) yield { remark: true }
  if (text !== '') yield { text }
}

/** Asks a model, and yields its answer as it arrives. A caller that stops reading closes the connection. */
export const chatWith = ({ settings, exchange, open, refusals, slots, most }: ChatParts): LanguageModel['chat'] =>
  async function* (request, { signal, onSent }) {
    const leave = await slots.take(exchange.host, signal)
    const stop = new Stop(signal, most, exchange)
    const sent = within(request, settings)
    let refused: Refusals = new Set()
    let leftOut: readonly string[] = []
    const ask = () => {
      refused = new Set([...refusals.of(settings), ...leftOut])
      return open(sent, refused, stop.signal)
    }
    /** A limit that is too large is left out: the server then has a smaller one. It is not remembered: it may depend on the prompt. */
    const leavesOutLimit = (error: unknown): boolean => {
      if (settings.wire !== 'openai' || sent.maxOutputTokens === undefined || leftOut.length > 0 || !refusesLimit(error)) return false
      leftOut = limitNames
      return true
    }
    try {
      const answer = await askAgain({
        ask,
        // Another request may have learnt of the refusal since this one was sent.
        learns: (error) => leavesOutLimit(error) || refusals.learns(settings, error, refused),
        exchange,
        stop,
        most,
        onSent,
      })
      const reading = new ResponseReader(exchange, settings)
      try {
        for await (const parts of answer) for (const part of parts) yield* reading.take(part)
        return reading.end()
      } catch (error) {
        throw stop.signal.aborted ? stop.reason(error) : explainFailure(error, exchange)
      }
    } finally {
      stop.end()
      leave()
    }
  }
