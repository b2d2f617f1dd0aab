import type { StreamId } from '../../events/common.js'
import type { Chunking } from '../../events/knowledge-base.js'
import {
  contentsStream,
  type ContentsSource,
  type DocumentsAt,
  type KnowledgeDocument,
  type KnowledgeInserted,
} from '../../events/records/contents.js'
import { Problem } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { LongWork } from '../basics/long-work.js'
import type { Execution, Ledger } from '../commands/ledger.js'
import type { EmbeddingModel } from '../llm/contract/language-model.js'
import type { Found, Origin } from '../log/contract/log.js'
import type { SealedPayload } from '../vault/vault.js'
import type { InsertMode } from './contract/contents.js'
import { chunksIn } from './documents/chunks.js'
import { bytesOf } from './documents/documents.js'
import type { Embedders } from './embedding/embedders.js'
import type { FollowedIndexes } from './followed-indexes.js'
import { vectorBytes } from './index/vector-bytes.js'

export type WriterParts = { ledger: Ledger; indexes: FollowedIndexes; embedders: Embedders }

/** What all batches of an insert have in common. */
export type Writing = {
  base: Found<'knowledge_base'>
  source: ContentsSource
  mode: InsertMode
  chunking: Chunking
  embedding: EmbeddingModel | undefined
  origin: Origin
  signal: AbortSignal
}

export type Written = { documents: number; replaced: number; skipped: number; chunks: number; positions: number[] }

type Place = { position: number; row: number }

const addTo = <K, V>(groups: Map<K, V[]>, key: K, value: V): void => {
  const group = groups.get(key)
  if (group) group.push(value)
  else groups.set(key, [value])
}

/** Places grouped by their events. */
export const placesOf = (places: readonly Place[]): DocumentsAt[] => {
  const byPosition = new Map<number, number[]>()
  for (const { position, row } of places) addTo(byPosition, position, row)
  return [...byPosition].map(([position, rows]) => ({ position, rows }))
}

/** Documents that fit into one event. */
const batchesOf = async (documents: readonly KnowledgeDocument[], work: LongWork): Promise<KnowledgeDocument[][]> => {
  const batches: KnowledgeDocument[][] = []
  let bytes = 0
  for (const document of documents) {
    await work.pause()
    const size = bytesOf(document)
    const last = batches.at(-1)
    if (last && last.length < limits.knowledgeBatchMaxDocuments && bytes + size <= limits.knowledgeBatchMaxBytes) {
      last.push(document)
      bytes += size
    } else {
      batches.push([document])
      bytes = size
    }
  }
  return batches
}

/** Of documents with the same id the last one counts, or the first where those that are there are left out. */
const withoutTwins = (documents: readonly KnowledgeDocument[], mode: InsertMode): KnowledgeDocument[] => {
  if (mode === 'add') return [...documents]
  const byId = new Map<string, KnowledgeDocument>()
  for (const document of documents) if (mode === 'replace' || !byId.has(document.id)) byId.set(document.id, document)
  return [...byId.values()]
}

const tooMany = (what: string): Problem =>
  new Problem('too_large', 'Knowledge base is full', what, { hint: 'Insert less, or into another knowledge base.' })

/** @throws Problem for vectors of another length than those that are there, or for too many of them */
const checkVectors = (own: number, { chunks, dimensions }: Room): void => {
  if (dimensions !== null && own !== dimensions)
    throw new Problem(
      'llm_failed',
      'Other embeddings',
      `the embedding model gives vectors of ${own} numbers; those that are there have ${dimensions}`,
      { hint: 'Use the model that the documents were inserted with, or create another knowledge base.' },
    )
  const bytes = chunks * own * Float32Array.BYTES_PER_ELEMENT
  if (bytes > limits.knowledgeVectorsMaxBytes)
    throw tooMany(`the vectors would have ${bytes} bytes; at most ${limits.knowledgeVectorsMaxBytes} are kept`)
}

