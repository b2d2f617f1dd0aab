import { basename, join } from 'node:path'
import { DuckDBInstance, type DuckDBConnection, type DuckDBPreparedStatement } from '@duckdb/node-api'
import { isProblem, Problem } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { withoutPaths } from '../../../basics/shown.js'
import * as numbers from '../../batch/numbers.js'
import { listOf, putList, type Items } from '../../batch/lists.js'
import { columnOf, readColumn, vectorOf, type ColumnReading } from '../../batch/column-reading.js'
import * as times from '../../batch/times.js'
import type { Vector } from '../../batch/vector.js'
import type { Connection, ListedColumns, Query, Scan, Table, TableColumn, TableComments, Tables } from '../../contract/requests.js'
import { plain, type PlainType } from '../../contract/types.js'
import { duckdbDialect } from '../../pushdown/duckdb.js'
import { columnsOfScan, printScan, type PrintedScan } from '../../pushdown/print-scan.js'
import type { Cursor, DatabaseSession, Surroundings } from '../contract/engine.js'
import { refusedThere } from '../contract/explain.js'
import { missingTable } from '../contract/missing-table.js'
import { commentsIn } from '../contract/table-comments.js'
import { uniqueNames } from '../../contract/unique-names.js'
import { checkNative, findPath, parquetFiles, pathShown, readPath } from './paths.js'

/** How to select the values of a column as text, and how to read them. */
type TextReading = ColumnReading<string> & { ask: (quoted: string) => string }

const asText = (quoted: string): string => `CAST(${quoted} AS VARCHAR)`

const puts: Readonly<Partial<Record<PlainType, TextReading['put']>>> = {
  BOOLEAN: numbers.putBoolean,
  TINYINT: numbers.putTinyint,
  SMALLINT: numbers.putSmallint,
  INTEGER: numbers.putInteger,
  BIGINT: numbers.putBigint,
  UTINYINT: numbers.putUtinyint,
  USMALLINT: numbers.putUsmallint,
  UINTEGER: numbers.putUinteger,
  UBIGINT: numbers.putUbigint,
  HUGEINT: numbers.putHugeint,
  DATE: times.putDate,
  TIME: times.putTime,
  TIMESTAMP: times.putTimestamp,
  TIMESTAMP_NS: times.putTimestampNs,
  'TIMESTAMP WITH TIME ZONE': times.putTimestampTz,
  'TIME WITH TIME ZONE': times.putTimeTz,
  INTERVAL: times.putInterval,
  UUID: numbers.putUuid,
}

const floats: Readonly<Record<string, TextReading['put']>> = { FLOAT: numbers.putFloat, DOUBLE: numbers.putDouble }

/** DuckDB writes years before the year 1 as `0044-03-15 (BC)`, with the clock behind it. */
const withEra = (text: string): string => (text.includes(' (BC)') ? `${text.replace(' (BC)', '')} BC` : text)
const special: Readonly<Record<string, string>> = { nan: 'NaN', '-nan': 'NaN', inf: 'Infinity', '-inf': '-Infinity' }

