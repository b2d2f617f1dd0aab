import { errorCode } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import type { ListedColumns, Query, Table, TableColumn, TableComments, Tables } from '../../contract/requests.js'
import { plain, type AnswerColumn } from '../../contract/types.js'
import { putDecimal, putHugeint } from '../../batch/numbers.js'
import { columnOf, rowsOf, settle } from '../../batch/column-reading.js'
import { mysqlDialect } from '../../pushdown/mysql.js'
import { mayWrite } from '../../pushdown/native.js'
import { columnsOfScan, printScan, tableName } from '../../pushdown/print-scan.js'
import type { Cursor, DatabaseSession, Surroundings } from '../contract/engine.js'
import { refuseComparedTexts } from '../contract/compared-texts.js'
import type { ErrorExplainer } from '../contract/explain.js'
import { inTime } from '../../../basics/concurrency/bounded-waits.js'
import { missingTable } from '../contract/missing-table.js'
import { commentsIn } from '../contract/table-comments.js'
import { SocketSession } from '../contract/socket-session.js'
import { uniqueNames } from '../../contract/unique-names.js'
import { openClient, type MysqlClient } from './connect.js'
import { Reader, run } from './cursor.js'
import { listColumns } from './every-column.js'
import type { MysqlParameters } from './parameters.js'
import { floatReading, readingOf, type BytesReading, type Field, type UnsettledBytes } from './types.js'

const firstRows = 1_024

/** A statement, its text for the record, and the types of its computed columns. */
type Statement = { sql: string; recorded: string; types: ReadonlyMap<string, AnswerColumn['type']>; writes: boolean }

/** A missing table; its database may be missing, or the statement names no database. */
const missingCodes: ReadonlySet<string> = new Set(['ER_NO_SUCH_TABLE', 'ER_NO_DB_ERROR', 'ER_BAD_DB_ERROR'])

/** The user may not read the table, or not all of its columns. */
const forbiddenCodes: ReadonlySet<string> = new Set(['ER_COLUMNACCESS_DENIED_ERROR', 'ER_TABLEACCESS_DENIED_ERROR'])

/** The reading of a column whose type was looked up. */
const asked = (type: AnswerColumn['type'], reading: BytesReading | UnsettledBytes): BytesReading | UnsettledBytes => {
  if (type.type === 'FLOAT') return floatReading
  const put = type.type === 'HUGEINT' ? putHugeint : type.type === 'DECIMAL' ? putDecimal(type.width, type.scale) : undefined
  return put ? { type, put: (vector, row, bytes) => put(vector, row, bytes.toString('latin1')) } : reading
}

const hex = (text: string): string => (text === '' ? "''" : `CONVERT(0x${Buffer.from(text).toString('hex')} USING utf8mb4)`)

const texts = (rows: readonly (readonly (Buffer | null)[])[]): string[][] => rows.map((row) => row.map((value) => value?.toString() ?? ''))

/** A session of MySQL or MariaDB. Each statement is a separate transaction, which is read-only unless the connection may write. */
export class MysqlSession extends SocketSession implements DatabaseSession {
  constructor(
    private readonly opened: MysqlClient,
    private readonly parameters: MysqlParameters,
    private readonly around: Surroundings,
    explain: ErrorExplainer,
    private readonly name?: string,
  ) {
    super(opened.socket, explain)
  }

  /** The server itself commits statements that change the definition of tables, in any transaction. */
  get isAtomic(): boolean {
    return !this.parameters.writable
  }

