/**
 * Room: the state that one run of a query shares. It imports events, basics, dialect, sql/relations, sql/encode, connections,
 * knowledge/contract, sql/contract, sql/engine/ast, sql/engine/resolve and sql/engine/scoring alone.
 */

import type { DuckDBConnection } from '@duckdb/node-api'
import type { LastValue } from '../../../../events/job.js'
import type { AllowedTables } from '../resolve/allowed.js'
import type { Answers } from './answers.js'
import type { Directory } from '../resolve/directory.js'
import type { NativeStatement } from '../resolve/connections.js'
import type { ModelFunctions, Run } from '../scoring/functions.js'
import type { AnyModel, BoundModel } from '../scoring/scoring-model.js'
import type { AstNode } from '../ast/json.js'
import type { AgentReply, Nondeterminism, PredictedRows } from '../../contract/select.js'
import type { TablesStatus } from '../../relations/projections.js'
import type { Sources, Text } from './sources.js'

/** How models in FROM run: inside the query, or before it, chunk by chunk, when there are many rows. */
export type ScoringMode = 'inside' | 'staged'

/** A table as the user knows it, the query that gives its rows, and which state of it that is. */
export type TableRead = { name: string; query: AstNode; state: string }

/**
 * What a name such as `user` means where no column has that name: the account, or, in double quotes, the text itself. `either`: one macro
 * cannot answer for all places of the name in the statement.
 */
export type NameMeaning = 'account' | 'text' | 'either'

/** What a statement knows of earlier runs, and what it sees. Both have the order of the marks in the text. */
export type LastSession = { known: readonly LastValue[]; seen: Map<number, LastValue>; marks: number }

/** The shared state of one run of one statement. */
export type Session = {
  connection: DuckDBConnection
  directory: Directory
  /** The last position that the statement may see. */
  head: number
  /** The time of the log when the statement came, in milliseconds since 1970; 0 where it is that of the machine. */
  askedAt: number
  blobsDirectory: string
  /** The path of a blob's file, whether it exists or not; it stays there while the query runs. @throws Problem storage_failed */
  blobFile: (sha: string) => Promise<string>
  /** The blobs that had to be asked for. */
  blobs: Set<string>
  /** How the tables stood when the statement came. */
  tables: TablesStatus
  params: Record<string, unknown>
  /** The account that asks, as clients know it: `ada@localhost`. */
  account: string
  /** The names for the account, such as `user`, that have a macro, with their meaning. */
  macros: Map<string, NameMeaning>
  signal: AbortSignal
  mode: ScoringMode
  functions: ModelFunctions
  run: Run
  load: (artefact: string) => Promise<AnyModel>
  /** The tables that names were replaced by, each with the query that took its place. */
  reads: TableRead[]
  /** The names of CTEs in the rewritten text, each with the name that its author gave it. */
  ctes: Map<string, string>
  /** The texts that the statement is made of. */
  sources: Sources
  /** Names in double quotes, anywhere in the statement or its views. */
  quoted: Set<string>
  /** Names that turned out to be no columns: those in double quotes, and those such as `user`. */
  strings: ReadonlySet<string>
  /** Why the statement may return other rows in another run, if it is the query of a training. */
  nondeterminism: Nondeterminism[]
  /** The queries behind PIVOT … IN, under the names that stand in their places. */
  pivotQueries: Map<string, Text>
  /** The tables that the statement may name, where these are not all. */
  allowed: AllowedTables | undefined
  /** What LAST stands for, where the statement is a job's. */
  last: LastSession | undefined
  /** The statements in the languages of connected databases, under the names that stand in their places. */
  natives: Map<string, NativeStatement>
  /** The answers of agents so far; undefined if no agents can be asked. */
  replies: readonly AgentReply[] | undefined
  /** The answers of connected databases. */
  answers: Answers
  /** Whether the statement is planned and not run: connected databases are asked for columns, not for rows. */
  isPlanned: boolean
  /** Whether it is only planned to bind names, or they are bound, or nobody has asked. */
  names: 'unbound' | 'binding' | 'bound'
  /** Whether a statement in the language of a connected database may write there, if the connection is writable. */
  mayWrite: boolean
  /** Whether it is planned with all columns of connected tables, to name the nearest one. */
  knowsAll: boolean
  /** Whether the rewritten text is the same each time at the same position. A time that is counted from now is not. */
  keep: boolean
  served: PredictedRows[]
  staged: StagedModel[]
  /** The columns of all views at a position, as JSON text. */
  viewColumns: (position: number) => Promise<string>
  /** Functions that fill the temporary tables of this run again, by the tables' names: a transaction's end takes them away. */
  temporary: Map<string, () => Promise<void>>
  /** Ends the transaction and begins another one, which sees functions registered since. */
  refresh: () => Promise<void>
}

export type StagedModel = { bound: BoundModel; rows: number }
