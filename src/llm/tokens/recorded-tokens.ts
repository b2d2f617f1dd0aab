import { currentEvent } from '../../../events/catalogue/catalogue.js'
import type { Envelope } from '../../../events/stored/envelope.js'

/** Types of events that stand for tokens of language models and embedding models. */
export const tokenTypes: ReadonlySet<string> = new Set(['AgentAnswered', 'AgentEvaluated', 'KnowledgeSearched', 'KnowledgeInserted'])

type Tokens = { input_tokens: number | null; output_tokens?: number | null } | null

const sum = (...used: readonly Tokens[]): number =>
  used.reduce((total, tokens) => total + (tokens?.input_tokens ?? 0) + (tokens?.output_tokens ?? 0), 0)

/** The tokens that an event stands for. An agent's own tokens of an evaluation stand in its answers. */
export const tokensIn = (envelope: Envelope): number => {
  const event = currentEvent(envelope)
  if (event.type === 'AgentAnswered') return sum(event.data) + (event.data.estimated_tokens ?? 0)
  if (event.type === 'AgentEvaluated') return sum(event.data.judge) + (event.data.estimated_tokens ?? 0)
  if (event.type === 'KnowledgeSearched') return sum(event.data.embedding, event.data.reranking) + (event.data.estimated_tokens ?? 0)
  return event.type === 'KnowledgeInserted' ? sum(event.data.embedding) : 0
}