/** Whether a type has fields: a struct, a map or a union. */
const hasFields = (name: string): boolean => name.includes('(') && !/^(?:ENUM|DECIMAL)\(/.test(name)

/** Lists come as JSON with the texts of their items, which keeps each item as it is. */
const listReading = (name: string, depth: number): TextReading => {
  const { type, ask, put, ...more } = readingOf(name)
  const texts = (quoted: string, level: number): string =>
    level > depth ? ask(quoted) : `list_transform(${quoted}, lambda e${level}: ${texts(`e${level}`, level + 1)})`
  const putItems = putList(put, depth)
  return {
    ...more,
    type: listOf(type, depth),
    ask: (quoted) => asText(`to_json(${texts(quoted, 1)})`),
    put: (vector, row, text) => putItems(vector, row, JSON.parse(text) as Items),
  }
}

/** How the values of a type are read, by the name that DuckDB gives it. */
const readingOf = (name: string): TextReading => {
  const [, item = '', levels] = /^(.+?)((?:\[\d*\])+)$/s.exec(name) ?? []
  if (levels !== undefined && !hasFields(item)) return listReading(item, levels.split(']').length - 1)
  const [, width, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(name) ?? []
  if (width !== undefined && scale !== undefined) {
    const shape = { type: 'DECIMAL', width: Number(width), scale: Number(scale) } as const
    return { type: shape, ask: asText, put: numbers.putDecimal(shape.width, shape.scale) }
  }
  const float = floats[name]
  if (float) return { type: plain(name as PlainType), ask: asText, put: (vector, row, text) => float(vector, row, special[text] ?? text) }
  const put = puts[name as PlainType]
  if (put) return { type: plain(name as PlainType), ask: asText, put: (vector, row, text) => put(vector, row, withEra(text)) }
  // Every second and millisecond is a microsecond.
  if (name === 'TIMESTAMP_S' || name === 'TIMESTAMP_MS') return readingOf('TIMESTAMP')
  if (name === 'BLOB')
    return {
      type: plain('BLOB'),
      ask: (quoted) => `hex(${quoted})`,
      put: (vector, row, text) => vector.setBytes(row, Buffer.from(text, 'hex')),
    }
  const putText = (vector: Vector, row: number, text: string) => vector.setText(row, text)
  if (name === 'JSON') return { type: plain('JSON'), ask: asText, put: putText }
  if (hasFields(name)) return { type: plain('JSON'), ask: (quoted) => `CAST(to_json(${quoted}) AS VARCHAR)`, put: putText }
  const isNumber = name === 'UHUGEINT' || name === 'BIGNUM'
  return { type: plain('VARCHAR'), ask: asText, put: putText, ...(isNumber && { numbers: 'fixed' as const }) }
}

const explain = (error: unknown): Problem =>
  isProblem(error) ? error : refusedThere(withoutPaths(error instanceof Error ? error.message : ''), [])

/** The same for the opening of a file. DuckDB has no codes, and about a statement these words may mean something else. */
const explainOpening = (error: unknown): Problem => {
  const problem = explain(error)
  return problem !== error && /not a valid DuckDB database|serialization|No magic bytes/i.test(problem.detail)
    ? new Problem('connection_failed', 'Not a database', 'This version of DuckDB cannot read the file')
    : problem
}

/** The refusal of a connection, because a Parquet file of it cannot be read. */
const notReadable = (file: string, { detail }: Problem): Problem =>
  new Problem('connection_failed', 'Not a file of Parquet', `The file "${file}" cannot be read. ${detail}`, {
    hint: 'Mend it, or take it out of the folder.',
  })

const quote = (name: string): string => duckdbDialect.quote(name)
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`
const schemaText = (schema: string | undefined): string => (schema === undefined ? 'current_schema()' : literal(schema.toLowerCase()))

/** Prepares a statement and uses it. DuckDB prepares one statement at a time, and refuses a text with several. */
const preparing = async <T>(connection: DuckDBConnection, sql: string, use: (one: DuckDBPreparedStatement) => Promise<T>): Promise<T> => {
  const one = await connection.prepare(sql)
  return use(one).finally(() => one.destroySync())
}

/** A session over files of DuckDB or Parquet, in an instance that can only read these files. */
class DuckSession implements DatabaseSession {
  readonly isAtomic = true
  isLost = false
  received = 0

  constructor(private readonly connection: DuckDBConnection) {}

  check(): Promise<void> {
    return this.#explained(async () => {
      await this.connection.run('SELECT 1')
    })
  }

  tables(): Promise<Tables> {
    return this.#explained(() => this.#tables())
  }

  columns(table: string, schema: string | undefined): Promise<readonly TableColumn[]> {
    return this.#explained(() => this.#columns(table, schema))
  }

  comments(table: string, schema: string | undefined): Promise<TableComments> {
    return this.#explained(() => this.#comments(table, schema))
  }

  everyColumn(): Promise<ListedColumns> {
    return this.#explained(async () => {
      const most = limits.connectionColumnsMax
      const found = await this.#rows(
        `SELECT schema_name, table_name, column_name, data_type, is_nullable, schema_name = current_schema() FROM duckdb_columns() WHERE database_name = current_database() AND NOT internal
         ORDER BY schema_name, table_name, column_index LIMIT ${most + 1}`,
      )
      const listed = found.slice(0, most).map(([schema = '', table = '', name = '', remote = '', nullable, isUsual]) => ({
        ...{ schema, table, name, remote, nullable: nullable !== 'false', isUsual: isUsual === 'true' },
        type: readingOf(remote).type,
      }))
      return { listed, isCut: found.length > most }
    })
  }

  open(query: Query, onSend: (statement: string) => void): Promise<Cursor> {
    return this.#explained(() => this.#open(query, onSend))
  }

  cancel(): Promise<void> {
    this.connection.interrupt()
    return Promise.resolve()
  }

  destroy(): void {
    this.isLost = true
    this.connection.interrupt()
    this.connection.disconnectSync()
  }

  async #explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw explain(error)
    }
  }

  async #rows(sql: string): Promise<string[][]> {
    const found = await preparing(this.connection, sql, (one) => one.runAndReadAll())
    return found.getRows().map((row) => row.map((value) => (value === null ? '' : String(value))))
  }

  async #tables(): Promise<Tables> {
    const most = limits.connectionTablesMax
    const found = await this.#rows(
      `SELECT table_schema, table_name, table_type, table_schema = current_schema() FROM information_schema.tables WHERE table_catalog = current_database() ORDER BY 1, 2 LIMIT ${most + 1}`,
    )
    const tables = found.slice(0, most).map(([schema = '', name = '', type, isUsual]): Table => ({
      ...{ schema, name, isUsual: isUsual === 'true' },
      type: type === 'VIEW' ? 'view' : 'table',
    }))
    return { tables, isCut: found.length > most }
  }

  async #columns(table: string, schema: string | undefined): Promise<TableColumn[]> {
    const quoted = schema === undefined ? quote(table) : `${quote(schema)}.${quote(table)}`
    const listed = await this.#tables()
    const isHere = (each: Table) => each.name.toLowerCase() === table.toLowerCase()
    const isMeant = (each: Table) => (schema === undefined ? each.isUsual : each.schema?.toLowerCase() === schema.toLowerCase())
    if (!listed.tables.some((each) => isHere(each) && isMeant(each))) throw missingTable({ table, schema }, listed)
    const prepared = await this.connection.prepare(`FROM ${quoted} LIMIT 0`)
    const found = await this.#rows(
      `SELECT column_name FROM duckdb_columns() WHERE database_name = current_database() AND NOT is_nullable
         AND lower(schema_name) = ${schemaText(schema)} AND lower(table_name) = ${literal(table.toLowerCase())}`,
    )
    // Where a column has a collation, texts with other bytes may be equal. The name of its type does not say so.
    const collated = await this.#rows(
      `SELECT 1 FROM (SELECT sql FROM duckdb_tables() WHERE NOT internal UNION ALL SELECT sql FROM duckdb_views() WHERE NOT internal)
       WHERE sql ILIKE '%collate%' LIMIT 1`,
    )
    const filled = new Set(found.map(([name]) => name))
    return Array.from({ length: prepared.columnCount }, (_, index) => {
      const type = prepared.columnType(index)
      return {
        ...columnOf(prepared.columnName(index), readingOf(type.toString())),
        remote: type.toString(),
        nullable: !filled.has(prepared.columnName(index)),
        exactText: type.toString() === 'VARCHAR' && collated.length === 0,
      }
    })
  }

  async #comments(table: string, schema: string | undefined): Promise<TableComments> {
    const said = (name: string, relations: string, nameOfTable: string) =>
      `SELECT ${name}, left(comment, ${limits.connectionCommentMaxChars}) FROM ${relations} WHERE database_name = current_database() AND NOT internal
         AND comment IS NOT NULL AND lower(schema_name) = ${schemaText(schema)} AND lower(${nameOfTable}) = ${literal(table.toLowerCase())}`
    const all = [
      said("''", 'duckdb_tables()', 'table_name'),
      said("''", 'duckdb_views()', 'view_name'),
      said('column_name', 'duckdb_columns()', 'table_name'),
    ]
    return commentsIn(await this.#rows(all.join(' UNION ALL ')))
  }

  async #printed(scan: Scan): Promise<PrintedScan> {
    return printScan(scan, await columnsOfScan(scan, (table, schema) => this.#columns(table, schema)), duckdbDialect)
  }

  async #open(query: Query, onSend: (statement: string) => void): Promise<Cursor> {
    if (!('scan' in query)) checkNative(query)
    const { sql, recorded } = 'scan' in query ? await this.#printed(query.scan) : { sql: query.native, recorded: query.native }
    onSend(recorded)
    const extracted = await this.connection.extractStatements(sql)
    if (extracted.count !== 1) throw refusedThere('one statement is expected', [])
    const prepared = await extracted.prepare(0)
    const names = uniqueNames(Array.from({ length: prepared.columnCount }, (_, index) => prepared.columnName(index)))
    const readings = names.map((_, index) => readingOf(prepared.columnType(index).toString()))
    const list = readings.map(({ ask }, index) => `${ask(`c${index}`)} AS c${index}`).join(', ')
    const body = sql.replace(/;\s*$/, '')
    const whole = `SELECT ${list} FROM (${body}\n) AS answer(${names.map((_, index) => `c${index}`).join(', ')})`
    const result = await preparing(this.connection, whole, (one) => one.stream())
    return {
      columns: readings.map((reading, index) => columnOf(names[index] ?? '', reading)),
      sent: sql,
      next: () =>
        this.#explained(async () => {
          const chunk = await result.fetchChunk()
          if (!chunk || chunk.rowCount === 0) return undefined
          const columns = chunk.getColumns() as (string | null)[][]
          const bytes = columns.reduce((sum, column) => column.reduce((own, text) => own + (text?.length ?? 1), sum), 0)
          this.received += bytes
          return { count: chunk.rowCount, bytes, put: (vectors, from, to) => putColumns(columns, readings, names, vectors, from, to) }
        }),
      close: () => Promise.resolve(false),
    }
  }
}

const putColumns = (
  columns: readonly (readonly (string | null)[])[],
  readings: readonly TextReading[],
  names: readonly string[],
  vectors: readonly Vector[],
  from: number,
  to: number,
): void =>
  readings.forEach(({ type, put }, index) => {
    const [vector, column] = [vectorOf(vectors, index), columns[index]]
    readColumn(names[index] ?? '', type, () => {
      for (let row = from; row < to; row++) {
        const text = column?.[row] ?? null
        if (text === null) vector.setNull(row - from)
        else put(vector, row - from, text)
      }
    })
  })

const bounds = { threads: '2', memory_limit: '1GB', autoinstall_known_extensions: 'false', autoload_known_extensions: 'false' }

/** Opens a file of DuckDB, or files of Parquet as tables, in an instance that can only read these files. */
export const connectDuckDb = async (
  isParquet: boolean,
  { parameters }: Connection,
  { files, scratch }: Surroundings,
): Promise<DatabaseSession> => {
  const path = pathShown(files, findPath(files, readPath(parameters)))
  try {
    const spill = { ...bounds, temp_directory: join(scratch, 'spill') }
    const own = isParquet ? spill : { ...spill, access_mode: 'READ_ONLY', enable_external_access: 'false' }
    const instance = await DuckDBInstance.create(isParquet ? ':memory:' : path, own)
    const connection = await instance.connect()
    if (isParquet) {
      const tables = [...parquetFiles(path)]
      for (const [name, file] of tables)
        try {
          await preparing(connection, `CREATE VIEW ${quote(name)} AS FROM read_parquet(${literal(file)})`, (one) => one.run())
        } catch (error) {
          throw notReadable(basename(file), explainOpening(error))
        }
      const paths = tables.map(([, file]) => literal(file)).join(', ')
      await preparing(connection, `SET allowed_paths = [${paths}]`, (one) => one.run())
      await connection.run('SET enable_external_access = false')
    }
    await connection.run("SET TimeZone = 'UTC'").catch(() => undefined)
    await connection.run('SET lock_configuration = true')
    return new DuckSession(connection)
  } catch (error) {
    throw explainOpening(error)
  }
}
