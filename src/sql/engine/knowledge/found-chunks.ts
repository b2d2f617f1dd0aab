/**
 * Room: knowledge bases in a FROM: the search, and the chunks in their place. It imports only events, basics, connections/contract,
 * knowledge/contract, sql/engine/ast, sql/engine/read, sql/engine/resolve, sql/engine/session and sql/engine/connected-tables.
 */

import { foldName, type Json } from '../../../../events/common.js'
import { Problem, wrong } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { plain, type AnswerColumn } from '../../../connections/contract/types.js'
import type { KnowledgeFacts, ListedChunk, MetadataColumn } from '../../../knowledge/contract/contents.js'
import type { KnowledgeChunk, KnowledgeQuery } from '../../../knowledge/contract/search.js'
import type { AstNode } from '../ast/json.js'
import { fetchedRows, type FetchedRows } from '../connected-tables/plan-scan.js'
import { usedColumns } from '../connected-tables/used-columns.js'
import { aliasOf } from '../session/describe.js'
import type { KnowledgeTable } from '../resolve/resolve.js'
import type { LeafColumn } from '../session/scope.js'
import type { Session } from '../session/session.js'
import { chunksToFind, chunksToList } from './limit-of-chunks.js'
import { takeSearchTerms, type SearchTerms } from './search-terms.js'
import type { ComparedSubquery } from './values-of-subquery.js'

const ownColumns: readonly AnswerColumn[] = [
  { name: 'id', type: plain('VARCHAR') },
  { name: 'chunk_id', type: plain('VARCHAR') },
  { name: 'chunk_content', type: plain('VARCHAR') },
  { name: 'metadata', type: plain('VARCHAR') },
  { name: 'relevance', type: plain('DOUBLE') },
  { name: 'distance', type: plain('DOUBLE') },
]

const typeOf = ({ types }: MetadataColumn): AnswerColumn['type'] => {
  if (types.every((type) => type === 'integer')) return plain('BIGINT')
  if (types.every((type) => type === 'integer' || type === 'real')) return plain('DOUBLE')
  return types.every((type) => type === 'boolean') ? plain('BOOLEAN') : plain('VARCHAR')
}

/** The columns in SQL: the own columns, and each metadata column whose name is not taken. */
const shownColumns = ({ columns }: KnowledgeFacts, { metadataColumns }: KnowledgeTable): AnswerColumn[] => {
  const shown = new Map(ownColumns.map((column) => [foldName(column.name), column]))
  const declared = metadataColumns.map((name): MetadataColumn => ({ name, types: ['text'] }))
  for (const column of [...columns, ...declared])
    if (!shown.has(foldName(column.name)) && shown.size < limits.knowledgeMaxColumns)
      shown.set(foldName(column.name), { name: column.name, type: typeOf(column) })
  return [...shown.values()]
}

type Chunk = ListedChunk & Partial<Pick<KnowledgeChunk, 'relevance' | 'distance'>>

