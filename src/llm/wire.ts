import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { EmbeddingModelV3, LanguageModelV3 } from '@ai-sdk/provider'
import type { ModelSettings } from './settings.js'

/** Parameters that a model was found to refuse, by the names that they have on the wire. */
export type Refusals = ReadonlySet<string>

type Body = Record<string, unknown>

/** What a request says, without what the model refuses. `max_tokens` has two names. */
const accepted =
  (settings: ModelSettings, refused: Refusals) =>
  ({ max_tokens, ...body }: Body): Body => {
    const isOpenAi = settings.provider === 'openai' || settings.provider === 'azure_openai'
    const names = isOpenAi ? ['max_completion_tokens', 'max_tokens'] : ['max_tokens', 'max_completion_tokens']
    const name = names.find((one) => !refused.has(one))
    const limited = name === undefined || max_tokens === undefined ? body : { ...body, [name]: max_tokens }
    return Object.fromEntries(Object.entries(limited).filter(([member]) => !refused.has(member)))
  }

/** The old interface of Azure has a path for each deployment; the new one is that of OpenAI. */
const addressOf = ({ provider, address, model, apiVersion }: ModelSettings): string =>
  provider === 'azure_openai' && apiVersion !== null && address.endsWith('/openai/v1')
    ? `${address.slice(0, -'/v1'.length)}/deployments/${encodeURIComponent(model)}`
    : address

const compatible = (settings: ModelSettings, call: typeof globalThis.fetch, refused: Refusals) => {
  const { provider, apiKey, apiVersion } = settings
  const isAzure = provider === 'azure_openai'
  return createOpenAICompatible({
    name: provider,
    baseURL: addressOf(settings),
    fetch: call,
    includeUsage: true,
    ...(apiKey !== null && (isAzure ? { headers: { 'api-key': apiKey } } : { apiKey })),
    ...(isAzure && apiVersion !== null && { queryParams: { 'api-version': apiVersion } }),
    transformRequestBody: accepted(settings, refused),
  })
}

/** A model behind the libraries of its provider. They are given all settings, so that they look for none in the environment. */
export const languageModelAt = (settings: ModelSettings, call: typeof globalThis.fetch, refused: Refusals): LanguageModelV3 =>
  settings.wire === 'anthropic'
    ? createAnthropic({ baseURL: settings.address, apiKey: settings.apiKey ?? '', fetch: call }).languageModel(settings.model)
    : compatible(settings, call, refused).chatModel(settings.model)

/** An embedder, which is an OpenAI-compatible one. */
export const embeddingModelAt = (settings: ModelSettings, call: typeof globalThis.fetch): EmbeddingModelV3 =>
  compatible(settings, call, new Set()).embeddingModel(settings.model)
