/**
 * Room: the requests and answers between the server and the SQL process. It imports only events, basics, log, dialect, sql/encode,
 * sql/statements, commands, connections/contract and knowledge/contract.
 */

import type { StreamId } from '../../../events/common.js'
import type { LastValue } from '../../../events/job.js'
import type { QueryPurpose, TrainedVersion } from '../../../events/records/queries.js'
import type { Origin } from '../../log/contract/log.js'
import type { RowFormat } from '../encode/chunks.js'
import type { Parameters, Span } from '../statements/statement.js'
import type { KnowledgeQuestion, KnowledgeAnswer } from '../../knowledge/contract/contents.js'
import type { Column, ErasableReads } from './answer.js'
import type { AsOf } from './as-of.js'
import type { SelectPurpose } from './select-purpose.js'

/** The bounds of a SELECT that another program wrote for the client, such as a language model. */
export type SelectBounds = {
  /**
   * The tables that it may name, if it may not name all; views read their own tables. It then has no AT, and no statement of another
   * database.
   */
  only?: readonly TablePath[]
  /** The largest number of rows in its answer. */
  maxRows?: number
  /** The time that it may take in milliseconds, if this is not `sqlTimeoutMs`. */
  timeoutMs?: number
  /** The purpose of queries to connected databases, if it is not the rows of an answer. */
  purpose?: QueryPurpose
  /** The answer of an agent whose query it is, for the record of its searches. */
  answer?: string
}

/** A SELECT: a separate text, or the part `within` of a statement. `wanted` is the requested result if it is not the rows. */
export type SelectPart = { sql: string; within?: Span; wanted?: SelectPurpose } & SelectBounds

/** The full name of a table: `['files', 'cars']`, `['shop', 'prices']`, `['crm', 'public', 'orders']`. */
export type TablePath = readonly string[]

/**
 * One SELECT for the process that answers it. `upTo` is the last log position that it may see, `asOf` an earlier position for all of it.
 * `db` is the database for names without one.
 */
export type SelectRequest = SelectPart & {
  db: string
  /** Whether the text is in the language of `db`, if that is a connected database. */
  isNative?: true
  defaultProject: string
  upTo: number
  asOf?: AsOf
  /**
   * The time of the log, in milliseconds since 1970. A statement cannot name a later time. It is missing if the time of the machine counts.
   */
  now?: number
  params?: Parameters
  /** The version of a model for whose training the rows are read. */
  training?: TrainedVersion
  /** Whether the rows are compared with earlier rows. Connected databases refuse this, because only their present rows can be read. */
  repeats?: true
  /** Whether statements in the languages of connected databases may only read, even if a connection is writable. */
  readsOnly?: true
  /** The values of LAST, if the statement belongs to a job. */
  last?: readonly LastValue[]
  /** Whether only the highest values now are wanted, one for each LAST: the statement does not run. */
  wantsBase?: true
  /** The answers of agents so far; missing if no agents can be asked. */
  answers?: readonly AgentReply[]
  /** The answers of knowledge bases so far; missing if the process must ask them while the query runs. */
  knowledge?: readonly KnowledgeExchange[]
  /** The client that sent it. */
  user?: string
  /** The request that it belongs to, for the record of queries to connected databases. */
  origin?: Origin
  /** The statement that it belongs to, which may send several requests. The process does not get it: JSON has no symbols. */
  statement?: symbol
  /** The format of the rows; by default JSON. */
  format?: RowFormat
}

/** Rows that WHERE gave to a model and that were answered one by one. Each row is recorded before it is answered. */
export type PredictedRows = {
  model: StreamId
  version: number
  rows: { input: Record<string, unknown>; output: { value: unknown; confidence: number | null; min: number | null; max: number | null } }[]
}

/** The number of rows of a query that a version of a model scored. */
export type ScoreCount = { model: StreamId; version: number; rows: number }

/** Questions to an agent that a query needs for its run. `at` is the past position at which the agent is read. */
export type AgentQuestions = { agent: StreamId; label: string; at?: number; questions: readonly string[] }

/** A request to a knowledge base, and its answer. */
export type KnowledgeExchange = { question: KnowledgeQuestion; answer: KnowledgeAnswer }

/** The answer of an agent to one question. `context` is JSON text: the queries behind the answer, or the reason for their absence. */
export type AgentReply = {
  agent: StreamId
  at?: number
  question: string
  answer: string | null
  context: string | null
  traceId: string
}

/** The part of a query that may give other rows in another run, and the view that contains it. */
export type Nondeterminism = { what: string; view: string | null }

/**
 * The part of an answer before the rows. `questions` replace the rows: the same request with their answers returns the rows. `last` has the
 * values of LAST for the job's next run. `nondeterminism` is about the rows of a training, and `erasable` about those of a training or of a
 * file. `scored` is present if the models have finished by then, so that it is recorded before the first row is returned. With `scores`,
 * models score while the rows are read, and the end of the answer has the counts. With `changes`, a statement was sent that may have changed
 * something in a connected database.
 */
export type SelectHead = {
  columns: readonly Column[]
  served?: PredictedRows[]
  scored?: ScoreCount[]
  scores?: true
  changes?: true
  last?: LastValue[]
  nondeterminism?: readonly Nondeterminism[]
  erasable?: ErasableReads
  questions?: AgentQuestions
  /** The questions to knowledge bases that must be answered first. Like `questions`, they replace the rows. */
  searches?: readonly KnowledgeQuestion[]
}

/** The part of an answer after the rows: their number, and the models that scored them. */
export type SelectEnd = { rows: number; scored: ScoreCount[] }

/**
 * An answer between the processes: its head, then rows chunk by chunk, then its end. Rows are UTF-8: JSON arrays joined by commas, or lines
 * of CSV.
 */
export type Frame = SelectHead | { rows: Buffer } | { end: SelectEnd }

/** An answer for its reader: the head, and the chunks of rows. The iteration returns the end, or nothing if the reader left early. */
export type SelectAnswer = SelectHead & { rows: AsyncGenerator<Buffer, SelectEnd | undefined, void> }

/** `client` owns the query, which takes a place of this client's share. Without a client the query is the service's own. */
export type SelectOptions = { signal?: AbortSignal | undefined; client?: string | undefined }

/** Anything that answers SELECTs: the SQL process, or a replacement for it. It resolves with the first rows. */
export type SelectService = { query: (request: SelectRequest, options: SelectOptions) => Promise<SelectAnswer> }
