import * as z from 'zod'
import { chunkingSchema } from '../../../events/knowledge-base.js'
import { contentsStream } from '../../../events/records/contents.js'
import { Problem } from '../../basics/errors.js'
import { LongWork } from '../../basics/long-work.js'
import { chunksOf } from '../../knowledge/documents/chunks.js'
import type { Log } from '../../log/contract/log.js'
import { eventsOf } from '../../log/read/slices.js'
import { emptyPlan, whole, type Plan } from './plan.js'
import { takeSearchesOf } from './searches.js'
import { erasedResource } from './secrets.js'

type ReadableLog = Pick<Log, 'readAll' | 'readStream' | 'payload' | 'payloadState' | 'resources'>

export type DocumentsSubject = { project: string; knowledge_base: string; ids?: string[] }

const inserted = z.object({ payload: z.string(), vectors: z.string().nullable(), documents: z.number(), chunking: chunkingSchema })
const stored = z.array(z.union([z.object({ erased: z.literal(true) }), z.looseObject({ id: z.string(), content: z.string() })]))
type StoredDocuments = z.infer<typeof stored>

/** The documents, with a mark instead of each erased one. Undefined when none is erased. */
const without = (documents: StoredDocuments, goes: (id: string) => boolean): { left: StoredDocuments; gone: number } | undefined => {
  const left = documents.map((document) => ('id' in document && goes(document.id) ? ({ erased: true } as const) : document))
  const gone = left.filter((document, i) => document !== documents[i]).length
  return gone === 0 ? undefined : { left, gone }
}

/** The vectors of the remaining documents, in the order of the chunks. */
const vectorsLeft = (vectors: Buffer, before: StoredDocuments, left: StoredDocuments, chunking: z.infer<typeof chunkingSchema>): Buffer => {
  const counts = before.map((document) => ('content' in document ? chunksOf(document.content, chunking).length : 0))
  const total = counts.reduce((sum, count) => sum + count, 0)
  const size = total === 0 ? 0 : vectors.length / total
  let at = 0
  const parts = counts.map((count, i) => {
    const part = vectors.subarray(at, (at += count * size))
    return left[i] === before[i] ? part : Buffer.alloc(0)
  })
  return Buffer.concat(parts)
}

/**
 * Plans to erase documents of a knowledge base, with the given ids or all, in every version. Their vectors, and the words of searches that
 * had passages of them, are erased with them.
 */
export const planDocuments = async (log: ReadableLog, { project, knowledge_base, ids }: DocumentsSubject): Promise<Plan> => {
  const { stream, path } = await erasedResource(log, 'knowledge_base', knowledge_base, project)
  // The ids may be personal data, so the event does not contain them.
  const plan = emptyPlan('documents', path)
  const wanted = ids && new Set(ids)
  const missing = new Set(ids)
  const goes = (id: string) => wanted?.has(id) ?? true
  const work = new LongWork()
  let [found, already] = [0, 0]
  for await (const { type, data } of eventsOf(log, contentsStream(stream))) {
    if (type !== 'KnowledgeInserted') continue
    const { payload, vectors, documents: count, chunking } = inserted.parse(data)
    const [ofDocuments, ofVectors] = await Promise.all([whole(log, payload, count), vectors === null ? undefined : whole(log, vectors, 0)])
    const bytes = ofDocuments && (await log.payload(payload))
    await work.pause()
    if (!ofDocuments || !bytes) {
      already++
      continue
    }
    const before = stored.parse(JSON.parse(bytes.toString()))
    for (const document of before) if ('id' in document) missing.delete(document.id)
    if (wanted && before.some((document) => 'erased' in document)) already++
    const split = without(before, goes)
    if (!split) continue
    found += split.gone
    const isEmpty = split.left.every((document) => 'erased' in document)
    plan.payloads.push({ ...ofDocuments, rows: split.gone, stays: isEmpty ? null : JSON.stringify(split.left) })
    const vectorBytes = ofVectors && vectors !== null ? await log.payload(vectors) : undefined
    if (ofVectors && vectorBytes)
      plan.payloads.push({ ...ofVectors, stays: isEmpty ? null : vectorsLeft(vectorBytes, before, split.left, chunking) })
  }
  await takeSearchesOf(log, stream, goes, plan)
  // An erased document has no id any more, so the missing ones may be among the erased ones: the request may be a repeated one.
  if (!wanted || missing.size > 0) plan.already = already
  if (found === 0 && already === 0)
    throw new Problem('not_found', 'Documents not found', `${path} never had ${wanted ? 'documents with these ids' : 'documents'}`, {
      hint: `SELECT id FROM ${path} lists its documents.`,
    })
  return plan
}
