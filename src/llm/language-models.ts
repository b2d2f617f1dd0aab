/**
 * Room: the language models that are called over HTTP. It imports only events, basics, setup, egress, catalogue, llm/contract,
 * llm/tokens and llm/openai.
 */

import type { Agent } from '../../events/agent.js'
import type { Json, JsonObject } from '../../events/common.js'
import type { ConfigName } from '../../events/config.js'
import { isSecretReference } from '../../events/secrets.js'
import { Problem } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { egressPost } from '../egress/http-post.js'
import { egressFetch } from '../egress/fetch.js'
import type { HttpConnectOptions } from '../egress/http-pool.js'
import type { EgressPolicy } from '../egress/policy.js'
import type { ModelAccess } from '../setup/language-model-settings.js'
import { anthropicWire } from './anthropic-wire.js'
import { chatWith } from './chat.js'
import type { EmbeddingModel, LanguageModel } from './contract/language-model.js'
import type { OpenWire } from './contract/wire.js'
import { embedWith } from './embed.js'
import type { ExchangeLimits } from './exchange.js'
import { llmFailed, type Exchange } from './failures.js'
import { openAiWire } from './openai-wire.js'
import { HostSlots, type SlotLimits } from './host-slots.js'
import { RememberedRefusals } from './refusals.js'
import { resolveModel, type ResolvedModel } from './resolve.js'
import { hostOf, type ModelSettings } from './settings.js'

/** Limits that tests make smaller. */
export type ModelLimits = ExchangeLimits & { headersMs: number; stallMs: number; maxBytes: number; slots: SlotLimits }

export type LanguageModelParts = {
  egress: EgressPolicy
  /** The values of the environment, `modelAccess` of the settings. */
  environment: ModelAccess
  /** A default that was set with PUT /api/config, with its secrets sealed. */
  defaults: (name: ConfigName) => Promise<JsonObject | undefined>
  /** Opens a sealed secret. */
  payload: (hash: string) => Promise<Buffer | undefined>
  connecting?: HttpConnectOptions
  most?: Partial<ModelLimits>
}

/** The settings of an embedder: a knowledge base's `embedding_model`. */
type ModelFields = { model_name?: string | null; provider?: string | null; params: JsonObject }

const usual: ModelLimits = {
  totalMs: limits.llmAnswerTimeoutMs,
  retries: limits.llmRetriesMax,
  retryWaits: { firstWaitMs: limits.llmRetryWaitMs, factor: 2, maxWaitMs: limits.llmRetryMaxWaitMs },
  retryAfterMaxMs: limits.llmRetryAfterMaxMs,
  headersMs: limits.llmHeadersTimeoutMs,
  stallMs: limits.llmStallTimeoutMs,
  maxBytes: limits.llmAnswerMaxBytes,
  slots: { atOnce: limits.llmConcurrentMax, waiting: limits.llmQueueMax, waitMs: limits.llmQueueWaitMs },
}

/**
 * The language models and embedders that this service may call. Libraries of providers are loaded when the first of them is used.
 *
 * @example
 * const models = new LanguageModels({ egress, environment: config.modelAccess, defaults, payload })
 * const model = await models.forAgent(agent)
 * for await (const part of model.chat(request, { signal })) …
 */
export class LanguageModels {
  readonly #most: ModelLimits
  readonly #call: typeof globalThis.fetch
  readonly #stream: ReturnType<typeof egressPost>
  readonly #slots: HostSlots
  readonly #refusals = new RememberedRefusals()

  constructor(private readonly parts: LanguageModelParts) {
    const most = { ...usual, ...parts.most }
    this.#most = most
    this.#slots = new HostSlots(most.slots)
    const connecting = { connections: most.slots.atOnce, ...parts.connecting }
    const calls = { headersTimeoutMs: most.headersMs, stallMs: most.stallMs, maxBytes: most.maxBytes }
    this.#call = egressFetch(parts.egress, connecting, calls)
    this.#stream = egressPost(parts.egress, connecting, calls)
  }

  /** The model that an agent's settings name, or the default. @throws Problem llm_failed that says what to set; erased */
  async forAgent(agent: Pick<Agent, 'model_name' | 'provider' | 'params'>): Promise<LanguageModel> {
    return this.of(await this.settingsOf(agent))
  }

