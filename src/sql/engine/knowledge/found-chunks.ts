import { foldName, type Json } from '../../../../events/common.js'
import { Problem, wrong } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { plain, type AnswerColumn } from '../../../connections/contract/types.js'
import type { KnowledgeFacts, ListedChunk, MetadataColumn } from '../../../knowledge/contract/contents.js'
import type { KnowledgeChunk, KnowledgeQuery } from '../../../knowledge/contract/search.js'
import { parseSelect } from '../ast/duckdb.js'
import type { AstNode } from '../ast/json.js'
import { nodeOf } from '../ast/nodes.js'
import type { FetchedRows } from '../connected/fetch-table.js'
import { limitOf } from '../connected/limits-of-query.js'
import type { KnowledgeTable } from '../resolve/resolve.js'
import type { Session } from '../session/session.js'
import { takeSearchTerms, type SearchTerms } from './search-terms.js'

/** A search gives so many chunks unless it says otherwise. */
const usualChunks = 10

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

/** The columns that SQL shows: the own ones, and each of metadata whose name no other has. */
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

/** The best of several searches; a chunk that several found counts once. */
const merged = (found: readonly (readonly KnowledgeChunk[])[], limit: number): KnowledgeChunk[] => {
  const best = new Map<string, KnowledgeChunk>()
  for (const chunk of found.flat()) if ((best.get(chunk.chunk_id)?.relevance ?? -1) < chunk.relevance) best.set(chunk.chunk_id, chunk)
  return [...best.values()].sort((one, other) => other.relevance - one.relevance).slice(0, limit)
}

/** How many chunks a search shall give: as many as LIMIT says where nothing else is between them and the answer. */
const wantedChunks = (select: AstNode | undefined, ref: AstNode, { isAll }: SearchTerms): number => {
  const { knowledgeSearchMaxChunks: most } = limits
  const limit = select && limitOf(select)
  const isAlone = select !== undefined && nodeOf(select, 'from_table') === ref
  if (limit === undefined) return isAll ? usualChunks : most
  if (limit > most && isAlone)
    throw new Problem('query_limit', 'Too many chunks', `LIMIT ${limit}: a search gives at most ${most} chunks`, {
      hint: 'Ask for fewer, or read all chunks without content = ….',
    })
  return isAlone && isAll ? limit : most
}

const weightOf = ({ alpha, isHybrid }: SearchTerms): Pick<KnowledgeQuery, 'alpha'> => {
  const weight = alpha ?? (isHybrid ? 0.5 : undefined)
  if (weight !== undefined && !(weight >= 0 && weight <= 1))
    throw wrong(`hybrid_search_alpha: is ${weight}; it is from 0 (words) to 1 (vectors)`)
  return weight === undefined ? {} : { alpha: weight }
}

const reading = async (session: Session, table: string, state: string): Promise<FetchedRows> => ({
  query: await parseSelect(session.connection, `SELECT * FROM ${table}`),
  state,
})

/** Chunks of a knowledge base at a position: those that WHERE searches for, else all. */
const chunksFor = async (
  session: Session,
  base: KnowledgeTable,
  terms: SearchTerms,
  asOf: number | undefined,
  wanted: number,
): Promise<Chunk[]> => {
  const { answers } = session
  const { filters, minRelevance } = terms
  const past = asOf !== undefined && { asOf }
  if (terms.contents.length === 0) {
    const most = limits.knowledgeListMaxChunks
    const listed = await answers.listed(base.stream, { limit: most + 1, filters, ...past })
    if (listed.length > most)
      throw new Problem(
        'query_limit',
        'Too many chunks',
        `${base.name} has more than ${most} chunks, and at most so many are read without a search`,
        {
          hint: "Search it (content = '…'), or narrow it by id or metadata.",
        },
      )
    return listed
  }
  const found: (readonly KnowledgeChunk[])[] = []
  for (const content of terms.contents)
    found.push(
      await answers.found(base.stream, {
        ...{ content, limit: wanted, filters },
        ...(minRelevance !== undefined && { minRelevance }),
        ...weightOf(terms),
        ...past,
      }),
    )
  return merged(found, wanted)
}

/**
 * The rows of a knowledge base in a FROM: the chunks that the WHERE of the query searches for, the best first, or all. What is only
 * planned searches for nothing.
 */
export const fetchChunks = async (
  session: Session,
  base: KnowledgeTable,
  { ref, select, position }: { ref: AstNode; select: AstNode | undefined; position: number },
): Promise<FetchedRows> => {
  const { answers, quoted } = session
  const columns = shownColumns(await answers.factsOf(base.stream), base)
  const terms = takeSearchTerms(select, ref, { columns: columns.map(({ name }) => name), quoted })
  const wanted = wantedChunks(select, ref, terms)
  const state = terms.contents.length > 0 ? 'a search' : 'all chunks'
  if (session.isPlanned) return reading(session, await answers.empty(columns), `${state}, not made`)
  const asOf = position === session.head ? undefined : position
  const chunks = await chunksFor(session, base, terms, asOf, wanted)
  const rows = chunks.map((chunk) => rowOf(chunk, columns))
  return reading(session, await answers.filled(columns, rows), `${state} as of position ${position}`)
}
