import { v7 as uuidv7 } from 'uuid'
import type { StreamId } from '../../events/common.js'
import type { KnowledgeSearched, SearchModel } from '../../events/records/searches.js'
import { retryWhileBusy } from '../basics/concurrency/retry.js'
import { isProblem } from '../basics/errors.js'
import { ErasedMeanwhile, type Ledger } from '../commands/ledger.js'
import { keyOfRecord, mayPass, recordPatience } from '../commands/record-patiently.js'
import type { Origin } from '../log/contract/log.js'
import { AskedModels } from '../llm/tokens/asked-models.js'
import type { Spending } from '../llm/tokens/daily-token-quotas.js'
import { addUsage } from '../llm/tokens/token-usage.js'
import { sealJson } from '../vault/seal-json.js'
import type { SealedPayload } from '../vault/vault.js'
import type { SearchRecord } from './contract/search-record.js'
import type { ModelInterceptor, KnowledgeResult, ModelRole, SearchFor } from './contract/search.js'

const rounded = (ms: number): number => Math.round(ms * 1_000) / 1_000

/** The model with this role, for the event. */
const askedAs = (role: ModelRole, models: AskedModels): SearchModel | null => {
  const found = models.asked.findLast((one) => one.role === role)
  if (!found) return null
  const { provider, model, host, usage, durationMs } = found
  return { ...{ provider, model, host }, input_tokens: usage.input, output_tokens: usage.output, duration_ms: rounded(durationMs) }
}

/** The words of a search, for its payload. */
const wordsOf = (question: string, { asked, exchanges }: AskedModels, failure: unknown): SearchRecord => ({
  question,
  documents: asked.flatMap(({ documents }) => documents),
  exchanges,
  ...(isProblem(failure) && { failure: { code: failure.code, title: failure.title, detail: failure.detail } }),
})

/** What records searches: the project's day has the tokens. While the log is away for a moment, it is asked again, until a stop. */
type Recording = { ledger: Ledger; spending: Spending; isStopping: () => boolean }

/** A search before it begins: its knowledge base, and its question. */
type Searching = { base: { stream: StreamId; version: number }; question: string }

/**
 * Searches a knowledge base. Before it answers, it records the providers' models of the search and what was said to them, even if the
 * search failed. A search without such a model is not recorded.
 *
 * @throws Problem of the search; tokens_spent, storage_failed, disk_full, busy
 * @example
 * const searchFor = { origin, purpose: 'search' }
 * await onRecord({ ledger, spending, isStopping }, { base, question }, searchFor, (asking) => knowledge.searchWithin(base, query, { asking }))
 */
export const onRecord = async (
  { ledger, spending, isStopping }: Recording,
  { base, question }: Searching,
  { origin, purpose, answer }: SearchFor,
  search: (asking: ModelInterceptor) => Promise<KnowledgeResult>,
): Promise<KnowledgeResult> => {
  const began = performance.now()
  const models = new AskedModels(spending.reserve)
  const guarded = await ledger.guarded(origin)
  const record = async (came: Pick<KnowledgeSearched, 'read_at' | 'chunks' | 'outcome' | 'error'>, failure?: unknown): Promise<void> => {
    if (models.asked.length === 0) return
    const facts: KnowledgeSearched = {
      ...{ knowledge_base: base.stream, version: base.version, purpose },
      ...{ embedding: askedAs('embedding', models), reranking: askedAs('reranking', models) },
      ...came,
      duration_ms: rounded(performance.now() - began),
      ...(models.estimated > 0 && { estimated_tokens: models.estimated }),
      ...(answer !== undefined && { answer }),
    }
    const key = keyOfRecord('search', uuidv7())
    const isOver = recordPatience(isStopping)
    const write = (data: KnowledgeSearched, by: Origin, payloads: SealedPayload[]) =>
      retryWhileBusy(() => ledger.execute({ type: 'RecordSearch', data }, by, { payloads, ...key }), isOver, mayPass)
    const payload = sealJson(ledger.vault, wordsOf(question, models, failure))
    await write({ ...facts, payload: payload.hash }, guarded, [payload]).catch((error: unknown) => {
      if (!(error instanceof ErasedMeanwhile)) throw error
      // The erasure may have taken the documents that the words come from. The tokens were used nevertheless, also in work that is refused.
      const { erasures: _, ...unguarded } = origin
      return write(facts, unguarded, [])
    })
    spending.recorded(addUsage(models.usage, { input: null, output: models.estimated }))
  }
  let found: KnowledgeResult
  try {
    found = await search(models.asking)
  } catch (error) {
    // Only the title: the detail of a problem may repeat words of the conversation.
    await record({ read_at: null, chunks: 0, outcome: 'failed', error: isProblem(error) ? error.title : 'It was cut off' }, error)
    throw error
  }
  await record({ read_at: found.position, chunks: found.chunks.length, outcome: 'complete', error: null })
  return found
}
