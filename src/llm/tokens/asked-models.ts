import type { ModelInterceptor, ModelRole } from '../../knowledge/contract/search.js'
import { UnansweredCall, type TokenUsage } from '../contract/language-model.js'
import type { ReserveTokens } from './daily-token-quotas.js'
import { addUsage, noUsage, tokensUsed } from './token-usage.js'

/**
 * A provider's model that a search asked, and its tokens. `estimated`: tokens that the provider did not report, by estimate; also while
 * the model has not answered yet.
 */
export type AskedModel = {
  role: ModelRole
  provider: string
  model: string
  host: string
  usage: TokenUsage
  estimated: number
  durationMs: number
}

/**
 * The providers' models that searches ask. Their estimated tokens are reserved before. Uploaded models run here: they have no provider, and
 * cost nothing.
 *
 * @example
 * const models = new AskedModels(spending.reserve)
 * await knowledge.searchWithin(base, query, { asking: models.asking })
 * models.asked // [{ role: 'embedding', provider: 'openai', … }]
 */
export class AskedModels {
  readonly #asked: AskedModel[] = []

  constructor(private readonly reserve: ReserveTokens) {}

  /** @throws Problem of the reservation: then the model is not asked */
  readonly asking: ModelInterceptor = async (role, { provider, model, host, estimate }, use) => {
    if (provider === 'onnx') return use(() => undefined)
    const { settle } = await this.reserve(estimate)
    const began = performance.now()
    // A call that is cut off has its estimate: its provider may have read everything by then.
    const one: AskedModel = { role, provider, model, host, usage: noUsage, estimated: estimate, durationMs: 0 }
    this.#asked.push(one)
    try {
      return await use((more) => (one.usage = addUsage(one.usage, more)))
    } catch (error) {
      if (error instanceof UnansweredCall) one.estimated = 0
      throw error
    } finally {
      if (one.usage.input !== null) one.estimated = 0
      one.durationMs = performance.now() - began
      settle(tokensUsed(one.usage) + one.estimated)
    }
  }

  /** In the order in which they were asked. */
  get asked(): readonly AskedModel[] {
    return this.#asked
  }

  /** The sum of the reported tokens. */
  get usage(): TokenUsage {
    return this.#asked.map(({ usage }) => usage).reduce(addUsage, noUsage)
  }

  /** The sum of the estimates. */
  get estimated(): number {
    return this.#asked.reduce((sum, { estimated }) => sum + estimated, 0)
  }
}