/** Documents of one event, and the texts of their chunks. */
type CutBatch = { batch: readonly KnowledgeDocument[]; texts: readonly string[] }

const cutAtOnce = 256

const textsOf = async (batch: readonly KnowledgeDocument[], chunking: Chunking, work: LongWork): Promise<string[]> => {
  const texts: string[] = []
  for (const { content } of batch)
    for (const { text } of chunksIn(content, chunking)) if (texts.push(text) % cutAtOnce === 0) await work.pause()
  return texts
}

/** How many chunks a knowledge base will have, and how long its vectors are, once it has some. */
type Room = { chunks: number; dimensions: number | null }

type Prepared = { inserted: KnowledgeInserted; payloads: SealedPayload[] }

/** Writes documents into a knowledge base: looks up what they replace, cuts and embeds them, and records them. */
export class DocumentWriter {
  constructor(private readonly parts: WriterParts) {}

  /** Writes all of these documents, or none. Whoever calls it is the only one who writes to this knowledge base. */
  async write(documents: readonly KnowledgeDocument[], writing: Writing, execution: Execution = {}): Promise<Written> {
    const { base, mode, origin } = writing
    const { ledger } = this.parts
    const distinct = withoutTwins(documents, mode)
    const contents = await ledger.log.streamVersion(contentsStream(base.stream))
    const there = await this.#placesOf(base.stream, mode === 'add' ? [] : distinct)
    const wanted = mode === 'skip' ? distinct.filter(({ id }) => !there.has(id)) : distinct
    const skipped = mode === 'skip' ? documents.length - wanted.length : 0
    if (wanted.length === 0) return { documents: 0, replaced: 0, skipped, chunks: 0, positions: [] }
    const work = new LongWork()
    const cut: CutBatch[] = []
    for (const batch of await batchesOf(wanted, work)) cut.push({ batch, texts: await textsOf(batch, writing.chunking, work) })
    const chunks = cut.reduce((sum, { texts }) => sum + texts.length, 0)
    // Providers are paid for vectors: what has no room is refused before.
    const room = await this.#roomFor(chunks, base.stream)
    const prepared: Prepared[] = []
    for (const one of cut) {
      prepared.push(await this.#prepare(one, room, there, writing))
      await work.pause()
    }
    const commands = prepared.map(({ inserted }) => ({
      type: 'InsertKnowledge' as const,
      data: { name: base.state.name, contents, inserted },
    }))
    const payloads = prepared.flatMap((one) => one.payloads)
    const { positions } = await ledger.executeAll(commands, origin, { ...execution, payloads })
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

  async #prepare({ batch, texts }: CutBatch, room: Room, there: ReadonlyMap<string, Place[]>, writing: Writing): Promise<Prepared> {
    const { base, source, mode, chunking, embedding, signal } = writing
    const { vault } = this.parts.ledger
    const vectors = embedding ? await this.parts.embedders.embed(embedding, texts, signal) : undefined
    signal.throwIfAborted()
    if (vectors?.[0]) {
      checkVectors(vectors[0].length, room)
      room.dimensions = vectors[0].length
    }
    const payload = vault.seal(Buffer.from(JSON.stringify(batch)))
    const sealed = vectors && vault.seal(vectorBytes(vectors))
    const inserted: KnowledgeInserted = {
      ...{ knowledge_base: base.stream, version: base.version, source, documents: batch.length, chunks: texts.length, chunking },
      bytes: batch.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0),
      embedding: embedding && vectors ? { model: embedding.model, host: embedding.host, dimensions: vectors[0]?.length ?? 0 } : null,
      replaces: mode === 'replace' ? placesOf(batch.flatMap(({ id }) => there.get(id) ?? [])) : [],
      payload: payload.hash,
      vectors: sealed?.hash ?? null,
    }
    return { inserted, payloads: [payload, ...(sealed ? [sealed] : [])] }
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
    return { chunks, dimensions: done.facts.dimensions }
  }
}
