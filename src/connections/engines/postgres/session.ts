import { errorCode, Problem } from '../../../basics/errors.js'
import { nearest } from '../../../basics/nearest.js'
import { needsColumns } from '../../pushdown/can-push.js'
import { columnsOfScan, printScan, tableName } from '../../pushdown/print-scan.js'
import type { Dialect } from '../../pushdown/dialect.js'
import type { ListedColumns, Query, Scan, TableColumn, TableComments, Tables } from '../../contract/requests.js'
import { plain, type AnswerColumn } from '../../contract/types.js'
import type { Cursor, DatabaseSession, Surroundings } from '../contract/engine.js'
import { refuseComparedTexts } from '../contract/compared-texts.js'
import type { ErrorExplainer } from '../contract/explain.js'
import { missingTable } from '../contract/missing-table.js'
import { SocketSession } from '../contract/socket-session.js'
import { uniqueNames } from '../../contract/unique-names.js'
import { columnOf, rowsOf, settle } from '../../batch/column-reading.js'
import { beginSql, sendCancel, type PostgresClient } from './connect.js'
import { Reader, stepBytes, type Field, type TextRow } from './cursor.js'
import { describe } from './describe.js'
import { listColumns } from './every-column.js'
import { declaredColumns, isRefusal, listTables, lookUpTypes, readableColumns, tableComments, undeclared } from './metadata.js'
import { mayWriteThere } from './no-transaction.js'
import type { PostgresParameters } from './parameters.js'
import { run } from './run.js'
import { asked, isOwn, readingOf, type OwnType, type TextReading } from './types.js'

/**
 * The statement may begin again after its first rows, so these are few. More rows follow before any is passed on, up to the bytes of a step:
 * they decide open types.
 */
const [firstRows, moreRows] = [32, 992]

type Statement = {
  sql: string
  /** The text for the record. */
  recorded: string
  values: readonly string[]
  types: ReadonlyMap<string, AnswerColumn['type']>
  writes: boolean
  isNative: boolean
}

/** The columns of an answer; a statement without an answer gets one column and no rows. */
const shownColumns = (columns: readonly AnswerColumn[]): readonly AnswerColumn[] =>
  columns.length > 0 ? columns : [{ name: 'rows', type: plain('BIGINT') }]

/** A session of PostgreSQL. Each statement is a separate transaction, which is read-only unless the connection may write. */
export class PostgresSession extends SocketSession implements DatabaseSession {
  readonly isAtomic = true
  /** The known types that are not built in. */
  readonly #own: Map<number, OwnType>
  /** The name of the connection. */
  readonly #name: string | undefined
  /** The SQL of the database behind the protocol. */
  readonly #dialect: Dialect

  constructor(
    private readonly opened: PostgresClient,
    private readonly parameters: PostgresParameters,
    private readonly around: Surroundings,
    explain: ErrorExplainer,
    { own, name, dialect }: { own: Map<number, OwnType>; name?: string | undefined; dialect: Dialect },
  ) {
    super(opened.socket, explain)
    this.#own = own
    this.#name = name
    this.#dialect = dialect
  }

