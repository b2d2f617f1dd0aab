/**
 * Room: the requests and answers between the server and the SQL process. It imports events, basics, log, sql/encode, sql/statements,
 * commands, connections/contract and knowledge/contract alone.
 */

import type { StreamId } from '../../../events/common.js'
import type { LastValue } from '../../../events/job.js'
import type { QueryPurpose, TrainedVersion } from '../../../events/records/queries.js'
import type { Origin } from '../../log/contract/log.js'
import type { RowFormat } from '../encode/chunks.js'
import type { Parameters, Span } from '../statements/statement.js'
import type { KnowledgeQuestion, KnowledgeAnswer } from '../../knowledge/contract/contents.js'
import type { Column } from './answer.js'
import type { AsOf } from './as-of.js'
import type { SelectPurpose } from './select-purpose.js'

/** The bounds of a SELECT that another program wrote for the client, such as a language model. */
export type SelectBounds = {
  /** The tables that it may name, where these are not all; views read what they read. It has no AT then, and no statement of another database. */
  only?: readonly TablePath[]
  /** The most rows that its answer is to have. */
  maxRows?: number
  /** The time it may take in milliseconds, where that is not `sqlTimeoutMs`. */
  timeoutMs?: number
  /** Why connected databases are asked, where it is not for the rows of an answer. */
  purpose?: QueryPurpose
}

/** A SELECT: a text of its own, or the part `within` of a statement; and what is wanted of it instead of its rows. */
export type SelectPart = { sql: string; within?: Span; wanted?: SelectPurpose } & SelectBounds

/** The full name of a table: `['files', 'cars']`, `['shop', 'prices']`, `['crm', 'public', 'orders']`. */
export type TablePath = readonly string[]

/**
 * One SELECT as it is sent to the process that answers it. `upTo` is the last log position that it may see, `asOf` an earlier one
 * for all of it. Names without a database are looked up in `db`.
 */
export type SelectRequest = SelectPart & {
  db: string
  /** Whether the text is in the language of `db`, if that is a connected database. */
  isNative?: true
  defaultProject: string
  upTo: number
  asOf?: AsOf
  /** The time of the log, in milliseconds since 1970: no later one is named; missing where it is that of the machine. */
  now?: number
  params?: Parameters
  /** The version of a model that is trained with the rows. */
  training?: TrainedVersion
  /** Whether the rows are compared with those of an earlier time: connected databases refuse it, since they are read as they are now. */
  repeats?: true
  /** Whether statements in the languages of connected databases may only read, also where a connection is writable. */
  readsOnly?: true
  /** What LAST stands for, where the statement is a job's. */
  last?: readonly LastValue[]
  /** The answers of agents so far; missing if no agents can be asked. */
  answers?: readonly AgentReply[]
  /** What knowledge bases have told so far; missing where the process has to ask them while the query runs. */
  told?: readonly KnowledgeExchange[]
  /** The client that asks. */
  user?: string
  /** The request that it belongs to, for the record of what connected databases were asked. */
  origin?: Origin
  /** How the rows are written: JSON unless said otherwise. */
  format?: RowFormat
}

/** Rows that WHERE gave to a model and that were answered one by one: each is recorded before it is answered. */
export type PredictedRows = {
  model: StreamId
  version: number
  rows: { input: Record<string, unknown>; output: { value: unknown; confidence: number | null; min: number | null; max: number | null } }[]
}

/** Which version of a model scored how many rows of a query. */
export type ScoreCount = { model: StreamId; version: number; rows: number }

/** Questions to an agent, without whose answers a query cannot run. `at` is the position of the past at which the agent is read. */
export type AgentQuestions = { agent: StreamId; label: string; at?: number; questions: readonly string[] }

/** A request to a knowledge base, and its answer. */
export type KnowledgeExchange = { question: KnowledgeQuestion; told: KnowledgeAnswer }

/** The result of one of them. `context` is JSON text: the queries that the answer rests on, or why there is none. */
export type AgentReply = {
  agent: StreamId
  at?: number
  question: string
  answer: string | null
  context: string | null
  traceId: string
}

/** What in a query may give other rows when it is run again, and the view that contains it. */
export type Nondeterminism = { what: string; view: string | null }

/**
 * The part of an answer before the rows. `questions` come instead of rows: the same request with their answers gives these. `last` is what
 * LAST stands for when the job asks again. `nondeterminism` is told of the rows of a training. `scored` is there when the models are done
 * by then, so that it is recorded before a row is given; with `scores` models score while the rows are read, and what they scored is known
 * at the end.
 */
export type SelectHead = {
  columns: readonly Column[]
  served?: PredictedRows[]
  scored?: ScoreCount[]
  scores?: true
  last?: LastValue[]
  nondeterminism?: readonly Nondeterminism[]
  questions?: AgentQuestions
  /** What knowledge bases must tell first; as `questions` are, instead of rows. */
  searches?: readonly KnowledgeQuestion[]
}

/** The part of an answer after the rows: their number, and the models that scored them. */
export type SelectEnd = { rows: number; scored: ScoreCount[] }

/**
 * An answer on its way between the processes: its head, then rows chunk by chunk, and its end. Rows are UTF-8: JSON arrays joined
 * by commas, or lines of CSV.
 */
export type Frame = SelectHead | { rows: Buffer } | { end: SelectEnd }

/** An answer as it is read: the head, and the chunks of rows as they came. The iteration returns the end; nothing when it was left. */
export type SelectAnswer = SelectHead & { rows: AsyncGenerator<Buffer, SelectEnd | undefined, void> }

/** `client` is whose query it is, and whose share of the places it takes; without one it is the service's own. */
export type SelectOptions = { signal?: AbortSignal | undefined; client?: string | undefined }

/** Whatever answers SELECTs: the analytics process, or a stand-in for it. It resolves with the first rows. */
export type SelectService = { query: (request: SelectRequest, options: SelectOptions) => Promise<SelectAnswer> }
