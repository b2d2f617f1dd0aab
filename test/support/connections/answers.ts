import { DuckDBInstance, type DuckDBConnection, type Json } from '@duckdb/node-api'
import type { Connections } from '../../../src/connections/connections.js'
import type {
  AnswerAddress,
  Connection,
  Filter,
  ListedColumn,
  QueryEnd,
  Query,
  QueryLimits,
} from '../../../src/connections/contract/requests.js'
import { sqlType } from '../../../src/connections/contract/types.js'
import { AnswerReader, appendAnswer, columnList } from '../../../src/connections/reader/read-answer.js'

/** A DuckDB in memory. */
export const duck = async (): Promise<DuckDBConnection> => (await DuckDBInstance.create()).connect()

export type Read = { types: Record<string, string>; rows: Json[][]; table: string; sent: string; outcome: QueryEnd }

/**
 * Reads an answer into a temporary table.
 *
 * @example await readIntoTable(db, await connections.open(connection, query), 'answer_1') // { columns: […], sent: 'SELECT …' }
 */
export const readIntoTable = async (db: DuckDBConnection, address: AnswerAddress, table: string) => {
  const answer = await AnswerReader.open(address)
  try {
    await db.run(`CREATE TEMP TABLE ${table} (${columnList(answer.columns)})`)
    const appender = await db.createAppender(table, 'main', 'temp')
    await appendAnswer(answer, appender)
    appender.closeSync()
    return { columns: answer.columns, sent: answer.sent }
  } finally {
    answer.close()
  }
}

let tables = 0

/** Reads a whole answer through the driver process into DuckDB, and its rows from there. */
export const readAll = async (
  db: DuckDBConnection,
  connections: Connections,
  connection: Connection,
  query: Query | string,
  most: Partial<QueryLimits> = {},
): Promise<Read> => {
  const opened = await connections.open(connection, typeof query === 'string' ? { native: query } : query, most)
  const table = `answer_${++tables}`
  const { columns, sent } = await readIntoTable(db, opened, table)
  const rows = (await db.runAndReadAll(`FROM ${table}`)).getRowsJson()
  return {
    types: Object.fromEntries(columns.map(({ name, type }) => [name, sqlType(type)])),
    rows,
    table,
    sent,
    outcome: await opened.ended,
  }
}

/** The columns of some tables: from the list of all columns, and from each table separately. */
export const listedAndAlone = async (connections: Connections, connection: Connection, tables: readonly string[]) => {
  const { listed } = await connections.everyColumn(connection)
  const of = (table: string) => listed.filter((column) => column.table === table)
  const short = ({ name, type, remote }: Pick<ListedColumn, 'name' | 'type' | 'remote'>) => [name, sqlType(type), remote]
  const alone: unknown[] = []
  // Each file has its own process, and the number of processes is limited.
  for (const table of tables) alone.push((await connections.columns(connection, table, of(table)[0]?.schema ?? undefined)).map(short))
  return { listed: tables.map((table) => of(table).map(short)), alone }
}

/** The problem of work that fails. */
export const problemOf = async (work: Promise<unknown>): Promise<{ code: string; detail: string; extras: { hint?: string } }> =>
  work.then(
    () => {
      throw new Error('it did not fail')
    },
    (error: unknown) => error as { code: string; detail: string; extras: { hint?: string } },
  )

/** A filter on a column of numbers. */
export const compare = (
  column: string,
  operator: '=' | '<>' | '<' | '<=' | '>' | '>=',
  value: string,
  type: 'INTEGER' | 'VARCHAR' | 'DECIMAL' | 'DATE' = 'INTEGER',
): Filter => ({
  compare: operator,
  column,
  with: { type, value },
})
