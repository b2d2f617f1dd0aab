/** Room: the messages between the server and the driver process. It imports only events and basics. */

import type { JsonObject } from '../../../events/common.js'
import type { QueryOutcome } from '../../../events/records/queries.js'
import type { ColumnType, NumberTexts, PlainType } from './types.js'

/** A connection to open. Its parameters hold the secrets themselves, and go only to the driver process. */
export type Connection = {
  /** The id of the connection, which stays when its name changes. Its pool and its remembered tables belong to this id. */
  id: string
  /** Its name in the statement of a user, if there is one: hints put it before names of tables. */
  name?: string
  /** Parameters of another version have another pool. */
  version: number
  engine: string
  parameters: JsonObject
}

/** A constant in a filter, as text in the notation of DuckDB, with its type there. */
export type Constant = { type: PlainType | 'DECIMAL'; value: string }

export type ComparisonOperator = '=' | '<>' | '<' | '<=' | '>' | '>='

/** A condition on the columns of one table. */
export type Filter =
  | { compare: ComparisonOperator; column: string; with: Constant }
  | { in: readonly Constant[]; column: string }
  | { like: string; column: string }
  | { isNull: string }
  | { isNotNull: string }
  | { and: readonly Filter[] }
  | { or: readonly Filter[] }
  | { not: Filter }

/** `{ function: 'count' }` without a column is count(*). `isDistinct` counts the different values of the column. */
export type Aggregate = { function: 'count' | 'min' | 'max' | 'sum'; column?: string; isDistinct?: true; as: string }

/** A table of a join. A row of it matches the tables before it if the columns of every pair are equal. */
export type JoinedTable = {
  schema?: string
  table: string
  /** Rows before it that match none of its rows stay, with NULL in its columns. */
  isLeft: boolean
  on: readonly (readonly [string, string])[]
}

/**
 * The tables that are joined with the table of a scan, and the columns of all: `of` is the place of the table, 0 for that of the scan, and
 * `as` the name of the column everywhere else in the scan.
 */
export type Join = { tables: readonly JoinedTable[]; columns: readonly { of: number; column: string; as: string }[] }

/** A column to order rows by. */
export type ScanOrder = { column: string; isDescending: boolean; nullsFirst: boolean }

export type Scan = {
  schema?: string
  table: string
  /** The columns of the answer, in order; with aggregates, the columns of GROUP BY. */
  columns: readonly string[]
  /** Set only if there are aggregates. */
  join?: Join
  /** All filters must hold. A filter with another meaning in the database is not sent, and the caller applies it. */
  filters?: readonly Filter[]
  /** Sent only if every filter is sent, and the order. */
  limit?: number
  /** The order of the rows that the limit takes; sent only with the limit, and if all these columns have the same order there. */
  order?: readonly ScanOrder[]
  /** @see pushdown: the caller checks that the database can compute all of it */
  aggregates?: readonly Aggregate[]
}

/**
 * One statement in the language of the database. With `writes` it may change something there, if the connection is writable. With
 * `upTo` it ends after about that many rows, unless it may write.
 */
export type NativeRequest = { native: string; writes?: boolean; upTo?: number }

export type Query = { scan: Scan } | NativeRequest

/** Where the rows of an answer can be read, once: the socket of the driver process, and the ticket that the server got for the answer. */
export type AnswerAddress = { socket: string; ticket: string }

/** Whether a query asks to change something. */
export const isWriting = (query: Query): boolean => 'native' in query && query.writes === true

/** The limits of one statement: its rows and their bytes, and the times until its last and its first row. */
export type QueryLimits = { rows: number; bytes: number; timeMs: number; firstRowMs: number }

/** Where a table is. `isUsual`: its name alone finds it, without the schema. */
export type TablePlace = { schema: string | null; name: string; isUsual: boolean }

export type Table = TablePlace & { type: 'table' | 'view' }

export type Tables = { tables: readonly Table[]; isCut: boolean }

/**
 * The name of a table after the name of its connection: with the schema, unless the name alone finds it.
 *
 * @example nameThere({ schema: 'shop', name: 'orders', isUsual: false }) // 'shop.orders'
 */
export const nameThere = ({ schema, name, isUsual }: TablePlace): string => (isUsual || schema === null ? name : `${schema}.${name}`)

/** A column of a table there. `remote` is the type as its database names it. */
export type TableColumn = {
  name: string
  type: ColumnType
  remote: string
  nullable: boolean
  /** Whether NOT NULL is only declared: the database does not check it for every row. */
  nullUnchecked?: boolean
  /** Whether two texts of the column can be equal in the database only if their bytes are equal, if need be by a binary comparison. */
  exactText: boolean
  /** The collation of a text: in MySQL its name, which begins with that of the character set, in PostgreSQL its number. */
  collation?: string
  /** Whether its values come from a list of words (an enum), which the database does not order as texts. */
  isEnum?: boolean
  /** Set for numbers that come as texts. */
  numbers?: NumberTexts
}

/** The comments on a table in its database and on its columns. Every user who may change the table can write them. */
export type TableComments = { table: string | null; columns: readonly { name: string; comment: string }[] }

export const noComments: TableComments = { table: null, columns: [] }

/** A column in a list of all. */
export type ListedColumn = Pick<TableColumn, 'name' | 'type' | 'remote' | 'nullable'> & {
  schema: string | null
  table: string
  /** Whether the table is found by its name alone. */
  isUsual: boolean
}

/** The columns of all tables of a connection, each table's in their order. */
export type ListedColumns = { listed: readonly ListedColumn[]; isCut: boolean }

/**
 * How an answer ended: its rows and bytes, the text that was sent (undefined if none was), and whether something in the database may have
 * changed permanently.
 */
export type QueryEnd = {
  rows: number
  bytes: number
  durationMs: number
  sent: string | undefined
  ending: QueryOutcome
  changed: boolean
}