  async check(): Promise<void> {
    await this.explained(() => run(this.#client, 'SELECT 1'))
  }

  tables(): Promise<Tables> {
    return this.explained(() => this.#tables())
  }

  columns(table: string, schema: string | undefined): Promise<readonly TableColumn[]> {
    return this.explained(() => this.#columns(table, schema))
  }

  comments(table: string, schema: string | undefined): Promise<TableComments> {
    return this.explained(() => this.#comments(table, schema))
  }

  everyColumn(): Promise<ListedColumns> {
    return this.explained(() => listColumns(this.#client, this.#ofUsers, this.parameters.database, (field) => this.#readingOf(field)))
  }

  async open(query: Query, onSend: (statement: string) => void): Promise<Cursor> {
    try {
      return await this.#open(query, onSend)
    } catch (error) {
      if (!this.isLost) await run(this.#client, 'ROLLBACK').catch(() => undefined)
      throw this.explain(error)
    }
  }

  /** Tells the server to end the session's statement, through a second login to the same address. */
  async cancel(): Promise<void> {
    const { at, threadId } = this.opened
    const lookup = () => Promise.resolve([at.address])
    const other = await openClient(this.parameters, this.around, this.explain, limits.connectionCancelWaitMs, lookup)
    try {
      await inTime(run(other.client, `KILL QUERY ${threadId}`), limits.connectionCancelWaitMs, undefined)
    } finally {
      other.socket.destroy()
    }
  }

  get #client() {
    return this.opened.client
  }

  #readingOf(field: Field): BytesReading | UnsettledBytes {
    return readingOf(field, this.opened.isUtc)
  }

  /** The condition for the connection's database, or for all databases except those of the server itself. */
  get #ofUsers(): string {
    const { database } = this.parameters
    return database === undefined
      ? "table_schema NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')"
      : `table_schema = ${hex(database)}`
  }

  async #tables(): Promise<Tables> {
    const most = limits.connectionTablesMax
    const found = texts(
      await run(
        this.#client,
        `SELECT table_schema, table_name, table_type FROM information_schema.tables WHERE ${this.#ofUsers} ORDER BY 1, 2 LIMIT ${most + 1}`,
      ),
    )
    const tables = found.slice(0, most).map(([schema = '', name = '', type = '']): Table => ({
      ...{ schema, name, isUsual: schema === this.parameters.database },
      type: type.includes('VIEW') ? 'view' : 'table',
    }))
    return { tables, isCut: found.length > most }
  }

  async #columns(table: string, schema: string | undefined): Promise<TableColumn[]> {
    const quoted = tableName(mysqlDialect, table, schema)
    try {
      const where = this.#placeOf(table, schema)
      const fields = await this.#readableFields(quoted, where)
      const declared = texts(
        await run(
          this.#client,
          `SELECT column_name, column_type, is_nullable, coalesce(character_set_name, ''), collation_name FROM information_schema.columns
           WHERE ${where}`,
        ),
      )
      const known = new Map(
        declared.map(([name = '', remote, nullable, charset, collation = '']) => [name, { remote, nullable, charset, collation }]),
      )
      return fields.map((field) => {
        const reading = this.#readingOf(field)
        const { type } = 'settle' in reading ? reading.settle([]) : reading
        const own = known.get(field.name)
        return {
          name: field.name,
          type,
          remote: own?.remote ?? '',
          nullable: own?.nullable !== 'NO',
          exactText: own !== undefined && own.charset !== '' && own.charset !== 'binary',
          ...(own && own.collation !== '' && { collation: own.collation }),
        }
      })
    } catch (error) {
      throw missingCodes.has(errorCode(error)) ? missingTable({ schema, table }, await this.#tables(), this.name) : error
    }
  }

  /** The condition for a table in information_schema. */
  #placeOf(table: string, schema: string | undefined): string {
    const space = schema ?? this.parameters.database
    return `table_name = ${hex(table)} AND table_schema = ${space === undefined ? 'database()' : hex(space)}`
  }

  /** The fields of the columns that the user may read: all of a table, or else those that a GRANT names. */
  async #readableFields(quoted: string, where: string): Promise<readonly Field[]> {
    try {
      return await this.#fieldsOf(`SELECT * FROM ${quoted} LIMIT 0`)
    } catch (error) {
      if (!forbiddenCodes.has(errorCode(error))) throw error
      const readable = `SELECT column_name FROM information_schema.columns WHERE ${where} AND privileges LIKE '%select%' ORDER BY ordinal_position`
      const names = texts(await run(this.#client, readable)).map(([name = '']) => mysqlDialect.quote(name))
      if (names.length === 0) throw error
      return this.#fieldsOf(`SELECT ${names.join(', ')} FROM ${quoted} LIMIT 0`)
    }
  }

  async #fieldsOf(sql: string): Promise<readonly Field[]> {
    const reader = new Reader(this.#client, sql)
    await reader.read(1)
    return reader.fields
  }

  async #comments(table: string, schema: string | undefined): Promise<TableComments> {
    const where = this.#placeOf(table, schema)
    const most = limits.connectionCommentMaxChars
    // MySQL says "VIEW" of each view.
    const found = texts(
      await run(
        this.#client,
        `SELECT '', left(table_comment, ${most}) FROM information_schema.tables WHERE ${where} AND table_type <> 'VIEW'
         UNION ALL SELECT column_name, left(column_comment, ${most}) FROM information_schema.columns WHERE ${where}`,
      ),
    )
    return commentsIn(found)
  }

  async #statement(query: Query): Promise<Statement> {
    if ('scan' in query) {
      const { scan } = query
      // The columns are always looked up: a FLOAT is exact only if it is selected as a DOUBLE.
      const columns = await columnsOfScan(scan, (table, schema) => this.#columns(table, schema))
      return { ...printScan(scan, columns, mysqlDialect), writes: false }
    }
    return { sql: query.native, recorded: query.native, types: new Map(), writes: mayWrite(query, this.parameters.writable) }
  }

  async #open(query: Query, onSend: (statement: string) => void): Promise<Cursor> {
    const statement = await this.#statement(query)
    await run(this.#client, statement.writes ? 'START TRANSACTION' : 'START TRANSACTION READ ONLY')
    onSend(statement.recorded)
    const reader = new Reader(this.#client, statement.sql)
    const first = await reader.read(firstRows)
    const { fields } = reader
    const open = fields.map((field) => {
      const type = statement.types.get(field.name)
      const reading = this.#readingOf(field)
      return type ? asked(type, reading) : reading
    })
    const names = uniqueNames(fields.map(({ name }) => name))
    const readings = settle(open, names, first.rows)
    const columns = readings.map((reading, index) => columnOf(names[index] ?? '', reading))
    try {
      refuseComparedTexts(query, columns)
    } catch (error) {
      // The next statement would wait for rows that nobody reads.
      await this.#end(reader, true)
      throw error
    }
    let next: typeof first | undefined = first
    let committed = false
    const step = async (most: number) => {
      const { rows, bytes } = next ?? (await reader.read(most))
      next = undefined
      if (rows.length > 0) return rowsOf(rows, readings, names, bytes)
      if (statement.writes && !committed) await run(this.#client, 'COMMIT')
      committed = true
      return undefined
    }
    return {
      columns: columns.length > 0 ? columns : [{ name: 'rows', type: plain('BIGINT') }],
      sent: statement.sql,
      mayWrite: statement.writes,
      next: (most) => this.explained(() => step(most)),
      close: () => this.#end(reader, 'native' in query),
    }
  }

  /**
   * Ends a statement and its transaction. A session is used again only after scans: other statements may leave locks and variables behind.
   */
  #end(reader: Reader, isNative: boolean): Promise<boolean> {
    return this.ended(reader.drained(), async () => {
      if (!isNative) await run(this.#client, 'ROLLBACK')
      return !isNative
    })
  }
}
