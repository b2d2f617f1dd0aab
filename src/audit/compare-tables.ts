import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api'
import { quoteName, quoteText } from '../dialect/strings.js'

/** A row that only one side has, as JSON text, and its count: `+` stands for the live tables, `-` for the replay. */
export type OddRow = { side: '+' | '-'; times: number; row: string }

/** The differences in one table: the rows of each side, how many of them the other side lacks, and the first of those. */
export type TableDifference = { table: string; live: number; replay: number; odd: number; rows: OddRow[] }

export type Comparison = {
  tables: number
  rows: number
  /** Differences other than rows: tables and columns that only one side has. */
  shape: string[]
  differences: TableDifference[]
}

export type CompareOptions = {
  live: string
  replay: string
  /** The folder for spilled data. */
  temporary: string
  /** The table with a side's position; it is not compared. */
  except: string
  /** The memory limit of DuckDB, beyond which it spills. */
  memoryLimit?: string
  /** How many differing rows of each table are shown. */
  rowsShown: number
  onTable?: (table: string, done: number, of: number) => void
}

type Column = { name: string; type: string }
type Shape = ReadonlyMap<string, Column[]>

/** Every table and view of an attached file, by its name with schema, with its columns in order. */
const shapeOf = async (connection: DuckDBConnection, side: string): Promise<Shape> => {
  const columns = await connection.runAndReadAll(
    `SELECT schema_name, table_name, column_name, data_type || CASE WHEN is_nullable THEN '' ELSE ' NOT NULL' END
    FROM duckdb_columns() WHERE database_name = $side AND NOT internal ORDER BY schema_name, table_name, column_index`,
    { side },
  )
  const shape = new Map<string, Column[]>()
  for (const [schema, table, name, type] of columns.getRows()) {
    const full = `${String(schema)}.${String(table)}`
    shape.set(full, [...(shape.get(full) ?? []), { name: String(name), type: String(type) }])
  }
  return shape
}

const said = (columns: readonly Column[]): string => columns.map(({ name, type }) => `${name} ${type}`).join(', ')

const compareShapes = (live: Shape, replay: Shape): string[] => {
  const found: string[] = []
  for (const [table, columns] of replay) {
    const other = live.get(table)
    if (!other) found.push(`${table} is missing`)
    else if (said(other) !== said(columns)) found.push(`${table} has the columns (${said(other)}) instead of (${said(columns)})`)
  }
  for (const table of live.keys()) if (!replay.has(table)) found.push(`${table} is there, and no projection makes it`)
  return found
}

/**
 * Identifies a row: each value with its length before it, so that no two rows are confused. A comparison of the values themselves
 * would use their column's collation, in which "a" equals "A".
 */
const hashOf = (columns: readonly Column[]): string => {
  const parts = columns.map(({ name }) => `CAST(t.${quoteName(name)} AS VARCHAR)`)
  return `unhex(sha256(concat(${parts.map((part) => `coalesce(strlen(${part}) || ':' || ${part}, '-')`).join(', ')})))`
}

const nameIn = (side: string, table: string): string => {
  const [schema = '', ...rest] = table.split('.')
  return `${side}.${quoteName(schema)}.${quoteName(rest.join('.'))}`
}

const numberOf = async (connection: DuckDBConnection, sql: string): Promise<number> =>
  Number((await connection.runAndReadAll(sql)).getRows()[0]?.[0] ?? 0)

/** How many hashes are counted at a time: DuckDB holds the groups of one count in memory. */
const countedMaxHashes = 250_000
/** The number of differing rows that are looked up; the first of them are shown. */
const lookedUpMaxRows = 1_000

/**
 * Finds the hashes that one side has more often than the other: rows of one side count up, rows of the other down, and the rest is the
 * difference. The hashes are in a table that may be on the disk, and are counted in parts.
 */
