import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { EmbeddingModelV3, LanguageModelV3 } from '@ai-sdk/provider'
import { openAiAddress, openAiKey, openAiQuery } from './openai-wire.js'
import type { ModelSettings } from './settings.js'

// The libraries are given all settings, so that they look for none in the environment.

/** A language model with Anthropic's protocol, through its library. */
export const anthropicAt = ({ address, apiKey, model }: ModelSettings, call: typeof globalThis.fetch): LanguageModelV3 =>
  createAnthropic({ baseURL: address, apiKey: apiKey ?? '', fetch: call }).languageModel(model)

/** An embedder, which is an OpenAI-compatible one, behind its library. */
export const embeddingModelAt = (settings: ModelSettings, call: typeof globalThis.fetch): EmbeddingModelV3 =>
  createOpenAICompatible({
    name: settings.provider,
    baseURL: openAiAddress(settings),
    queryParams: openAiQuery(settings),
    headers: openAiKey(settings),
    fetch: call,
  }).embeddingModel(settings.model)
