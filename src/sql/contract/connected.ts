import type { ListedColumns, Query, TableColumn, Tables } from '../../connections/contract/requests.js'

/** What the SQL process asks the server about a connected database while it answers a query. `connection` is its stream. */
export type Question = { connection: string } & (
  { tables: true } | { everyColumn: true } | { columnsOf: string; schema?: string } | { open: Query }
)

/** Where the rows of an answer can be fetched, once. */
export type Place = { socket: string; ticket: string }

/** What the server says: the secrets of a connection stay on its side. */
export type Told = { tables: Tables } | { everyColumn: ListedColumns } | { columns: readonly TableColumn[] } | { place: Place }

/** Asks the server. @throws Problem of the database, or of the policy that keeps it from being called */
export type AskServer = (question: Question) => Promise<Told>