const findOdd = async (connection: DuckDBConnection, [live, replay]: readonly [string, string], hash: string): Promise<void> => {
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE hashes AS SELECT hash, n, CAST(hash(hash) >> 32 AS UINTEGER) AS part
    FROM (SELECT ${hash} AS hash, CAST(1 AS TINYINT) AS n FROM ${live} AS t UNION ALL SELECT ${hash}, CAST(-1 AS TINYINT) FROM ${replay} AS t)`,
  )
  const parts = Math.max(1, Math.ceil((await numberOf(connection, 'SELECT count(*) FROM hashes')) / countedMaxHashes))
  await connection.run('CREATE OR REPLACE TEMP TABLE odd (hash BLOB, n BIGINT)')
  for (let part = 0; part < parts; part++)
    await connection.run(`INSERT INTO odd SELECT hash, sum(n) FROM hashes WHERE part % ${parts} = ${part} GROUP BY hash HAVING sum(n) <> 0`)
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE shown AS (FROM odd WHERE n > 0 ORDER BY hash LIMIT ${lookedUpMaxRows})
    UNION ALL (FROM odd WHERE n < 0 ORDER BY hash LIMIT ${lookedUpMaxRows}); DROP TABLE hashes`,
  )
}

/** The rows of one table that only one side has. */
const compareRows = async (connection: DuckDBConnection, table: string, columns: readonly Column[], rowsShown: number) => {
  const [live, replay] = [nameIn('live', table), nameIn('replay', table)]
  const hash = hashOf(columns)
  await findOdd(connection, [live, replay], hash)
  const row = `to_json(struct_pack(${columns.map(({ name }) => `${quoteName(name)} := t.${quoteName(name)}`).join(', ')}))`
  const oddOf = (from: string, sign: string) =>
    `SELECT o.n, any_value(CAST(${row} AS VARCHAR)) AS row FROM ${from} AS t JOIN shown AS o ON o.hash = ${hash} WHERE o.n ${sign} 0 GROUP BY o.hash, o.n`
  const odd = await numberOf(connection, 'SELECT sum(abs(n)) FROM odd')
  const shown =
    odd === 0
      ? []
      : await connection.runAndReadAll(`${oddOf(live, '>')} UNION ALL ${oddOf(replay, '<')} ORDER BY row, n LIMIT ${rowsShown}`)
  return {
    table,
    live: await numberOf(connection, `SELECT count(*) FROM ${live}`),
    replay: await numberOf(connection, `SELECT count(*) FROM ${replay}`),
    odd,
    rows: ('getRows' in shown ? shown.getRows() : []).map(([n, row]): OddRow => ({
      side: Number(n) > 0 ? '+' : '-',
      times: Math.abs(Number(n)),
      row: String(row),
    })),
  }
}

/**
 * Compares every table of two DuckDB files, row by row, in any order of rows.
 *
 * @example (await compareTables({ live, replay, temporary, except: 'ledger.checkpoint', rowsShown: 10 })).differences
 * @throws Error of DuckDB when a file cannot be read
 */
export const compareTables = async (options: CompareOptions): Promise<Comparison> => {
  const { live, replay, temporary, except, rowsShown, onTable, memoryLimit = '512MB' } = options
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: memoryLimit,
    temp_directory: temporary,
    preserve_insertion_order: 'false',
  })
  const connection = await instance.connect()
  try {
    await connection.run(`ATTACH ${quoteText(live)} AS live (READ_ONLY); ATTACH ${quoteText(replay)} AS replay (READ_ONLY)`)
    const shapes = { live: await shapeOf(connection, 'live'), replay: await shapeOf(connection, 'replay') }
    const shape = compareShapes(shapes.live, shapes.replay)
    const tables = [...shapes.replay].filter(([table, columns]) => table !== except && said(columns) === said(shapes.live.get(table) ?? []))
    const differences: TableDifference[] = []
    let rows = 0
    for (const [done, [table, columns]] of tables.entries()) {
      onTable?.(table, done, tables.length)
      const compared = await compareRows(connection, table, columns, rowsShown)
      rows += compared.replay
      if (compared.odd > 0) differences.push(compared)
    }
    return { tables: tables.length, rows, shape, differences }
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}
