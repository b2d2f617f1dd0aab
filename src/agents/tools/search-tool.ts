import type { JsonObject, StreamId } from '../../../events/common.js'
import { wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { KnowledgeChunk } from '../../knowledge/contract/search.js'
import { cutText } from '../../llm/tokens/estimates.js'
import type { Knowledge, NamedBase } from '../scope/knowledge.js'
import { inputSchema, itemNamed, type Tool } from './tool.js'

/** A search: its knowledge base, and the log position up to which it searched. */
export type PerformedSearch = { knowledge_base: StreamId; version: number; position: number }

type SearchParts = {
  bases: readonly NamedBase[]
  search: Knowledge['search']
  /** The log position to search at. */
  asOf: number
  onSearched: (searched: PerformedSearch) => void
}

const usualChunks = 5

const valueMaxChars = 200

/** Metadata as JSON, with long values cut; a list or an object that is too long becomes a text. */
const metadataText = (metadata: JsonObject): string => {
  const short = Object.entries(metadata).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return [name, text.length <= valueMaxChars ? value : cutText(text, valueMaxChars)]
  })
  return JSON.stringify(Object.fromEntries(short))
}

/** A passage as text for a language model: its words come first, and its metadata gets the room that they leave, or a quarter of all. */
const passageText = ({ id, relevance, metadata, content }: KnowledgeChunk, maxChars: number): string => {
  const about = Object.keys(metadata).length > 0 ? `metadata: ${metadataText(metadata)}` : ''
  const header = JSON.stringify({ id, relevance: Math.round(relevance * 1_000) / 1_000 })
  const kept = Math.min(about.length, Math.floor(maxChars / 4))
  const passage = cutText(`${header}\n${content}`, maxChars - kept)
  return about === '' ? passage : `${passage}\n${cutText(about, Math.max(kept, maxChars - passage.length))}`
}

/** The tool that searches the knowledge bases of an agent. */
export const searchTool = ({ bases, search, asOf, onSearched }: SearchParts): Tool => {
  const names = bases.map(({ name }) => name)
  return {
    kind: 'search',
    description: {
      name: 'search_knowledge',
      description: 'Finds the passages of a knowledge base that fit a question best.',
      inputSchema: inputSchema(
        {
          knowledge_base: { type: 'string', enum: names },
          query: { type: 'string', description: 'What is searched for, in words' },
          limit: { type: 'integer', minimum: 1, maximum: limits.agentSearchMaxChunks },
        },
        ['limit', ...(bases.length === 1 ? ['knowledge_base'] : [])],
      ),
    },
    givesData: true,
    async use({ knowledge_base: name, query, limit }, signal, { asking }) {
      const { base } = itemNamed('knowledge_base', bases, (one) => one.name, name)
      if (typeof query !== 'string' || query.trim() === '') throw wrong('query: must be a text')
      const most =
        typeof limit === 'number' && Number.isInteger(limit) && limit > 0 ? Math.min(limit, limits.agentSearchMaxChunks) : usualChunks
      const result = await search(base, { content: query, limit: most, asOf }, { signal, asking })
      onSearched({ knowledge_base: base.stream, version: base.version, position: result.position })
      const each = Math.floor(limits.agentToolOutputMaxChars / Math.max(1, result.chunks.length))
      const texts = result.chunks.map((chunk) => passageText(chunk, each))
      return { output: texts.length > 0 ? texts.join('\n\n') : 'Nothing was found.', rows: texts.length }
    },
  }
}
