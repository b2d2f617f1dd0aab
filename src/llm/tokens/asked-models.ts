import type { ModelInterceptor, ModelRole } from '../../knowledge/contract/search.js'
import type { ChatExchange, TokenUsage } from '../contract/language-model.js'
import type { ReserveTokens } from './daily-token-quotas.js'
import { addUsage, noUsage, tokensUsed } from './token-usage.js'

/**
 * A provider's model that a search asked, its tokens, and what was said to a reranking model and by it, with the ids of the documents in
 * it. `estimated`: tokens that the provider did not report, by estimate; also while a request has no answer yet, but not before it was sent.
 */
export type AskedModel = {
  role: ModelRole
  provider: string
  model: string
  host: string
  usage: TokenUsage
  estimated: number
  durationMs: number
  exchanges: readonly ChatExchange[]
  documents: readonly string[]
}

const unheard = { onUsed: () => undefined, onSent: () => () => undefined, onExchange: () => undefined }

/**
 * The providers' models that searches ask. The tokens that they may use are reserved before, or at least the estimated ones. Uploaded models run here: they have no provider, and
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
  readonly asking: ModelInterceptor = async (role, { provider, model, host, estimate, most = estimate, documents = [] }, use) => {
    if (provider === 'onnx') return use(unheard, Infinity)
    const { tokens, settle } = await this.reserve(most, estimate)
    const began = performance.now()
    const exchanges: ChatExchange[] = []
    const one: AskedModel = { role, provider, model, host, usage: noUsage, estimated: 0, durationMs: 0, exchanges, documents }
    this.#asked.push(one)
    /** The requests whose tokens nobody has told yet, and the estimates of told answers. */
    let [open, untold] = [0, 0]
    const count = () => {
      const known = tokensUsed(one.usage) + untold
      // A request that is cut off has the rest of the estimate: its provider may have read everything by then.
      one.estimated = untold + (open > 0 ? Math.max(0, estimate - known) : 0)
    }
    const onSent = () => {
      open += 1
      count()
      return () => {
        open -= 1
        count()
      }
    }
    const onUsed = (usage: TokenUsage, more?: number) => {
      one.usage = addUsage(one.usage, usage)
      untold += more ?? 0
      if (usage.input !== null || more !== undefined) open = 0
      count()
    }
    try {
      return await use({ onUsed, onSent, onExchange: (exchange) => void exchanges.push(exchange) }, tokens)
    } finally {
      one.durationMs = performance.now() - began
      settle(tokensUsed(one.usage) + one.estimated)
    }
  }

  /** In the order in which they were asked. */
  get asked(): readonly AskedModel[] {
    return this.#asked
  }

  /** What was said to language models and by them, as far as it is now. */
  get exchanges(): ChatExchange[] {
    return this.#asked.flatMap(({ exchanges }) => exchanges.map((one) => ({ ...one, response: { ...one.response } })))
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
