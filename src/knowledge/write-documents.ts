import type { StreamId } from '../../events/common.js'
import type { Chunking } from '../../events/knowledge-base.js'
import {
  contentsStream,
  type ContentsSource,
  type DocumentsAt,
  type VectorModel,
  type KnowledgeDocument,
  type KnowledgeInserted,
  type ModelFiles,
} from '../../events/records/contents.js'
import { Problem } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { LongWork } from '../basics/long-work.js'
import type { Execution, Ledger } from '../commands/ledger.js'
import type { EmbeddingModel } from '../llm/contract/language-model.js'
import type { Log, Resource, Origin } from '../log/contract/log.js'
import type { SealedPayload } from '../vault/vault.js'
import type { InsertMode } from './contract/contents.js'
import { chunksIn } from './documents/chunks.js'
import { documentBytes } from './documents/documents.js'
import type { Embedders } from './embedding/embedders.js'
import { estimateTokens } from '../llm/tokens/estimates.js'
import { AskedModels } from '../llm/tokens/asked-models.js'
import type { Spending, SpendingOfProject } from '../llm/tokens/daily-token-quotas.js'
import type { FollowedIndexes } from './followed-indexes.js'
import { vectorBytes } from './index/vector-bytes.js'
import { checkLength } from './index/vectors.js'

export type WriterParts = {
  ledger: Ledger
  log: Log
  indexes: FollowedIndexes
  embedders: Embedders
  spendingOfProject: SpendingOfProject
}

/** The common data of all batches of an insert. */
export type InsertContext = {
  base: Resource<'knowledge_base'>
  source: ContentsSource
  mode: InsertMode
  chunking: Chunking
  origin: Origin
  signal: AbortSignal
}

export type WriteResult = { documents: number; replaced: number; skipped: number; chunks: number; positions: number[] }

type Place = { position: number; row: number }

const addTo = <K, V>(groups: Map<K, V[]>, key: K, value: V): void => {
  const group = groups.get(key)
  if (group) group.push(value)
  else groups.set(key, [value])
}

/** Groups places by their events. */
export const placesOf = (places: readonly Place[]): DocumentsAt[] => {
  const byPosition = new Map<number, number[]>()
  for (const { position, row } of places) addTo(byPosition, position, row)
  return [...byPosition].map(([position, rows]) => ({ position, rows }))
}

/** A document, and the texts of its chunks. */
type CutDocument = { document: KnowledgeDocument; texts: readonly string[] }

/** Documents with their vectors that fit into one event. */
const batchesOf = async (cut: readonly CutDocument[], chunksMax: number, work: LongWork): Promise<CutDocument[][]> => {
  const batches: CutDocument[][] = []
  let [bytes, chunks] = [0, 0]
  for (const one of cut) {
    await work.pause()
    const size = documentBytes(one.document)
    const last = batches.at(-1)
    const hasRoom = bytes + size <= limits.knowledgeBatchMaxBytes && chunks + one.texts.length <= chunksMax
    if (last && last.length < limits.knowledgeBatchMaxDocuments && hasRoom) {
      last.push(one)
      bytes += size
      chunks += one.texts.length
    } else {
      batches.push([one])
      ;[bytes, chunks] = [size, one.texts.length]
    }
  }
  return batches
}

/** Removes repeated ids among documents: the last one stays, or the first one if existing documents are skipped. */
const withoutTwins = (documents: readonly KnowledgeDocument[], mode: InsertMode): KnowledgeDocument[] => {
  if (mode === 'add') return [...documents]
  const byId = new Map<string, KnowledgeDocument>()
  for (const document of documents) if (mode === 'replace' || !byId.has(document.id)) byId.set(document.id, document)
  return [...byId.values()]
}

const tooMany = (what: string): Problem =>
  new Problem('too_large', 'Knowledge base is full', what, { hint: 'Insert less, or into another knowledge base.' })