  /** The settings of an agent's model, with its key in plain text: never store or show them. */
  async settingsOf(own: ModelFields): Promise<ModelSettings> {
    const defaultName = 'default_llm'
    const defaults = await this.parts.defaults(defaultName)
    return this.#opened(resolveModel({ what: 'agent', own, defaults, defaultName, environment: this.parts.environment }))
  }

  /** The model at an address. @example models.of(await models.settingsOf(agent)) */
  of(settings: ModelSettings): LanguageModel {
    const exchange = exchangeOf(settings)
    return {
      provider: settings.provider,
      model: settings.model,
      host: exchange.host,
      chat: chatWith({
        settings,
        exchange,
        open: this.#wireOf(settings),
        refusals: this.#refusals,
        slots: this.#slots,
        most: this.#mostOf(settings),
      }),
    }
  }

  #wireOf(settings: ModelSettings): OpenWire {
    if (settings.wire === 'openai') return openAiWire(settings, this.#stream)
    return anthropicWire(async () => (await import('./libraries.js')).anthropicAt(settings, this.#call))
  }

  /** The embedder that a knowledge base's settings name, or the default; undefined if there is neither. @throws Problem llm_failed; erased */
  async embedder(own: ModelFields = { params: {} }): Promise<EmbeddingModel | undefined> {
    const defaultName = 'default_embedding_model'
    const defaults = await this.parts.defaults(defaultName)
    const saysNothing = !own.model_name && !own.provider && Object.keys(own.params).length === 0
    if (saysNothing && !defaults) return undefined
    const resolved = resolveModel({ what: 'knowledge base', own, defaults, defaultName, environment: this.parts.environment })
    return this.embedderOf(await this.#opened(resolved))
  }

  /** The language model that a knowledge base's `reranking_model` names, or its default. @throws Problem llm_failed; erased */
  async reranker(params: JsonObject): Promise<LanguageModel> {
    const defaultName = 'default_reranking_model'
    const defaults = await this.parts.defaults(defaultName)
    const resolved = resolveModel({ what: 'knowledge base', own: { params }, defaults, defaultName, environment: this.parts.environment })
    return this.of(await this.#opened(resolved))
  }

  /** The embedder at an address. */
  embedderOf(settings: ModelSettings): EmbeddingModel {
    const exchange = exchangeOf(settings)
    if (settings.wire === 'anthropic')
      throw llmFailed('No embedder', `${settings.provider} has no embedders`, 'Name a model of another provider.')
    const model = async () => (await import('./libraries.js')).embeddingModelAt(settings, this.#call)
    return {
      provider: settings.provider,
      model: settings.model,
      host: exchange.host,
      embed: embedWith({ exchange, model, dimensions: settings.dimensions, slots: this.#slots, most: this.#mostOf(settings) }),
    }
  }

  #mostOf({ timeoutMs }: ModelSettings): ExchangeLimits {
    const own = timeoutMs !== null && timeoutMs > 0 ? timeoutMs : this.#most.totalMs
    return { ...this.#most, totalMs: Math.min(own, this.#most.totalMs) }
  }

  async #opened({ key, ...resolved }: ResolvedModel): Promise<ModelSettings> {
    return { ...resolved, apiKey: key && (await this.#open(key.value, key.name)), keySource: key && key.source }
  }

  async #open(value: Json, name: string): Promise<string | null> {
    const open = isSecretReference(value) ? await this.#secret(value.$secret, name) : value
    const text = typeof open === 'string' || typeof open === 'number' ? String(open).trim() : ''
    if (!/^[\x21-\x7e]*$/.test(text))
      throw llmFailed('No such key', `${name} has characters that no header carries`, 'Give the key as the provider wrote it.')
    return text === '' ? null : text
  }

  async #secret(hash: string, name: string): Promise<unknown> {
    const body = await this.parts.payload(hash)
    if (body) return JSON.parse(body.toString())
    throw new Problem('erased', 'A secret was erased', `The secret ${name} was erased`, { hint: 'Give it again.' })
  }
}

const exchangeOf = ({ address, model, apiKey, keySource }: ModelSettings): Exchange => ({ host: hostOf(address), model, apiKey, keySource })
