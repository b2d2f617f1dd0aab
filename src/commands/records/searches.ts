import type { Command } from '@event-driven-io/emmett'
import { searchesStream, type KnowledgeSearched } from '../../../events/records/searches.js'
import type { Decisions } from '../rules/decider.js'

export type SearchesCommand = Command<'RecordSearch', KnowledgeSearched>

/** Decides the records of searches. Their streams are separate from the knowledge bases' and have no state. */
export const searchesDecisions: Decisions<SearchesCommand, object> = {
  commands: { RecordSearch: 'record' },
  secrets: [],
  reads: () => ({}),
  decide: ({ data }) => [{ stream: searchesStream(data.knowledge_base), event: { type: 'KnowledgeSearched', data } }],
}
