/**
 * Room: the server's side of knowledge bases: it inserts documents and answers searches. It imports only events, basics, setup, vault, log,
 * commands, knowledge/contract, llm, knowledge/documents, knowledge/index and knowledge/embedding.
 */

import { LRUCache } from 'lru-cache'
import { foldName, streamId, type JsonObject, type StreamId } from '../../events/common.js'
import { contentsStream, type KnowledgeDocument, type ModelFiles } from '../../events/records/contents.js'
import { isProblem, notFound, Problem, wrong } from '../basics/errors.js'
import { KeyedTurns } from '../basics/concurrency/keyed-turns.js'
import { StoppableWork } from '../basics/concurrency/stoppable-work.js'
import { limits } from '../basics/limits.js'
import { LongWork } from '../basics/long-work.js'
import { nearest } from '../basics/nearest.js'
import { readChunking } from '../commands/knowledge-base-input.js'
import type { Resource } from '../log/contract/log.js'
import type { LanguageModel } from '../llm/contract/language-model.js'
import { estimateTokens } from '../llm/tokens/estimates.js'
import { lastKnown } from '../log/read/last-known.js'
import type {
  InsertResult,
  Insertion,
  InsertMode,
  KnowledgeFacts,
  KnowledgeQuestion,
  KnowledgeStore,
  KnowledgeAnswer,
  ChunkList,
  ListQuery,
  Removal,
} from './contract/contents.js'
import type { ModelInterceptor, KnowledgeQuery, KnowledgeResult, SearchFor, SearchKnowledge, SearchOnRecord } from './contract/search.js'
import { afterInserting, documentBytes, documentOf, emptyRows } from './documents/documents.js'
import { ownColumns } from './index/filters.js'
import type { IndexAnswer } from './index/messages.js'
import type { PageReader } from './read-pages.js'
import { onRecord } from './record-search.js'
import { byRelevance, estimateScores, score } from './rerank.js'
import { DocumentWriter, placesOf, type WriterParts, type InsertContext } from './write-documents.js'

type Parts = WriterParts & {
  pages: PageReader
  /** The language model that settings name; its secrets are sealed. @throws Problem llm_failed that says what to set; erased */
  reranker: (settings: JsonObject) => Promise<LanguageModel>
}

const neverAborted = new AbortController().signal
const removedAtOnce = 10_000
const modelFilesKept = 10_000

const isOn = (params: JsonObject, key: string): boolean => params[key] === true || params[key] === 'true' || params[key] === 1

/** The settings of a knowledge base for existing documents. */
const modeOf = ({ params }: Resource<'knowledge_base'>['state']): InsertMode => {
  if (isOn(params, 'kb_skip_existing')) return 'skip'
  return isOn(params, 'kb_no_upsert') ? 'add' : 'replace'
}

const checkQuery = ({ content, limit, alpha, minRelevance }: KnowledgeQuery): void => {
  if (content.trim() === '') throw wrong('content: there is nothing to search for', 'Write a question, or some words.')
  if (content.length > limits.knowledgeQueryMaxChars)
    throw wrong(`content: has ${content.length} characters; a search has at most ${limits.knowledgeQueryMaxChars}`)
  if (!Number.isInteger(limit) || limit < 0 || limit > limits.knowledgeSearchMaxChunks)
    throw wrong(`limit: is ${limit}; a search gives at most ${limits.knowledgeSearchMaxChunks} chunks`)
  if (alpha !== undefined && !(alpha >= 0 && alpha <= 1))
    throw wrong(`hybrid_search_alpha: is ${alpha}; it is from 0 (words) to 1 (vectors)`)
  if (minRelevance !== undefined && Number.isNaN(minRelevance)) throw wrong('relevance: must be a number')
}

