import type { ProblemFields } from '../../basics/errors.js'
import type { AnswerColumn } from './types.js'
import type { Connection, ListedColumns, QueryEnd, Query, QueryLimits, TableColumn, TableComments, Tables } from './requests.js'

type NamedTable = { schema?: string; table: string }

export type Metadata =
  { check: true } | { tables: true } | { everyColumn: true } | { columns: NamedTable } | { comments: NamedTable } | { described: string }

/** Messages of the server to the driver process. */
export type ToDriver =
  | { settings: { egressAllow: string; loopback: boolean; files: string | undefined; socket: string; readsFiles: boolean } }
  | { ask: number; connection: Connection; of: Metadata }
  | { open: number; connection: Connection; query: Query; limits: QueryLimits; ticket: string }
  | { forget: string }

export type MetadataAnswer =
  | { checked: true }
  | Tables
  | ListedColumns
  // A file tells the comments with the columns.
  | { columns: readonly TableColumn[]; comments?: TableComments }
  | { comments: TableComments }
  | { described: readonly AnswerColumn[] | null }

/**
 * Messages of the driver process. `opened` is the answer to `open`: the ticket is valid. `sending` comes before the statement goes to the
 * database. `ended` says how its answer ended.
 */
export type FromDriver =
  | { listening: true }
  | { answered: number; answer: MetadataAnswer }
  | { opened: number }
  | { sending: number; statement: string }
  | { ended: number; outcome: QueryEnd }
  | { failed: number; problem: ProblemFields }