const vectorBytesOf = (chunks: number, dimensions: number): number => chunks * dimensions * Float32Array.BYTES_PER_ELEMENT

/** @throws Problem when the vectors are too many for an event or for the knowledge base */
const checkVectors = (dimensions: number, ofEvent: number, { chunks }: Room): void => {
  const bytes = vectorBytesOf(ofEvent, dimensions)
  if (bytes > limits.knowledgeBatchVectorsMaxBytes)
    throw new Problem(
      'too_large',
      'Too large',
      `the vectors of a document would have ${bytes} bytes; at most ${limits.knowledgeBatchVectorsMaxBytes} are kept`,
      { hint: 'Split it into several documents, or give the knowledge base a larger chunk_size.' },
    )
  const all = vectorBytesOf(chunks, dimensions)
  if (all > limits.knowledgeVectorsMaxBytes)
    throw tooMany(`the vectors would have ${all} bytes; at most ${limits.knowledgeVectorsMaxBytes} are kept`)
}

const cutAtOnce = 256

const textsOf = async (content: string, chunking: Chunking, work: LongWork): Promise<string[]> => {
  const texts: string[] = []
  for (const { text } of chunksIn(content, chunking)) if (texts.push(text) % cutAtOnce === 0) await work.pause()
  return texts
}

/** The future number of chunks of a knowledge base, and the length of its vectors and the files of their model once it has some. */
type Room = { chunks: number; dimensions: number | null; files: ModelFiles | undefined }

type PreparedBatch = { inserted: KnowledgeInserted; payloads: SealedPayload[] }

const embedded = ({ provider, model, host, files }: EmbeddingModel, dimensions: number, tokens: number | null): VectorModel => ({
  ...{ provider, model, host, dimensions, input_tokens: tokens, ...(files && { files }) },
})

/** Writes documents into a knowledge base: looks up what they replace, cuts and embeds them, and records them. */
export class DocumentWriter {
  constructor(private readonly parts: WriterParts) {}

  /** Writes all of these documents, or none. The caller must be the only writer of this knowledge base. */
  async write(documents: readonly KnowledgeDocument[], writing: InsertContext, execution: Execution = {}): Promise<WriteResult> {
    const { base, mode, origin } = writing
    const { ledger, log } = this.parts
    const distinct = withoutTwins(documents, mode)
    const contents = await log.streamVersion(contentsStream(base.stream))
    const there = await this.#placesOf(base.stream, mode === 'add' ? [] : distinct)
    const wanted = mode === 'skip' ? distinct.filter(({ id }) => !there.has(id)) : distinct
    const skipped = mode === 'skip' ? documents.length - wanted.length : 0
    if (wanted.length === 0) return { documents: 0, replaced: 0, skipped, chunks: 0, positions: [] }
    const work = new LongWork()
    const cut: CutDocument[] = []
    for (const document of wanted) {
      cut.push({ document, texts: await textsOf(document.content, writing.chunking, work) })
      await work.pause()
    }
    const chunks = cut.reduce((sum, { texts }) => sum + texts.length, 0)
    // Vectors of providers cost money, so documents that do not fit are refused before.
    const room = await this.#roomFor(chunks, base.stream)
    const { embedding_model: settings } = base.state
    // No other insert of the knowledge base comes in between, so all of its vectors are of the model that made the first ones.
    const embedding = settings === null ? undefined : await this.parts.embedders.of(settings, room.files)
    const bytesOfOne = vectorBytesOf(1, room.dimensions ?? limits.embeddingMaxDimensions)
    const chunksMax = embedding ? limits.knowledgeBatchVectorsMaxBytes / bytesOfOne : Infinity
    const spending = this.parts.spendingOfProject(base.state.project)
    const prepared: PreparedBatch[] = []
    for (const batch of await batchesOf(cut, chunksMax, work)) {
      prepared.push(await this.#prepare(batch, room, there, { ...writing, embedding }, spending))
      await work.pause()
    }
    const commands = prepared.map(({ inserted }) => ({
      type: 'InsertKnowledge' as const,
      data: { name: base.state.name, contents, inserted },
    }))
    const payloads = prepared.flatMap((one) => one.payloads)
    const { positions } = await ledger.executeAll(commands, origin, { ...execution, payloads })
    spending.recorded({ input: prepared.reduce((sum, { inserted }) => sum + (inserted.embedding?.input_tokens ?? 0), 0), output: null })
    return {
      documents: wanted.length,
      replaced: mode === 'replace' ? [...there.values()].flat().length + documents.length - distinct.length : 0,
      skipped,
      chunks,
      positions,
    }
  }

  async #placesOf(base: StreamId, documents: readonly KnowledgeDocument[]): Promise<Map<string, Place[]>> {
    const found = new Map<string, Place[]>()
    if (documents.length === 0) return found
    const done = await this.parts.indexes.ask(base, { find: documents.map(({ id }) => id) })
    if (!('places' in done)) throw new TypeError('the index answered something else')
    for (const [id, position, row] of done.places) addTo(found, id, { position, row })
    return found
  }