  async check(): Promise<void> {
    await this.explained(() => run(this.#client, 'SELECT 1'))
  }

  tables(): Promise<Tables> {
    return this.explained(() => listTables(this.#client, this.parameters.schema))
  }

  async columns(table: string, schema: string | undefined): Promise<readonly TableColumn[]> {
    return this.explained(() => this.#columns(table, schema))
  }

  comments(table: string, schema: string | undefined): Promise<TableComments> {
    return this.explained(() => tableComments(this.#client, tableName(this.#dialect, table, schema)))
  }

  everyColumn(): Promise<ListedColumns> {
    return this.explained(() => listColumns(this.#client, this.parameters.schema, this.#own, (oids) => this.#learnNew(oids)))
  }

  describe(native: string): Promise<readonly AnswerColumn[] | undefined> {
    return this.explained(() => this.#describe(native))
  }

  async open(query: Query, onSend: (statement: string) => void): Promise<Cursor> {
    try {
      return await this.#open(query, onSend)
    } catch (error) {
      await this.#rollback()
      throw await this.#sayWhatIsMissing(error, query)
    }
  }

  cancel(): Promise<void> {
    return sendCancel(this.opened, this.around)
  }

  get #client() {
    return this.opened.client
  }

  async #columns(table: string, schema: string | undefined): Promise<TableColumn[]> {
    const quoted = tableName(this.#dialect, table, schema)
    try {
      const fields = await this.#readableFields(quoted)
      const declared = new Map((await declaredColumns(this.#client, quoted)).map((column) => [column.name, column]))
      return fields.map(({ name, oid, typmod }) => {
        const { dimensions, ...known } = declared.get(name) ?? undeclared
        const reading = readingOf(oid, typmod, this.#own, dimensions)
        return { ...known, ...columnOf(name, 'settle' in reading ? reading.settle([]) : reading) }
      })
    } catch (error) {
      await this.#rollback()
      throw await this.#sayWhatIsMissing(error, { scan: { table, columns: [], ...(schema !== undefined && { schema }) } })
    }
  }

  /** The fields of the columns that the user may read: all of a table, or else those that a GRANT names. */
  async #readableFields(quoted: string): Promise<readonly Field[]> {
    try {
      return await this.#fieldsOf(`SELECT * FROM ${quoted} LIMIT 0`)
    } catch (error) {
      if (errorCode(error) !== '42501') throw error
      const names = await readableColumns(this.#client, quoted)
      if (names.length === 0) throw error
      return this.#fieldsOf(`SELECT ${names.map((name) => this.#dialect.quote(name)).join(', ')} FROM ${quoted} LIMIT 0`)
    }
  }

  async #fieldsOf(sql: string): Promise<readonly Field[]> {
    try {
      const statement = { sql, recorded: sql, values: [], types: new Map(), writes: false, isNative: false }
      await this.#begin(statement)
      return (await this.#start(statement)).fields
    } finally {
      await this.#rollback()
    }
  }

  async #describe(native: string): Promise<readonly AnswerColumn[] | undefined> {
    mayWriteThere({ native }, this.parameters.writable)
    const fields = await describe(this.#client, native, beginSql(this.parameters, { writes: false, isNative: true }))
    await this.#learnNew(fields.map(({ oid }) => oid))
    const names = uniqueNames(fields.map(({ name }) => name))
    const columns = fields.flatMap(({ oid, typmod }, i) => {
      const reading = readingOf(oid, typmod, this.#own)
      return 'settle' in reading ? [] : [columnOf(names[i] ?? '', reading)]
    })
    if (columns.length === fields.length) return shownColumns(columns)
    return undefined
  }

  async #begin(statement: Pick<Statement, 'writes' | 'isNative'>): Promise<void> {
    await run(this.#client, beginSql(this.parameters, statement))
  }

  async #statement(query: Query): Promise<Statement> {
    if ('scan' in query) {
      const { scan } = query
      const columns = needsColumns(scan) ? await columnsOfScan(scan, (table, schema) => this.#columns(table, schema)) : undefined
      return { ...printScan(scan, columns, this.#dialect), writes: false, isNative: false }
    }
    const { native: sql } = query
    return { sql, recorded: sql, values: [], types: new Map(), writes: mayWriteThere(query, this.parameters.writable), isNative: true }
  }

  async #open(query: Query, onSend: (statement: string) => void): Promise<Cursor> {
    const statement = await this.#statement(query)
    const before = this.received
    await this.#begin(statement)
    onSend(statement.recorded)
    const { reader, rows, fields } = await this.#start(statement)
    const open = fields.map(({ name, oid, typmod }) => {
      const reading = readingOf(oid, typmod, this.#own)
      const type = statement.types.get(name)
      return type ? asked(type, reading) : reading
    })
    const names = uniqueNames(fields.map(({ name }) => name))
    try {
      const readings = settle(open, names, rows)
      const columns = readings.map((reading, index) => columnOf(names[index] ?? '', reading))
      refuseComparedTexts(query, columns)
      return this.#cursor(statement, reader, rows, before, readings, columns)
    } catch (error) {
      // The next statement would wait for rows that nobody reads.
      await reader.close()
      throw error
    }
  }

  /** Begins a statement and reads its first rows. Types that it meets for the first time are looked up, and it begins again. */
  async #start(statement: Statement): Promise<{ reader: Reader; rows: TextRow[]; fields: readonly Field[] }> {
    const reader = new Reader(this.#client, statement.sql, statement.values, () => this.destroy())
    const few = await reader.read(firstRows)
    const { fields } = reader
    const unknown = this.#unknownIn(fields.map(({ oid }) => oid))
    // A statement that writes is not run twice: values of such types come as text.
    if (unknown.length === 0 || statement.writes)
      return { reader, rows: reader.isOver ? few : [...few, ...(await reader.read(moreRows))], fields }
    await reader.close()
    await this.#rollback()
    await this.#learn(unknown)
    await this.#begin(statement)
    return this.#start(statement)
  }

  async #learnNew(oids: readonly number[]): Promise<void> {
    const unknown = this.#unknownIn(oids)
    if (unknown.length > 0) await this.#learn(unknown)
  }

  /** The types that are not built in, and were not looked up yet. */
  #unknownIn(oids: readonly number[]): number[] {
    return [...new Set(oids)].filter((oid) => isOwn(oid) && !this.#own.has(oid))
  }

  async #learn(oids: readonly number[]): Promise<void> {
    const types = await lookUpTypes(this.#client, oids).catch((error: unknown) => {
      if (!isRefusal(error)) throw error
      return new Map(oids.map((oid): [number, OwnType] => [oid, { text: true }]))
    })
    const inner = [...types.values()].flatMap((type) => ('array' in type ? [type.array.of] : []))
    const unknown = inner.filter((oid) => isOwn(oid) && !this.#own.has(oid) && !types.has(oid))
    if (unknown.length > 0) await this.#learn(unknown)
    // The sessions of a connection share these types, so a type is there only when it is known.
    for (const [oid, type] of types) this.#own.set(oid, type)
  }

  #cursor(
    statement: Statement,
    reader: Reader,
    first: TextRow[],
    received: number,
    readings: readonly TextReading[],
    columns: readonly AnswerColumn[],
  ): Cursor {
    let before = received
    let ahead: Promise<TextRow[]> | undefined = Promise.resolve(first)
    let hasChanged = false
    const isWriting = statement.writes
    const names = columns.map(({ name }) => name)
    const step = async (most: number) => {
      const rows = await ahead
      ahead = undefined
      if (!rows || rows.length === 0) {
        if (isWriting && !hasChanged) {
          hasChanged = true
          await run(this.#client, 'COMMIT')
        }
        return undefined
      }
      const bytes = Math.max(this.received - before, rows.length)
      before = this.received
      // The next rows are on their way while these are being written.
      const fitting = Math.max(1, Math.floor((rows.length * stepBytes) / bytes))
      ahead = reader.isOver ? Promise.resolve([]) : reader.read(Math.min(most, fitting))
      ahead.catch(() => undefined)
      return rowsOf(rows, readings, names, bytes)
    }
    return {
      columns: shownColumns(columns),
      sent: statement.sql,
      next: (most) => this.explained(() => step(most)),
      mayWrite: isWriting,
      hasChanged: () => hasChanged,
      close: () => this.#end(reader, isWriting),
    }
  }

  /** Ends a statement and its transaction. Uncommitted changes are rolled back. */
  #end(reader: Reader, wrote: boolean): Promise<boolean> {
    return this.ended(reader.settled(), async () => {
      await reader.close()
      // Locks of a session outlive its transactions.
      await run(this.#client, 'ROLLBACK')
      await run(this.#client, 'SELECT pg_catalog.pg_advisory_unlock_all()')
      return !wrote
    })
  }

  async #rollback(): Promise<void> {
    if (this.isLost) return
    await run(this.#client, 'ROLLBACK').catch(() => undefined)
  }

  /** The meaning of a refusal; for a missing table or column, with the nearest existing name. */
  async #sayWhatIsMissing(error: unknown, query: Query): Promise<Error> {
    const problem = this.explain(error)
    if (!('scan' in query) || this.isLost) return problem
    try {
      switch (errorCode(error)) {
        case '42703':
          return await this.#missingColumn(query.scan, problem)
        case '42P01':
        case '3F000':
          return await this.#missingTable(query.scan)
        default:
          return problem
      }
    } catch {
      return problem
    }
  }

  async #missingTable(scan: Scan): Promise<Problem> {
    return missingTable(scan, await listTables(this.#client, undefined), this.#name)
  }

  async #missingColumn(scan: Scan, otherwise: Problem): Promise<Problem> {
    const names = (await this.#columns(scan.table, scan.schema)).map(({ name }) => name)
    const missing = scan.columns.find((name) => !names.includes(name))
    if (missing === undefined) return otherwise
    return new Problem('not_found', 'Column not found', `The table "${scan.table}" has no column "${missing}"`, {
      hint: `Did you mean "${nearest(missing, names)}"?`,
    })
  }
}
