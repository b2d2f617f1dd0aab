import type { KnowledgeQuestion } from '../../../knowledge/contract/contents.js'

/**
 * Thrown when a query needs what a knowledge base holds or finds. The query gives up its place; the server asks, and sends it again with
 * what it was told.
 */
export class MissingKnowledge extends Error {
  constructor(readonly questions: readonly KnowledgeQuestion[]) {
    super('the query needs what a knowledge base finds')
  }
}
