import {
  isWriting,
  type AnswerAddress,
  type ListedColumns,
  type Query,
  type TableColumn,
  type Tables,
} from '../../connections/contract/requests.js'
import type { AnswerColumn } from '../../connections/contract/types.js'
import type { KnowledgeQuestion, KnowledgeAnswer } from '../../knowledge/contract/contents.js'

/**
 * A question of the SQL process to the server about a connected database, during a query. `connection` is its stream. With `soon`, a
 * database that does not answer fails soon.
 */
export type ConnectedQuestion = { connection: string } & (
  | { tables: true; soon?: boolean }
  | { everyColumn: true; soon?: boolean }
  | { columnsOf: string; schema?: string; soon?: boolean }
  | { described: string; soon?: boolean }
  | { open: Query }
)

/**
 * The server's answer about a connected database. The secrets of a connection stay in the server. With `changes`, the statement may have
 * changed something there.
 */
export type ConnectedAnswer =
  | { tables: Tables }
  | { everyColumn: ListedColumns }
  | { columns: readonly TableColumn[] }
  | { described: readonly AnswerColumn[] | null }
  | { place: AnswerAddress; changes?: true }

/** A question of the SQL process to the server during a query: about a connected database or a knowledge base. */
export type Question = ConnectedQuestion | KnowledgeQuestion

/** Whether a question sends a statement that may change something in a connected database. */
export const mayChange = (question: Question | BlobQuestion): boolean => 'open' in question && isWriting(question.open)

/** Requests the file of a blob for the duration of the query. */
export type BlobQuestion = { blob: string }

/** The answer of the server. */
export type ServerAnswer = ConnectedAnswer | KnowledgeAnswer | BlobQuestion

/** Asks the server. @throws Problem of the database, or of the policy that forbids calls to it */
export type AskServer = (question: Question | BlobQuestion) => Promise<ServerAnswer>
