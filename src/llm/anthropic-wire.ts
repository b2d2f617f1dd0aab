import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart, LanguageModelV3Usage } from '@ai-sdk/provider'
import { limits } from '../basics/limits.js'
import type { ToolCall } from './contract/language-model.js'
import type { OpenWire, WirePart } from './contract/wire.js'
import { countIn } from './openai/members.js'
import { promptOf, toolsOf } from './prompt.js'

/** The library makes zero of what a provider leaves out. */
const usageOf = ({ inputTokens, outputTokens, raw }: LanguageModelV3Usage) => ({
  input: typeof raw?.['input_tokens'] === 'number' ? countIn(inputTokens.total) : null,
  output: typeof raw?.['output_tokens'] === 'number' ? countIn(outputTokens.total) : null,
})

const finishes = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  other: 'other',
  error: 'other',
} as const

const callOf = ({ toolCallId, toolName, input }: LanguageModelV3StreamPart & { type: 'tool-call' }): ToolCall => ({
  id: toolCallId,
  tool: toolName,
  input,
})

const partOf = (part: LanguageModelV3StreamPart): WirePart | undefined => {
  switch (part.type) {
    case 'text-delta':
      return { type: 'text', text: part.delta }
    case 'tool-call':
      return { type: 'toolCall', toolCall: callOf(part) }
    case 'response-metadata':
      return part.modelId === undefined ? undefined : { type: 'model', model: part.modelId }
    case 'error':
      return { type: 'failed', error: part.error }
    case 'finish':
      return { type: 'end', finish: finishes[part.finishReason.unified], usage: usageOf(part.usage) }
    default:
      return undefined
  }
}

async function* partsOf(stream: ReadableStream<LanguageModelV3StreamPart>): AsyncGenerator<readonly WirePart[], void, void> {
  const reader = stream.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const part = partOf(next.value)
      if (part) yield [part]
    }
  } finally {
    // Nobody waits for this: it may fail like the stream.
    reader.cancel().catch(() => undefined)
  }
}

/** Servers with Anthropic's protocol, which wants a limit of tokens, read by its library, which is loaded with the first call. */
export const anthropicWire =
  (model: () => Promise<LanguageModelV3>): OpenWire =>
  async ({ messages, tools, toolChoice = 'auto', maxOutputTokens = limits.agentOutputMaxTokens, temperature }, _refused, signal) => {
    const options: LanguageModelV3CallOptions = {
      prompt: promptOf(messages),
      maxOutputTokens,
      ...(temperature !== undefined && { temperature }),
      ...(tools.length > 0 && { tools: toolsOf(tools), toolChoice: { type: toolChoice } }),
      // Inputs of tools are not shown while they arrive, and not every server between knows this way of sending them.
      providerOptions: { anthropic: { toolStreaming: false } },
      abortSignal: signal,
    }
    return partsOf((await (await model()).doStream(options)).stream)
  }
