import { chunkId } from '../documents/chunks.js'
import type { ChunkList, ListedChunk } from '../contract/contents.js'
import type { KnowledgeChunk } from '../contract/search.js'
import type { JsonObject } from '../../../events/common.js'
import { conditionOf, type Condition } from './filters.js'
import type { ListRequest, SearchRequest } from './messages.js'
import type { IndexConnection } from './schema.js'
import type { VectorTable } from './vector-table.js'
import { dot, type VectorHit } from './vectors.js'
import { vectorOf } from './vector-bytes.js'
import { Bm25Search, type WordHit } from './bm25-search.js'

type Row = { id: string; number: number; total: number; start: number; finish: number; content: string }
type ScoredChunk = { key: number; relevance: number; distance: number | null }

/** A page of a list ends after this many characters of texts and metadata. The caller asks again for the rest. */
const listMaxChars = 8 * 1024 * 1024

/** How many of the best chunks by words, and by vectors, are combined. */
const weighed = 1_000
/** How many more chunks than wanted are compared exactly: codes may change the order of chunks that are about equally near. */
const margin = 100
/** The filters are tried on this many best chunks first. All chunks are searched unless `spare` more than wanted pass. */
const tried = 2_000
const spare = 10
/** The filters are tried on a sample of this many chunks. If at most `fewPass` pass, only the chunks that pass are compared. */
const sampled = 200
const fewPass = 4

/** The documents that were valid at a position; the currently valid ones without a position. */
const holding = (asOf: number | null): Condition =>
  asOf === null
    ? { sql: ' AND d.valid_to IS NULL', values: [] }
    : { sql: ' AND d.position <= ? AND (d.valid_to IS NULL OR d.valid_to > ?)', values: [asOf, asOf] }

const nothing: Condition = { sql: '', values: [] }

const both = (one: Condition, other: Condition): Condition => ({ sql: one.sql + other.sql, values: [...one.values, ...other.values] })

const keysOf = (db: IndexConnection, condition: Condition): Set<number> =>
  new Set(
    db
      .prepare<unknown[], number>(`SELECT c.key FROM chunks AS c JOIN documents AS d ON d.key = c.document WHERE true${condition.sql}`)
      .pluck()
      .all(...condition.values),
  )

/** Those of the given chunks that pass a condition. */
const passingOf = (db: IndexConnection, keys: readonly number[], condition: Condition): Set<number> =>
  keysOf(db, both({ sql: ' AND c.key IN (SELECT value FROM json_each(?))', values: [JSON.stringify(keys)] }, condition))

/** The chunks that pass the filters, if a sample shows that they are few; undefined without filters, or if many pass. */
const fewPassing = (
  db: IndexConnection,
  { filters, asOf }: SearchRequest,
  table: VectorTable | undefined,
): ReadonlySet<number> | undefined => {
  if (filters.length === 0 || !table) return undefined
  const filter = conditionOf(filters)
  return passingOf(db, table.sample(sampled), filter).size <= fewPass ? keysOf(db, both(holding(asOf), filter)) : undefined
}

type HitLimits = { few?: ReadonlySet<number> | undefined; limit: number }

const wordHits = (db: IndexConnection, { content, asOf, filters, limit: wanted }: SearchRequest, { few, limit }: HitLimits): WordHit[] => {
  const search = new Bm25Search(db, content)
  if (few && asOf === null) return search.hits('words', few, limit)
  const filter = conditionOf(filters)
  // The index of current words has only valid chunks, so a search without filters need not check any document.
  if (asOf === null) {
    if (filters.length === 0) return search.hits('words', nothing, limit)
    const first = search.hits('words', nothing, tried)
    const passing = passingOf(
      db,
      first.map(({ key }) => key),
      filter,
    )
    if (first.length < tried || passing.size >= Math.min(limit, wanted + spare))
      return first.filter(({ key }) => passing.has(key)).slice(0, limit)
    return search.hits('words', filter, limit)
  }
  const condition = few ?? both(holding(asOf), filter)
  const hits = [...search.hits('words', condition, limit), ...search.hits('past', condition, limit)]
  return hits.sort((one, other) => other.relevance - one.relevance || one.key - other.key).slice(0, limit)
}

const distanceOf = (similarity: number): number => Math.max(0, 1 - similarity)

const byRelevance = (one: ScoredChunk, other: ScoredChunk): number => other.relevance - one.relevance || one.key - other.key

/** The exact similarity of chunks to a question, by the vectors in the file. */
const exactSimilarity = (db: IndexConnection, vector: Float32Array): ((key: number) => number | undefined) => {
  const find = db.prepare<[number], Buffer>('SELECT vector FROM vectors WHERE chunk = ?').pluck()
  return (key) => {
    const bytes = find.get(key)
    return bytes && dot(vector, vectorOf(bytes, 0, vector.length), 0)
  }
}

/**
 * The weighted relevance by words and by vectors; a missing one counts as 0. The share of words is squared: a few common words say little
 * about the meaning, and would outweigh the small differences between vectors.
 */
const weighedRelevance = (alpha: number, similarity: number | undefined, share: number): number =>
  (similarity === undefined ? 0 : alpha / (1 + distanceOf(similarity))) + (1 - alpha) * share * share

type Vectors = { table: VectorTable; vector: Float32Array }