const cellOf = (value: Json | undefined, { type }: AnswerColumn): Json => {
  if (value === undefined || value === null) return null
  if (type.type !== 'VARCHAR' || typeof value === 'string') return value
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const rowOf = ({ id, chunk_id, content, metadata, relevance, distance }: Chunk, columns: readonly AnswerColumn[]) => [
  ...[id, chunk_id, content, JSON.stringify(metadata), relevance ?? null, distance ?? null],
  ...columns.slice(ownColumns.length).map((column) => cellOf(metadata[column.name], column)),
]

/** The best chunks of several searches. A chunk that several searches found counts once. */
const merged = (found: readonly (readonly KnowledgeChunk[])[], limit: number): KnowledgeChunk[] => {
  const best = new Map<number, KnowledgeChunk>()
  for (const chunk of found.flat()) if ((best.get(chunk.key)?.relevance ?? -1) < chunk.relevance) best.set(chunk.key, chunk)
  return [...best.values()].sort((one, other) => other.relevance - one.relevance).slice(0, limit)
}

const weightOf = ({ alpha, isHybrid }: SearchTerms): Pick<KnowledgeQuery, 'alpha'> => {
  const weight = alpha ?? (isHybrid ? 0.5 : undefined)
  if (weight !== undefined && !(weight >= 0 && weight <= 1))
    throw wrong(`hybrid_search_alpha: is ${weight}; it is from 0 (words) to 1 (vectors)`)
  return weight === undefined ? {} : { alpha: weight }
}

/** The part of a knowledge base that a query reads, and its position: later documents may come while it runs. */
type ChunkSearch = { base: KnowledgeTable; terms: SearchTerms; asOf: number }

const foundChunks = async ({ answers }: Session, { base, terms, asOf }: ChunkSearch, wanted: number): Promise<Chunk[]> => {
  const { filters, minRelevance } = terms
  const searches = terms.contents.map((content) => ({
    ...{ content, limit: wanted, filters, asOf },
    ...(minRelevance !== undefined && { minRelevance }),
    ...weightOf(terms),
    ...(terms.reranking !== undefined && { reranking: terms.reranking }),
  }))
  return merged(await answers.found(base.stream, searches), wanted)
}

/**
 * Fills a table with chunks without a search, in parts. If the query does not read their texts, the chunks come without texts, so a query
 * can count a whole knowledge base.
 */
const fillWithAll = async (
  session: Session,
  { base, terms, asOf }: ChunkSearch,
  { table, columns, used, wanted }: { table: string; columns: readonly AnswerColumn[]; used: ReadonlySet<string>; wanted: number },
): Promise<void> => {
  const { answers } = session
  const isNarrow = !used.has('chunk_content') && !used.has('metadata')
  const metadata = columns.slice(ownColumns.length).flatMap(({ name }) => (used.has(name) ? [name] : []))
  const most = isNarrow ? limits.knowledgeMaxChunks : limits.knowledgeListMaxChunks
  let rows = 0
  for (let after: number | null = 0; after !== null && rows < wanted;) {
    // All parts have the same position.
    const list = { limit: Math.min(limits.knowledgeListMaxChunks, wanted - rows), filters: terms.filters, after, asOf }
    const { chunks, last } = await answers.listed(base.stream, { ...list, ...(isNarrow && { metadata }) })
    rows += chunks.length
    if (rows > most)
      throw new Problem(
        'query_limit',
        'Too many chunks',
        `${base.name} has more than ${most} chunks, and at most so many are read without a search`,
        { hint: "Search it (content = '…'), narrow it by id or metadata, or read it without chunk_content and metadata." },
      )
    await answers.fill(
      table,
      columns,
      chunks.map((chunk) => rowOf(chunk, columns)),
    )
    after = last
  }
}

/** The values of a query in WHERE; undefined if a search must not be narrowed by them. */
export type ValuesOfSubquery = (subquery: ComparedSubquery) => Promise<string[] | undefined>

const nothingKnown: ValuesOfSubquery = () => Promise.resolve(undefined)

const truths: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
])

const kindOf = ({ type }: AnswerColumn): LeafColumn['kind'] =>
  type.type === 'VARCHAR' ? 'text' : type.type === 'BOOLEAN' ? 'boolean' : 'number'

/** Makes the queries in WHERE filters of the search, so that it finds chunks that pass them. DuckDB checks them again. */
const takeSubqueries = async (
  { isPlanned }: Session,
  terms: SearchTerms,
  { columns, valuesOf }: { columns: readonly AnswerColumn[]; valuesOf: ValuesOfSubquery },
): Promise<void> => {
  for (const { column, op, query } of terms.subqueries) {
    const shown = columns.find(({ name }) => name === column)
    const isNarrowed = shown !== undefined && terms.contents.length > 0 && !isPlanned
    const texts = isNarrowed ? await valuesOf({ query, op, kind: kindOf(shown) }) : undefined
    if (!texts) terms.isAll = false
    // Every chunk passes NOT IN without values, even a chunk without the metadata, which no filter finds.
    else if (op === 'in' || texts.length > 0)
      terms.filters.push({ column, op, value: texts.flatMap((text) => [text, ...(truths.has(text) ? [truths.get(text) ?? true] : [])]) })
  }
}

/**
 * The rows of a knowledge base in a FROM: the chunks that the WHERE of the query searches for, the best first, or all chunks. A query that
 * is only planned runs no search.
 */
export const fetchChunks = async (
  session: Session,
  base: KnowledgeTable,
  { ref, position, select, valuesOf }: { ref: AstNode; position: number; select?: AstNode; valuesOf?: ValuesOfSubquery },
): Promise<FetchedRows> => {
  const { answers, quoted } = session
  const columns = shownColumns(await answers.factsOf(base.stream, session.isPlanned), base)
  const terms = takeSearchTerms(select, ref, { columns: columns.map(({ name }) => name), quoted })
  await takeSubqueries(session, terms, { columns, valuesOf: valuesOf ?? nothingKnown })
  const wanted = await (terms.contents.length > 0
    ? chunksToFind(session.connection, { select, ref }, terms.isAll)
    : chunksToList(session.connection, { select, ref }))
  const state = terms.contents.length > 0 ? 'a search' : 'all chunks'
  if (session.isPlanned) return fetchedRows(session, await answers.empty(columns), `${state}, not made`)
  const search: ChunkSearch = { base, terms, asOf: position }
  const table = await answers.empty(columns)
  if (terms.contents.length > 0) {
    const chunks = await foundChunks(session, search, wanted)
    await answers.fill(
      table,
      columns,
      chunks.map((chunk) => rowOf(chunk, columns)),
    )
  } else {
    const used = select ? usedColumns(select, aliasOf(ref), columns) : columns
    await fillWithAll(session, search, { table, columns, used: new Set(used.map(({ name }) => name)), wanted })
  }
  return fetchedRows(session, table, `${state} as of position ${position}`)
}
