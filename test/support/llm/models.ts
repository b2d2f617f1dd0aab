import { isProblem, type Problem } from '../../../src/basics/errors.js'
import { parseEgress } from '../../../src/egress/policy.js'
import { LanguageModels, type LanguageModelParts } from '../../../src/llm/language-models.js'
import type { ChatEnd, ChatPart, ChatRequest, LanguageModel } from '../../../src/llm/contract/language-model.js'
import type { ModelSettings } from '../../../src/llm/settings.js'

/** Models that may be called on this machine, without default settings. Secrets are not sealed, and retries wait only briefly. */
export const modelsHere = (parts: Partial<LanguageModelParts> = {}): LanguageModels =>
  new LanguageModels({
    egress: parseEgress('', { loopback: true }),
    environment: {},
    defaults: async () => undefined,
    payload: async () => undefined,
    ...parts,
    most: { retryWaits: { firstWaitMs: 1, factor: 2, maxWaitMs: 10_000 }, ...parts.most },
  })

/** The settings of a model at an address, with a key. */
export const settingsAt = (address: string, more: Partial<ModelSettings> = {}): ModelSettings => ({
  wire: 'openai',
  provider: 'openai_compatible',
  model: 'test-model',
  address,
  apiKey: 'key-of-the-agent-1',
  keySource: 'agent',
  apiVersion: null,
  temperature: null,
  maxTokens: null,
  timeoutMs: null,
  ...more,
})

export type Heard = {
  text: string
  calls: { id: string; tool: string; input: string; signature?: string }[]
  parts: ChatPart[]
  end: ChatEnd
}

/** A question without tools. */
export const question = (content: string, more: Partial<ChatRequest> = {}): ChatRequest => ({
  messages: [{ role: 'user', content }],
  tools: [],
  maxOutputTokens: 500,
  ...more,
})

/** Reads a whole answer. */
export const hear = async (model: LanguageModel, request: ChatRequest, signal = new AbortController().signal): Promise<Heard> => {
  const parts: ChatPart[] = []
  const answer = model.chat(request, { signal })
  for (;;) {
    const next = await answer.next()
    if (!next.done) {
      parts.push(next.value)
      continue
    }
    const text = parts
      .slice(parts.findLastIndex((part) => 'remark' in part) + 1)
      .map((part) => ('text' in part ? part.text : ''))
      .join('')
    return { text, calls: parts.flatMap((part) => ('toolCall' in part ? [part.toolCall] : [])), parts, end: next.value }
  }
}

/** The problem of a call that fails. */
export const failure = async (call: Promise<unknown>): Promise<Problem> => {
  try {
    await call
  } catch (error) {
    if (isProblem(error)) return error
    throw error
  }
  throw new Error('it did not fail')
}