/** The nearest chunks that pass the filters. Only the nearest are tested first; if enough of them pass, the others are not tested. */
const nearestAllowed = (
  db: IndexConnection,
  { table, vector }: Vectors,
  request: SearchRequest,
  { few, limit }: HitLimits,
): VectorHit[] => {
  const { filters, asOf, limit: wanted } = request
  if (filters.length === 0) return table.nearest(vector, limit, { asOf })
  if (few) return table.nearestAmong(vector, few, limit)
  const filter = conditionOf(filters)
  const near = table.nearest(vector, tried, { asOf })
  const passing = passingOf(
    db,
    near.map(({ key }) => key),
    filter,
  )
  if (near.length < tried || passing.size >= wanted + spare) return near.filter(({ key }) => passing.has(key)).slice(0, limit)
  return table.nearestAmong(vector, keysOf(db, both(holding(asOf), filter)), limit)
}

/** The codes of vectors select candidates, and the best of these are compared exactly. */
const scored = (db: IndexConnection, request: SearchRequest, table: VectorTable | undefined): ScoredChunk[] => {
  const { vector, alpha, limit } = request
  if (vector === null || alpha === 0)
    return wordHits(db, request, { limit }).map(({ key, relevance }) => ({ key, relevance, distance: null }))
  const candidates = limit + margin
  const few = fewPassing(db, request, table)
  const most = alpha === 1 ? candidates : Math.max(weighed, candidates)
  const near = table ? nearestAllowed(db, { table, vector }, request, { few, limit: most }) : []
  const words = new Map(alpha === 1 ? [] : wordHits(db, request, { few, limit: weighed }).map(({ key, share }) => [key, share]))
  const similarities = new Map(near.map(({ key, similarity }) => [key, similarity]))
  for (const [key, similarity] of table?.similarities(
    vector,
    [...words.keys()].filter((key) => !similarities.has(key)),
  ) ?? [])
    similarities.set(key, similarity)
  const exact = exactSimilarity(db, vector)
  const by = (key: number, similarity: number | undefined): ScoredChunk => {
    const distance = similarity === undefined ? null : distanceOf(similarity)
    return { key, relevance: weighedRelevance(alpha, similarity, words.get(key) ?? 0), distance }
  }
  return [...new Set([...similarities.keys(), ...words.keys()])]
    .map((key) => by(key, similarities.get(key)))
    .sort(byRelevance)
    .slice(0, candidates)
    .map(({ key }) => by(key, exact(key)))
    .sort(byRelevance)
}

const columns = 'd.id, c.number, c.total, c.start, c.finish'

const listedChunk = ({ id, number, total, start, finish, content }: Row, metadata: JsonObject): ListedChunk => ({
  id,
  chunk_id: chunkId(id, number, total, { start, end: finish }),
  content,
  metadata,
})

/** The best chunks for a question by words, by vectors, or by both. */
export const searchChunks = (db: IndexConnection, request: SearchRequest, table: () => VectorTable | undefined): KnowledgeChunk[] => {
  const find = db.prepare<[number], Row & { metadata: string }>(
    `SELECT ${columns}, c.content, d.metadata FROM chunks AS c JOIN documents AS d ON d.key = c.document WHERE c.key = ?`,
  )
  const best = scored(db, request, request.alpha === 0 ? undefined : table()).filter(({ relevance }) => relevance >= request.minRelevance)
  return best.slice(0, request.limit).flatMap(({ key, relevance, distance }) => {
    const row = find.get(key)
    return row ? [{ key, ...listedChunk(row, JSON.parse(row.metadata) as JsonObject), relevance, distance }] : []
  })
}

/**
 * Reads the metadata of documents, or some columns of it, and its length. It caches the last document, because its chunks follow each
 * other.
 */
const metadataReader = (db: IndexConnection, columns: readonly string[] | null) => {
  const find = db.prepare<[number], string>('SELECT metadata FROM documents WHERE key = ?').pluck()
  let last: { document: number; metadata: JsonObject; chars: number } | undefined
  return (document: number) => {
    if (last?.document === document) return last
    const text = columns?.length === 0 ? '{}' : (find.get(document) ?? '{}')
    const all = JSON.parse(text) as JsonObject
    if (columns === null) return (last = { document, metadata: all, chars: text.length })
    const metadata = Object.fromEntries(columns.flatMap((name) => (Object.hasOwn(all, name) ? [[name, all[name] ?? null]] : [])))
    return (last = { document, metadata, chars: JSON.stringify(metadata).length })
  }
}

/** Chunks in the order of their insertion, which is the order of their keys. */
export const listChunks = (db: IndexConnection, { limit, filters, asOf, after, metadata: shown }: ListRequest): ChunkList => {
  const { sql, values } = both(holding(asOf), conditionOf(filters))
  const content = shown === null ? 'c.content' : "'' AS content"
  const rows = db
    .prepare<unknown[], Row & { key: number; document: number }>(
      `SELECT c.key, c.document, ${columns}, ${content} FROM chunks AS c CROSS JOIN documents AS d ON d.key = c.document
        WHERE c.key > ?${sql} ORDER BY c.key LIMIT ?`,
    )
    .iterate(after, ...values, limit)
  const metadataOf = metadataReader(db, shown)
  const chunks: ListedChunk[] = []
  let length = 0
  for (const row of rows) {
    const { metadata, chars } = metadataOf(row.document)
    chunks.push(listedChunk(row, metadata))
    length += row.content.length + chars
    if (chunks.length === limit || length >= listMaxChars) return { chunks, last: row.key }
  }
  return { chunks, last: null }
}
