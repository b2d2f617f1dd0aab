import type { JsonObject, StreamId } from '../../events/common.js'
import { logStream } from '../../events/records/log.js'
import { contentsStream, type DocumentsAt, type KnowledgeInserted, type KnowledgeRemoved } from '../../events/records/contents.js'
import { erasedPayloadsOf } from '../../events/catalogue/references.js'
import { parseEnvelope, type Envelope } from '../../events/stored/envelope.js'
import { upcast } from '../../events/catalogue/catalogue.js'
import { KeyedTurns } from '../basics/concurrency/keyed-turns.js'
import { limits } from '../basics/limits.js'
import type { Log } from '../log/contract/log.js'
import { streamEventsWith } from '../log/read/slices.js'
import { IndexGone, IndexNotOpen, type IndexProcess } from './index-client.js'
import {
  type IndexAnswer,
  type ErasedDocuments,
  type IndexState,
  type Step,
  type StoredDocument,
  type IndexRequest,
} from './index/messages.js'

type ReadableLog = Pick<Log, 'id' | 'readStream' | 'streamVersion' | 'versionAt' | 'payload' | 'erasedAt'>

/** Erasing rewrites a whole file. */
const eraseTimeoutMs = 10 * limits.knowledgeCallTimeoutMs
const triesMax = 3
/** The size of a place in a message, about. */
const placeBytes = 8

/** Whether the stored text of an event of the log's own stream erases documents. Most erasures are of other data. */
const erasesDocuments = (text: string): boolean => text.includes('"what":"documents"')

const parseDocuments = (bytes: Buffer | undefined): readonly StoredDocument[] | undefined =>
  bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as StoredDocument[])

/** The places of the documents that remain in a payload after an erasure; vectors have none. */
const placesLeft = (bytes: Buffer | undefined): number[] => {
  try {
    return (parseDocuments(bytes) ?? []).flatMap((document, row) => ('erased' in document ? [] : [row]))
  } catch {
    return []
  }
}

/**
 * The indexes of all knowledge bases, which follow the log. A search waits until its index has all events from before its start. The
 * process that keeps the indexes may end at any time.
 *
 * @example const done = await indexes.ask(stream, { search: request })
 */
export class FollowedIndexes {
  /** An index is updated by one caller at a time. */
  readonly #turns = new KeyedTurns()
  readonly #known = new Map<StreamId, IndexState & { generation: number }>()

  constructor(
    private readonly log: ReadableLog,
    private readonly process: IndexProcess,
  ) {}

  /** Asks an index that has all earlier events of the log. If the process ends meanwhile, the new process is asked. */
  async ask(base: StreamId, request: IndexRequest): Promise<IndexAnswer> {
    return this.#again(base, async () => {
      await this.#follow(base)
      return this.process.ask(base, request)
    })
  }

  /** Removes data that was erased up to now from every index that may have it. */
  async purge(bases: readonly StreamId[]): Promise<void> {
    for (const base of bases) await this.#again(base, () => this.#follow(base))
  }

  async #again<T>(base: StreamId, work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++)
      try {
        return await work()
      } catch (error) {
        const isLost = error instanceof IndexGone || error instanceof IndexNotOpen
        if (!isLost || tries === triesMax) throw error
        this.#known.delete(base)
      }
  }

  async #follow(base: StreamId): Promise<void> {
    const ofLog = async (): Promise<IndexState> => {
      const [version, erasedAt] = await Promise.all([this.log.streamVersion(contentsStream(base)), this.log.erasedAt()])
      return { version, erasedAt }
    }
    const { version, erasedAt } = await ofLog()
    if (this.#isCurrent(base, version, erasedAt)) return
    await this.#turns.take(base, async () => {
      if (this.#isCurrent(base, version, erasedAt)) return
      const { generation } = this.process
      let state = this.#known.get(base)
      if (state?.generation !== generation || generation === 0)
        state = this.#note(base, await this.process.ask(base, { open: { logId: this.log.id, ...(await ofLog()) } }))
      if (state.erasedAt < erasedAt) state = await this.#erase(base, state, erasedAt)
      while (state.version < version) state = await this.#apply(base, state)
    })
  }

  #isCurrent(base: StreamId, version: number, erasedAt: number): boolean {
    const known = this.#known.get(base)
    return known !== undefined && known.generation === this.process.generation && known.version >= version && known.erasedAt >= erasedAt
  }

  #note(base: StreamId, done: IndexAnswer): IndexState & { generation: number } {
    if (!('state' in done)) throw new TypeError('the index answered something else')
    const state = { ...done.state, generation: this.process.generation }
    this.#known.set(base, state)
    return state
  }

  /** Sends the index the next events, as many as one step may take. */
  async #apply(base: StreamId, { version }: IndexState) {
    const steps: Step[] = []
    let bytes = 0
    for (const { text } of await this.log.readStream(
      contentsStream(base),
      version,
      limits.eventSliceMaxEvents,
      limits.eventSliceMaxChars,
    )) {
      const { step, size } = await this.#stepOf(parseEnvelope(text))
      steps.push(step)
      bytes += size
      if (bytes > limits.knowledgeBatchMaxBytes) break
    }
    if (steps.length === 0) throw new Error(`the contents of ${base} have no event after version ${version}`)
    return this.#note(base, await this.process.ask(base, { apply: steps }))
  }

  async #stepOf({ type, schema, version, position, data }: Envelope): Promise<{ step: Step; size: number }> {
    const current: JsonObject = upcast(type, schema, data)
    if (type === 'KnowledgeRemoved') {
      const { removes } = current as unknown as KnowledgeRemoved
      return { step: { version, position, removed: removes }, size: 0 }
    }
    const { payload, vectors, chunking, embedding, replaces } = current as unknown as KnowledgeInserted
    const [documents, ofVectors] = await Promise.all([this.log.payload(payload), vectors === null ? undefined : this.log.payload(vectors)])
    const inserted = {
      ...{ payload, chunking, dimensions: embedding?.dimensions ?? null, replaces: replaces as readonly DocumentsAt[] },
      ...(embedding?.files && { files: embedding.files }),
      ...{ documents: parseDocuments(documents), vectors: ofVectors },
    }
    return { step: { version, position, inserted }, size: (documents?.length ?? 0) + (ofVectors?.length ?? 0) }
  }

  /** Tells the index which documents were erased after its last erasure. One message has as many as one step may take. */
  async #erase(base: StreamId, { erasedAt: from }: IndexState, erasedAt: number) {
    let erased: ErasedDocuments[] = []
    let bytes = 0
    const tell = async (upTo: number) => this.#note(base, await this.process.ask(base, { erase: erased, erasedAt: upTo }, eraseTimeoutMs))
    const after = await this.log.versionAt(logStream, from)
    for await (const { type, data, position } of streamEventsWith(this.log, logStream, after, erasesDocuments)) {
      for (const { hash, replacement } of erasedPayloadsOf(type, data)) {
        const stays = replacement === null ? [] : placesLeft(await this.log.payload(hash))
        erased.push({ payload: hash, stays })
        bytes += hash.length + placeBytes * stays.length
      }
      if (bytes <= limits.knowledgeBatchMaxBytes) continue
      await tell(position)
      ;[erased, bytes] = [[], 0]
    }
    return tell(erasedAt)
  }
}