/** Batches of rows as documents. */
async function* documentsIn(
  { rows, knowledgeBase, isAtomic, signal }: Insertion,
  inserted: () => number,
): AsyncGenerator<KnowledgeDocument[], void, void> {
  let [batch, bytes, number]: [KnowledgeDocument[], number, number] = [[], 0, 0]
  let empty: number[] = []
  const work = new LongWork()
  for await (const row of rows) {
    // Inserting rows that are already in memory does not let other work run, so this pauses explicitly.
    await work.pause()
    signal?.throwIfAborted()
    number += 1
    if (number > limits.knowledgeInsertMaxDocuments)
      throw new Problem('too_large', 'Too many documents', `an insert takes at most ${limits.knowledgeInsertMaxDocuments} documents`)
    const document = documentOf(row, number, knowledgeBase.state)
    if (!document) empty.push(number)
    else {
      batch.push(document)
      bytes += documentBytes(document)
    }
    const isFull = batch.length >= limits.knowledgeBatchMaxDocuments || bytes >= limits.knowledgeBatchMaxBytes
    if (isAtomic || !isFull) continue
    if (empty.length > 0) break
    yield batch
    ;[batch, bytes, empty] = [[], 0, []]
  }
  if (empty.length > 0) throw emptyRows(empty, inserted())
  if (batch.length > 0) yield batch
}

/**
 * Knowledge bases: they insert, search and remove documents. The log holds the documents, and the indexes follow the log.
 *
 * @example
 * await knowledge.insert({ knowledgeBase, source: 'rows', rows: [{ id: '1', content: 'Text' }], isAtomic: true, origin })
 * await knowledge.search(knowledgeBase, { content: 'text', limit: 10 }, { origin, purpose: 'search' })
 */
export class Knowledge implements KnowledgeStore {
  /** Inserts and removals of a knowledge base run one at a time, because each depends on the result of the previous one. */
  readonly #turns = new KeyedTurns()
  readonly #searches = new StoppableWork()
  readonly #writer: DocumentWriter
  /** The files of the uploaded models that made the first vectors. They never change. */
  readonly #madeBy = new LRUCache<string, ModelFiles>({ max: modelFilesKept })

  constructor(private readonly parts: Parts) {
    this.#writer = new DocumentWriter(parts)
  }

  /** Searches, and records the calls of providers' models. */
  readonly search: SearchOnRecord = ({ stream }, query, searchFor) =>
    this.#searches.run(searchFor.signal ?? neverAborted, async (signal) => {
      const base = await this.#lastKnown(stream)
      const { ledger, spendingOfProject } = this.parts
      const parts = { ledger, spending: spendingOfProject(base.state.project), isStopping: () => this.#searches.isStopping }
      return onRecord(parts, { base, question: query.content }, searchFor, (asking) => this.#search(base, query, signal, asking))
    })

  /** Searches as a step of an answer; the answer's own record includes the calls of models. */
  readonly searchWithin: SearchKnowledge = async ({ stream }, query, { signal = neverAborted, asking }) =>
    this.#search(await this.#lastKnown(stream), query, signal, asking)

