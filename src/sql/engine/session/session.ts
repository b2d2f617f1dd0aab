/**
 * Room: the state that one run of a query shares. It imports only events, basics, dialect, sql/relations, sql/encode, connections,
 * knowledge/contract, sql/contract, sql/engine/duckdb-connection, sql/engine/ast, sql/engine/resolve and sql/engine/scoring.
 */

import type { DuckDBConnection } from '@duckdb/node-api'
import type { LastValue } from '../../../../events/job.js'
import type { AllowedTables } from '../resolve/allowed.js'
import type { FetchedAnswers } from './fetched-answers.js'
import type { Directory } from '../resolve/directory.js'
import type { NativeStatement } from '../resolve/connections.js'
import type { ModelFunctions, Run } from '../scoring/functions.js'
import type { AnyModel, BoundModel } from '../scoring/scoring-model.js'
import type { AstNode } from '../ast/json.js'
import type { AgentReply, Nondeterminism, PredictedRows } from '../../contract/select.js'
import type { TablesStatus } from '../../relations/projections.js'
import type { Sources, Text } from './sources.js'

/** The way in which models in FROM run: inside the query, or before it in chunks, when there are many rows. */
export type ScoringMode = 'inside' | 'staged'

/** A table with the user's name for it, the query that gives its rows, and the state of the table that is read. */
export type TableRead = { name: string; query: AstNode; state: string }

/**
 * The meaning of a name such as `user` where no column has that name: the account, or, in double quotes, the text itself. `either` says
 * that places in the statement have different meanings, so one macro cannot answer for all of them.
 */
export type NameMeaning = 'account' | 'text' | 'either'

/** The schemas, folded, and the table that a query over information_schema names. */
export type WantedTables = { schemas?: readonly string[]; table?: string }

/**
 * The values of LAST from earlier runs, and those that this run has seen. Both follow the order of the marks in the text. With `wantsBase`
 * the run ends once it has a value for each mark.
 */
export type LastSession = { known: readonly LastValue[]; wantsBase: boolean; seen: Map<number, LastValue>; marks: number }

/** The shared state of one run of one statement. */
export type Session = {
  connection: DuckDBConnection
  directory: Directory
  /** The last position that the statement may see. */
  head: number
  /** The time of the log when the statement came, in milliseconds since 1970; 0 if the time of the machine counts. */
  askedAt: number
  blobsDirectory: string
  /**
   * The path of a blob's file, whether the file exists or not. The file stays at this path while the query runs.
   * @throws Problem storage_failed
   */
  blobFile: (sha: string) => Promise<string>
  /** The blobs whose files the query had to request. */
  blobs: Set<string>
  /** The status of the tables when the statement came. */
  tables: TablesStatus
  params: Record<string, unknown>
  /** The account that sent the statement, as clients know it: `ada@localhost`. */
  account: string
  /** The names for the account, such as `user`, that have a macro, and their meanings. */
  macros: Map<string, NameMeaning>
  signal: AbortSignal
  mode: ScoringMode
  functions: ModelFunctions
  run: Run
  load: (artefact: string) => Promise<AnyModel>
  /** The tables that replaced names, each with its query. */
  reads: TableRead[]
  /** The names of CTEs in the rewritten text, each with the name that its author gave it. */
  ctes: Map<string, string>
  /** The texts that form the statement. */
  sources: Sources
  /** Names in double quotes, anywhere in the statement or its views. */
  quoted: Set<string>
  /** What is known to be no column: names such as `user`, and the marked places of names in double quotes. */
  strings: ReadonlySet<string | number>
  /** The reasons why the statement may return other rows in another run, if it is the query of a training. */
  nondeterminism: Nondeterminism[]
  /** The data that the statement reads and that may be erased later. The writer of a training's rows or of a table learns of it. */
  erasable: { contents: Set<string>; records: boolean }
  /** The contents of the files that the statement reads as they are now, by their folded names. */
  filesNow: Map<string, string>
  /** The queries behind PIVOT … IN, under the names that replace them in the text. */
  pivotQueries: Map<string, Text>
  /** The tables that the statement may name, if it may not name all. */
  allowed: AllowedTables | undefined
  /** The values of LAST, if the statement belongs to a job. */
  last: LastSession | undefined
  /** The statements in the languages of connected databases, under the names that replace them in the text. */
  natives: Map<string, NativeStatement>
  /** The answers of agents so far; undefined if no agents can be asked. */
  replies: readonly AgentReply[] | undefined
  /** The answers of connected databases. */
  answers: FetchedAnswers
  /** Whether the statement is only planned: connected databases then return columns, not rows. */
  isPlanned: boolean
  /** Whether connected databases must tell their tables and columns soon: the statement lists many things, and can do without some. */
  soon: boolean
  /**
   * The state of its names: `unbound` before anything has bound them, `binding` in a run that only plans to bind them, `bound` afterwards.
   */
  names: 'unbound' | 'binding' | 'bound'
  /**
   * Whether a statement in the language of a connected database may write there, if the connection is writable. It may not if agents or
   * knowledge bases must be asked, because the query then runs several times.
   */
  mayWrite: boolean
  /** Whether the statement is planned with all columns of connected tables, so that an error can name the nearest column. */
  knowsAll: boolean
  /** Whether the rewritten text is always the same at the same position. It is not if a time in it is computed from now. */
  keep: boolean
  served: PredictedRows[]
  staged: StagedModel[]
  /** The columns of the wanted views at a position, as JSON text. */
  viewColumns: (position: number, wanted: WantedTables) => Promise<string>
  /** Functions that refill the temporary tables of this run, by the tables' names. The end of a transaction removes these tables. */
  temporary: Map<string, () => Promise<void>>
  /** Ends the transaction and begins another one, which sees functions that were registered meanwhile. */
  refresh: () => Promise<void>
}

export type StagedModel = { bound: BoundModel; rows: number; isServed: boolean }
