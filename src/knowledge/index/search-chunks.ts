import { chunkId } from '../documents/chunks.js'
import type { ListedChunk } from '../contract/contents.js'
import type { KnowledgeChunk, MetadataFilter } from '../contract/search.js'
import type { JsonObject } from '../../../events/common.js'
import { conditionOf, type Condition } from './filters.js'
import type { SearchRequest } from './messages.js'
import type { Connection } from './schema.js'
import { BestHits, dot, type VectorHit, type VectorTable } from './vectors.js'
import { vectorOf } from './vector-bytes.js'
import { WordSearch, type WordHit } from './words.js'

type Row = { id: string; number: number; total: number; start: number; finish: number; content: string; metadata: string }
type Scored = { key: number; relevance: number; distance: number | null }

/** How many of the best by words and by vectors are weighed against each other. */
const weighed = 1_000

/** The documents that held at a position; those that hold now where there is none. */
const holding = (asOf: number | null): Condition =>
  asOf === null
    ? { sql: ' AND d.valid_to IS NULL', values: [] }
    : { sql: ' AND d.position <= ? AND (d.valid_to IS NULL OR d.valid_to > ?)', values: [asOf, asOf] }

const both = (one: Condition, other: Condition): Condition => ({ sql: one.sql + other.sql, values: [...one.values, ...other.values] })

const wordHits = (db: Connection, { content, asOf }: SearchRequest, filter: Condition, limit: number): WordHit[] => {
  const search = new WordSearch(db, content)
  // The index of words has only what holds now: without a filter no document need be looked at.
  if (asOf === null) return search.hits('words', filter, limit)
  const condition = both(holding(asOf), filter)
  const hits = [...search.hits('words', condition, limit), ...search.hits('past', condition, limit)]
  return hits.sort((one, other) => other.relevance - one.relevance || one.key - other.key).slice(0, limit)
}

const keysOf = (db: Connection, condition: Condition): Set<number> =>
  new Set(
    db
      .prepare<unknown[], number>(`SELECT c.key FROM chunks AS c JOIN documents AS d ON d.key = c.document WHERE true${condition.sql}`)
      .pluck()
      .all(...condition.values),
  )

/** Vectors of the past are not in memory. */
const pastHits = (db: Connection, vector: Float32Array, condition: Condition, limit: number): VectorHit[] => {
  const best = new BestHits(limit)
  const rows = db
    .prepare<unknown[], { key: number; vector: Buffer }>(
      `SELECT c.key, c.vector FROM chunks AS c JOIN documents AS d ON d.key = c.document WHERE c.vector IS NOT NULL${condition.sql}`,
    )
    .iterate(...condition.values)
  for (const row of rows) best.offer(row.key, dot(vector, vectorOf(row.vector, 0, vector.length), 0))
  return best.sorted()
}

const scoredVector = ({ key, similarity }: VectorHit): Scored => {
  const distance = Math.max(0, 1 - similarity)
  return { key, relevance: 1 / (1 + distance), distance }
}

const byRelevance = (one: Scored, other: Scored): number => other.relevance - one.relevance || one.key - other.key

/** Both relevances, weighed; a chunk without one of them counts as not relevant there. */
const combined = (
  vectors: readonly Scored[],
  words: readonly WordHit[],
  alpha: number,
  distanceOf: (key: number) => number | undefined,
) => {
  const scores = new Map<number, Scored>()
  for (const { key, relevance, distance } of vectors) scores.set(key, { key, relevance: alpha * relevance, distance })
  for (const { key, relevance } of words) {
    const known = scores.get(key)
    const distance = known ? known.distance : (distanceOf(key) ?? null)
    const ofVector = known ? known.relevance : distance === null ? 0 : alpha / (1 + distance)
    scores.set(key, { key, relevance: ofVector + (1 - alpha) * relevance, distance })
  }
  return [...scores.values()].sort(byRelevance)
}

const scored = (db: Connection, request: SearchRequest, table: () => VectorTable | undefined): Scored[] => {
  const { vector, alpha, limit, filters, asOf } = request
  const filter = conditionOf(filters)
  if (vector === null || alpha === 0)
    return wordHits(db, request, filter, limit).map(({ key, relevance }) => ({ key, relevance, distance: null }))
  const wanted = alpha === 1 ? limit : weighed
  const vectors = asOf === null ? table() : undefined
  const allowed = filters.length > 0 ? keysOf(db, both(holding(null), filter)) : undefined
  const near = vectors ? vectors.nearest(vector, wanted, allowed) : pastHits(db, vector, both(holding(asOf), filter), wanted)
  if (alpha === 1) return near.map(scoredVector)
  const distanceOf = (key: number) => {
    const similarity = vectors?.similarityOf(vector, key)
    return similarity === undefined ? undefined : Math.max(0, 1 - similarity)
  }
  return combined(near.map(scoredVector), wordHits(db, request, filter, weighed), alpha, distanceOf)
}

const columns = 'd.id, c.number, c.total, c.start, c.finish, c.content, d.metadata'

const listedChunk = ({ id, number, total, start, finish, content, metadata }: Row): ListedChunk => ({
  id,
  chunk_id: chunkId(id, number, total, { start, end: finish }),
  content,
  metadata: JSON.parse(metadata) as JsonObject,
})

/** The best chunks for a question, by their words, their vectors, or both. */
export const searchChunks = (db: Connection, request: SearchRequest, table: () => VectorTable | undefined): KnowledgeChunk[] => {
  const find = db.prepare<[number], Row>(`SELECT ${columns} FROM chunks AS c JOIN documents AS d ON d.key = c.document WHERE c.key = ?`)
  const best = scored(db, request, table).filter(({ relevance }) => relevance >= request.minRelevance)
  return best.slice(0, request.limit).flatMap(({ key, relevance, distance }) => {
    const row = find.get(key)
    return row ? [{ ...listedChunk(row), relevance, distance }] : []
  })
}

/** Chunks in the order in which they were inserted. */
export const listChunks = (
  db: Connection,
  { limit, filters, asOf }: { limit: number; filters: readonly MetadataFilter[]; asOf: number | null },
): ListedChunk[] => {
  const { sql, values } = both(holding(asOf), conditionOf(filters))
  const rows = db
    .prepare<unknown[], Row>(
      `SELECT ${columns} FROM documents AS d JOIN chunks AS c ON c.document = d.key WHERE true${sql}
      ORDER BY d.position, d.row, c.number LIMIT ?`,
    )
    .all(...values, limit)
  return rows.map(listedChunk)
}
