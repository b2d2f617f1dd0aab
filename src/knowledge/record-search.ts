import type { StreamId } from '../../events/common.js'
import type { KnowledgeSearched, SearchModel } from '../../events/records/searches.js'
import { isProblem } from '../basics/errors.js'
import type { Ledger } from '../commands/ledger.js'
import type { ReserveTokens, Spending } from '../llm/tokens/daily-token-quotas.js'
import { addUsage, noUsage, tokensUsed } from '../llm/tokens/token-usage.js'
import type { ModelInterceptor, KnowledgeResult, ModelRole, SearchFor } from './contract/search.js'

const since = (began: number): number => Math.round((performance.now() - began) * 1_000) / 1_000

/** The tokens of a search are not known in advance, so it is refused only if no tokens are left for the day. */
const leastTokens = 1

/** The providers' models of one search, and their tokens. Uploaded models run here and have no provider. */
class AskedModels {
  readonly #asked = new Map<ModelRole, SearchModel>()
  /** The sum of their tokens. */
  usage = noUsage

  constructor(private readonly reserve: ReserveTokens) {}

  readonly asking: ModelInterceptor = async (role, { provider, model, host }, use) => {
    let usage = noUsage
    const asked = () => use((more) => (usage = addUsage(usage, more)))
    if (provider === 'onnx') return asked()
    const { settle } = await this.reserve(leastTokens)
    const began = performance.now()
    try {
      return await asked()
    } finally {
      this.usage = addUsage(this.usage, usage)
      settle(tokensUsed(usage))
      this.#asked.set(role, {
        ...{ provider, model, host },
        ...{ input_tokens: usage.input, output_tokens: usage.output, duration_ms: since(began) },
      })
    }
  }

  get isEmpty(): boolean {
    return this.#asked.size === 0
  }

  of(role: ModelRole): SearchModel | null {
    return this.#asked.get(role) ?? null
  }
}

/**
 * Searches a knowledge base. Before it answers, it records the providers' models of the search, even if the search failed. A search without
 * such a model is not recorded.
 *
 * @throws Problem of the search; tokens_spent, storage_failed, disk_full, busy
 * @example await onRecord({ ledger, spending }, base, { origin, purpose: 'search' }, (asking) => knowledge.searchWithin(base, query, { asking }))
 */
export const onRecord = async (
  { ledger, spending }: { ledger: Ledger; spending: Spending },
  base: { stream: StreamId; version: number },
  { origin, purpose }: SearchFor,
  search: (asking: ModelInterceptor) => Promise<KnowledgeResult>,
): Promise<KnowledgeResult> => {
  const began = performance.now()
  const models = new AskedModels(spending.reserve)
  const record = async (came: Pick<KnowledgeSearched, 'read_at' | 'chunks' | 'outcome' | 'error'>): Promise<void> => {
    if (models.isEmpty) return
    const data: KnowledgeSearched = {
      ...{ knowledge_base: base.stream, version: base.version, purpose },
      ...{ embedding: models.of('embedding'), reranking: models.of('reranking') },
      ...came,
      duration_ms: since(began),
    }
    await ledger.execute({ type: 'RecordSearch', data }, origin)
    spending.recorded(models.usage)
  }
  let found: KnowledgeResult
  try {
    found = await search(models.asking)
  } catch (error) {
    // Only the title: the detail of a problem may repeat words of the conversation.
    await record({ read_at: null, chunks: 0, outcome: 'failed', error: isProblem(error) ? error.title : 'It was cut off' })
    throw error
  }
  await record({ read_at: found.position, chunks: found.chunks.length, outcome: 'complete', error: null })
  return found
}