  async #prepare(
    cut: readonly CutDocument[],
    room: Room,
    there: ReadonlyMap<string, Place[]>,
    writing: InsertContext & { embedding: EmbeddingModel | undefined },
    spending: Spending,
  ): Promise<PreparedBatch> {
    const { base, source, mode, chunking, embedding, signal } = writing
    const { vault } = this.parts.ledger
    const batch = cut.map(({ document }) => document)
    const texts = cut.flatMap((one) => one.texts)
    if (embedding && room.dimensions !== null) checkVectors(room.dimensions, texts.length, room)
    const { vectors, tokens } = embedding ? await this.#embed(embedding, texts, spending, signal) : { vectors: undefined, tokens: null }
    signal.throwIfAborted()
    if (vectors?.[0]) {
      checkLength(vectors[0], room.dimensions)
      checkVectors(vectors[0].length, texts.length, room)
      room.dimensions = vectors[0].length
    }
    const payload = vault.seal(Buffer.from(JSON.stringify(batch)))
    const sealed = vectors && vault.seal(vectorBytes(vectors))
    const inserted: KnowledgeInserted = {
      ...{ knowledge_base: base.stream, version: base.version, source, documents: batch.length, chunks: texts.length, chunking },
      bytes: batch.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0),
      embedding: embedding && vectors ? embedded(embedding, vectors[0]?.length ?? 0, tokens) : null,
      replaces: mode === 'replace' ? placesOf(batch.flatMap(({ id }) => there.get(id) ?? [])) : [],
      payload: payload.hash,
      vectors: sealed?.hash ?? null,
    }
    return { inserted, payloads: [payload, ...(sealed ? [sealed] : [])] }
  }

  /** The vectors of texts, and the tokens that the provider reported. */
  async #embed(model: EmbeddingModel, texts: readonly string[], spending: Spending, signal: AbortSignal) {
    const { provider, model: name, host } = model
    const estimate = texts.reduce((sum, text) => sum + estimateTokens(text), 0)
    const models = new AskedModels(spending.reserve)
    const vectors = await models.asking('embedding', { provider, model: name, host, estimate }, (reports) =>
      this.parts.embedders.embed(model, texts, { signal, ...reports }),
    )
    return { vectors, tokens: models.usage.input }
  }

  /** @throws Problem when the knowledge base would hold too many chunks */
  async #roomFor(more: number, base: StreamId): Promise<Room> {
    const done = await this.parts.indexes.ask(base, { facts: true })
    if (!('facts' in done)) throw new TypeError('the index answered something else')
    const chunks = done.facts.chunks + more
    if (chunks > limits.knowledgeMaxChunks)
      throw tooMany(
        `the knowledge base would have ${chunks} chunks, those of its history included; at most ${limits.knowledgeMaxChunks} are kept`,
      )
    const { dimensions, files } = done.facts
    return { chunks, dimensions, files }
  }
}
