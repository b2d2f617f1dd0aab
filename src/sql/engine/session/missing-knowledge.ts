import type { KnowledgeQuestion } from '../../../knowledge/contract/contents.js'

/**
 * Thrown when a query needs contents or search results of a knowledge base. The query gives up its place. The server asks the knowledge
 * base, and sends the query again with the answers.
 */
export class MissingKnowledge extends Error {
  constructor(readonly questions: readonly KnowledgeQuestion[]) {
    super('the query needs what a knowledge base finds')
  }
}