  async #search(
    base: Resource<'knowledge_base'>,
    query: KnowledgeQuery,
    signal: AbortSignal,
    asking: ModelInterceptor,
  ): Promise<KnowledgeResult> {
    checkQuery(query)
    const { indexes } = this.parts
    const position = await this.#positionOf(query)
    const alpha = base.state.embedding_model === null ? 0 : (query.alpha ?? 1)
    const vector = alpha === 0 ? null : await this.#vectorOf(base, query.content, signal, asking)
    signal.throwIfAborted()
    const { content, limit, minRelevance = 0, filters = [] } = query
    const reranker = limit === 0 ? undefined : await this.#rerankerOf(base, query)
    // The reranking model's score becomes the relevance. It scores more chunks than are wanted, because its best chunks may come late in
    // the first order.
    const keepsOrder = query.reranking === 'scores'
    const asked = keepsOrder ? limit : Math.max(limit, limits.knowledgeRerankMaxChunks)
    const wanted = reranker ? { limit: asked, minRelevance: 0 } : { limit, minRelevance }
    const done = await indexes.ask(base.stream, { search: { content, vector, alpha, ...wanted, filters, asOf: position } })
    if (!('chunks' in done)) throw unexpected(done)
    if (!reranker || done.chunks.length === 0) return { chunks: [...done.chunks], position }
    const documents = [...new Set(done.chunks.map(({ id }) => id))]
    const { provider, model, host } = reranker
    const wantedReranker = { ...{ provider, model, host, documents }, ...estimateScores(content, done.chunks) }
    const { chunks, reranked } = await asking('reranking', wantedReranker, (reports, tokens) =>
      score(reranker, content, done.chunks, { signal, tokens, ...reports }),
    )
    const ordered = keepsOrder ? chunks : byRelevance(chunks)
    return { chunks: ordered.filter(({ relevance }) => relevance >= minRelevance).slice(0, limit), position, reranked }
  }

  /** The position that is read: the index may have later documents when it is asked. @throws Problem for a position beyond the head */
  async #positionOf({ asOf }: { asOf?: number | undefined }): Promise<number> {
    const { position: head } = await this.parts.log.head()
    if (asOf !== undefined && asOf > head)
      throw new Problem('wrong_arguments', 'No such position', `as_of: position ${asOf} is beyond the head of the log`, {
        hint: `The log has the positions 1 to ${head}.`,
      })
    return asOf ?? head
  }

  async #vectorOf(
    base: Resource<'knowledge_base'>,
    text: string,
    signal: AbortSignal,
    asking: ModelInterceptor,
  ): Promise<Float32Array | null> {
    const { embedders } = this.parts
    const settings = base.state.embedding_model
    if (settings === null) return null
    // Only the files of an uploaded model may be others by now.
    const made = settings['provider'] === 'onnx' ? await this.#filesOf(base) : undefined
    const model = await embedders.of(settings, made)
    const wanted = { provider: model.provider, model: model.model, host: model.host, estimate: estimateTokens(text) }
    const [vector = null] = await asking('embedding', wanted, (reports) => embedders.embed(model, [text], { signal, ...reports }))
    return vector
  }

  async #filesOf(base: Resource<'knowledge_base'>): Promise<ModelFiles | undefined> {
    const known = this.#madeBy.get(base.stream)
    if (known) return known
    const { files } = await this.facts(base)
    if (files) this.#madeBy.set(base.stream, files)
    return files
  }

  async #rerankerOf({ state }: Resource<'knowledge_base'>, { reranking }: KnowledgeQuery): Promise<LanguageModel | undefined> {
    const settings = state.reranking_model ?? {}
    const isWanted = reranking === undefined ? Object.keys(settings).length > 0 : reranking !== false
    return isWanted ? this.parts.reranker(settings) : undefined
  }

  async list(
    { stream }: { stream: string },
    { limit, filters = [], asOf, after = 0, metadata }: ListQuery,
  ): Promise<ChunkList & { position: number }> {
    const position = await this.#positionOf({ asOf })
    const done = await this.parts.indexes.ask(streamId.parse(stream), {
      list: { limit, filters, asOf: position, after, metadata: metadata ?? null },
    })
    if (!('listed' in done)) throw unexpected(done)
    return { ...done.listed, position }
  }

  async facts({ stream }: { stream: string }): Promise<KnowledgeFacts> {
    const done = await this.parts.indexes.ask(streamId.parse(stream), { facts: true })
    if (!('facts' in done)) throw unexpected(done)
    return done.facts
  }

  /** Answers a request to a knowledge base from a query. */
  async answer(question: KnowledgeQuestion, searchFor: SearchFor): Promise<KnowledgeAnswer> {
    const base = { stream: streamId.parse(question.knowledgeBase), version: 0 }
    if ('facts' in question) return { facts: await this.facts(base) }
    if ('list' in question) {
      const { chunks, last } = await this.list(base, question.list)
      return { listed: { chunks, last } }
    }
    return { found: await this.search(base, question.search, searchFor) }
  }

  /** A refusal says how many documents are in: those of earlier batches, and of the insertions before it. */
  async insert(insertion: Insertion): Promise<InsertResult> {
    const { knowledgeBase: base, source, mode = modeOf(base.state), preprocessing, origin, execution, signal = neverAborted } = insertion
    const writing: InsertContext = {
      ...{ base, source, mode, origin, signal },
      chunking: preprocessing ? readChunking(preprocessing, base.state.chunking) : base.state.chunking,
    }
    const total: InsertResult = { documents: 0, replaced: 0, skipped: 0, chunks: 0, positions: [] }
    const add = async (documents: readonly KnowledgeDocument[], keyed: boolean): Promise<void> => {
      const written = await this.#turns.take(base.stream, () => this.#writer.write(documents, writing, keyed ? execution : undefined))
      total.documents += written.documents
      total.replaced += written.replaced
      total.skipped += written.skipped
      total.chunks += written.chunks
      total.positions.push(...written.positions)
    }
    const inserted = () => (insertion.insertedBefore ?? 0) + total.documents
    let waiting: KnowledgeDocument[] | undefined
    try {
      for await (const documents of documentsIn(insertion, inserted)) {
        if (waiting) await add(waiting, false)
        waiting = documents
      }
      // The idempotency key is for the whole insert, so the last batch carries it.
      if (waiting) await add(waiting, true)
    } catch (error) {
      throw isProblem(error) && inserted() > 0 ? afterInserting(inserted(), error) : error
    }
    return total
  }

  pages(urls: readonly string[], { state }: Resource<'knowledge_base'>, signal: AbortSignal): Promise<JsonObject[]> {
    return this.parts.pages.read(urls, state, signal)
  }

  async remove(removal: Removal): Promise<{ documents: number; positions: number[] }> {
    const { knowledgeBase: base, filters, origin, execution, signal = neverAborted } = removal
    if (filters.length === 0) throw wrong('DELETE of all documents is not possible', 'Say which: WHERE id = …; or DROP KNOWLEDGE_BASE.')
    return this.#turns.take(base.stream, async () => {
      signal.throwIfAborted()
      const { ledger, log, indexes } = this.parts
      const contents = await log.streamVersion(contentsStream(base.stream))
      const facts = await this.facts(base)
      if (facts.documents === 0) return { documents: 0, positions: [] }
      const matching = spelled(filters, [...facts.columns.map(({ name }) => name), ...base.state.metadata_columns])
      const done = await indexes.ask(base.stream, { matching })
      if (!('places' in done)) throw unexpected(done)
      const commands = []
      for (let from = 0; from < done.places.length; from += removedAtOnce) {
        const places = done.places.slice(from, from + removedAtOnce).map(([, position, row]) => ({ position, row }))
        const removed = { knowledge_base: base.stream, documents: places.length, removes: placesOf(places) }
        commands.push({ type: 'RemoveKnowledge' as const, data: { name: base.state.name, contents, removed } })
      }
      if (commands.length === 0) return { documents: 0, positions: [] }
      signal.throwIfAborted()
      const { positions } = await ledger.executeAll(commands, origin, execution)
      return { documents: done.places.length, positions }
    })
  }

  /** Ends the searches under way, and waits until they are recorded. Searches of answers end with their answers. */
  stop(): Promise<void> {
    return this.#searches.stop()
  }

  /** The current or last state of a knowledge base: its past can be searched even after it was deleted. */
  async #lastKnown(stream: StreamId): Promise<Resource<'knowledge_base'>> {
    const found = await lastKnown(this.parts.log, 'knowledge_base', stream)
    if (found) return found
    throw notFound('knowledge base', stream)
  }
}

/** Filters with their columns in the spelling of the documents, which the index compares with case. @throws Problem for an unknown column */
const spelled = (filters: Removal['filters'], metadata: readonly string[]): Removal['filters'] => {
  const columns = [...ownColumns, ...metadata]
  const names = new Map(columns.toReversed().map((name) => [foldName(name), name]))
  return filters.map((filter) => {
    const column = names.get(foldName(filter.column))
    if (column === undefined)
      throw wrong(`no document has a column ${filter.column}`, `Did you mean ${nearest(filter.column, columns)}? Nothing was deleted.`)
    return { ...filter, column }
  })
}

const unexpected = (done: IndexAnswer): TypeError => new TypeError(`the index answered ${Object.keys(done).join(', ')}`)
