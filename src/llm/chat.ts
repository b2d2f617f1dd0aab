import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart, LanguageModelV3Usage } from '@ai-sdk/provider'
import { limits } from '../basics/limits.js'
import { wholeCharacters, withoutThoughts } from './answer-text.js'
import type { ChatEnd, ChatPart, ChatRequest, LanguageModel, ToolCall } from './contract/language-model.js'
import { askAgain, Stop, type ExchangeLimits } from './exchange.js'
import { explainFailure, explainSent, llmFailed, notUnderstood, type Exchange } from './failures.js'
import type { Places } from './places.js'
import { promptOf, toolsOf } from './prompt.js'
import type { RememberedRefusals } from './refusals.js'
import type { ModelSettings } from './settings.js'

/** What a chat needs: the model anew for each try, since it may be called with less. */
export type ChatParts = {
  settings: ModelSettings
  exchange: Exchange
  model: () => Promise<LanguageModelV3>
  refusals: RememberedRefusals
  places: Places
  most: ExchangeLimits
}

const longestName = 200

const optionsOf = ({ messages, tools, maxOutputTokens, temperature }: ChatRequest, settings: ModelSettings): LanguageModelV3CallOptions => {
  const warmth = temperature ?? settings.temperature
  return {
    prompt: promptOf(messages),
    maxOutputTokens: Math.min(maxOutputTokens, settings.maxTokens ?? maxOutputTokens),
    ...(warmth !== null && { temperature: warmth }),
    ...(tools.length > 0 && { tools: toolsOf(tools), toolChoice: { type: 'auto' } }),
    // Inputs of tools are not shown while they arrive, and not every server between knows this way of sending them.
    ...(settings.wire === 'anthropic' && { providerOptions: { anthropic: { toolStreaming: false } } }),
  }
}

const count = (tokens: number | undefined): number | null => (Number.isSafeInteger(tokens) && (tokens ?? -1) >= 0 ? (tokens ?? null) : null)

/** The libraries make zero of what a provider leaves out. */
const isTold = (raw: LanguageModelV3Usage['raw'], ...names: string[]): boolean => names.some((name) => typeof raw?.[name] === 'number')

const usageOf = ({ inputTokens, outputTokens, raw }: LanguageModelV3Usage) => ({
  input: isTold(raw, 'prompt_tokens', 'input_tokens') ? count(inputTokens.total) : null,
  output: isTold(raw, 'completion_tokens', 'output_tokens') ? count(outputTokens.total) : null,
})

const finishes = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  other: 'other',
  error: 'other',
} as const

const callOf = ({ toolCallId, toolName, input, providerMetadata }: LanguageModelV3StreamPart & { type: 'tool-call' }): ToolCall => {
  const signature = Object.values(providerMetadata ?? {})
    .map((own) => own['thoughtSignature'])
    .find((value) => typeof value === 'string')
  return {
    id: toolCallId,
    tool: toolName.slice(0, longestName).toWellFormed(),
    input: input.trim() === '' ? '{}' : input,
    ...(signature !== undefined && { signature }),
  }
}

/** Makes parts of what a provider's library reads from the stream. */
class Reading {
  readonly #characters = wholeCharacters()
  readonly #thoughts = withoutThoughts()
  #calls = 0
  #answeredBy: string | undefined
  #end: ChatEnd | undefined

  constructor(
    private readonly exchange: Exchange,
    private readonly settings: ModelSettings,
  ) {}

  *take(part: LanguageModelV3StreamPart): Generator<ChatPart, void> {
    switch (part.type) {
      case 'text-delta':
        yield* shown(this.#thoughts.next(this.#characters.next(part.delta)))
        return
      case 'tool-call':
        this.#calls += 1
        if (this.#calls > limits.llmToolCallsMax)
          throw llmFailed(
            'Too many calls',
            `${this.exchange.host} calls more than ${limits.llmToolCallsMax} tools at once`,
            'Take another model.',
          )
        yield { toolCall: callOf(part) }
        return
      case 'response-metadata':
        this.#answeredBy = part.modelId?.slice(0, longestName).toWellFormed()
        return
      case 'error':
        throw explainSent(part.error, this.exchange)
      case 'finish': {
        yield* this.#rest()
        const finish = finishes[part.finishReason.unified]
        this.#end = {
          // Some servers say "stop" where they call tools.
          finish: this.#calls > 0 && (finish === 'stop' || finish === 'other') ? 'tool_calls' : finish,
          usage: usageOf(part.usage),
          model: this.#answeredBy || this.settings.model,
        }
        return
      }
      default:
    }
  }

  end(): ChatEnd {
    if (!this.#end) throw notUnderstood(this.exchange)
    return this.#end
  }

  *#rest(): Generator<ChatPart, void> {
    const last = this.#characters.end()
    yield* shown((last === '' ? '' : this.#thoughts.next(last)) + this.#thoughts.end())
  }
}

const shown = function* (text: string): Generator<ChatPart, void> {
  if (text !== '') yield { text }
}

/** Asks a model, and gives its answer as it arrives. Who stops reading closes the connection. */
export const chatWith = ({ settings, exchange, model, refusals, places, most }: ChatParts): LanguageModel['chat'] =>
  async function* (request, { signal }) {
    const leave = await places.take(exchange.host, signal)
    const stop = new Stop(signal, most, exchange)
    try {
      const { stream } = await askAgain({
        ask: async () => (await model()).doStream({ ...optionsOf(request, settings), abortSignal: stop.signal }),
        learns: (error) => refusals.learns(settings, error),
        exchange,
        stop,
        most,
      })
      const reader = stream.getReader()
      const reading = new Reading(exchange, settings)
      try {
        for (let next = await reader.read(); !next.done; next = await reader.read()) yield* reading.take(next.value)
        return reading.end()
      } catch (error) {
        throw stop.signal.aborted ? stop.reason(error) : explainFailure(error, exchange)
      } finally {
        // Nobody waits for this: it may fail as the stream has.
        reader.cancel().catch(() => undefined)
      }
    } finally {
      stop.end()
      leave()
    }
  }
