import Database from 'better-sqlite3'
import { errorCode, isProblem, Problem } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { nearest } from '../../../basics/nearest.js'
import { putMicros } from '../../batch/numbers.js'
import type { Connection, ListedColumns, Query, TableColumn, Tables } from '../../contract/requests.js'
import { plain, type AnswerColumn, type PlainType } from '../../contract/types.js'
import type { Vector } from '../../batch/vector.js'
import { printScan } from '../../pushdown/print-scan.js'
import { sqliteDialect } from '../../pushdown/sqlite.js'
import type { Cursor, DatabaseSession, Surroundings } from '../contract/engine.js'
import { refusedThere } from '../contract/explain.js'
import { uniqueNames } from '../../contract/unique-names.js'
import { checkNative, findPath, readPath } from './paths.js'

/** The values of SQLite: a column may have values of several kinds, independent of its declared type. */
type Value = bigint | number | string | Buffer | null

const largestExact = 2n ** 53n

const isExact = (value: bigint): boolean => value < largestExact && value > -largestExact

/**
 * Declared types whose columns may have fractions; types with a scale of 0 do not count. SQLite keeps a value of such a column as a whole
 * number if it is one: 10.00 as 10.
 */
const fractional = /real|floa|doub|(?:num|dec)(?!\w*\s*\(\s*\d+\s*(?:,\s*0\s*)?\))/i

const typeOf = (declared: string | null, values: readonly Value[]): PlainType => {
  const kinds = new Set(values.flatMap((value) => (value === null ? [] : [value instanceof Buffer ? 'blob' : typeof value])))
  if (kinds.has('string')) return 'VARCHAR'
  if (kinds.has('blob')) return kinds.size === 1 ? 'BLOB' : 'VARCHAR'
  if (kinds.has('number')) return 'DOUBLE'
  if (kinds.has('bigint'))
    return fractional.test(declared ?? '') && values.every((value) => typeof value !== 'bigint' || isExact(value)) ? 'DOUBLE' : 'BIGINT'
  // If there is no value, the declaration decides, as in SQLite itself.
  if (/int/i.test(declared ?? '')) return 'BIGINT'
  if (/blob/i.test(declared ?? '')) return 'BLOB'
  return fractional.test(declared ?? '') ? 'DOUBLE' : 'VARCHAR'
}

const misfit = (column: string, type: PlainType, value: Value): Problem => {
  const [detail, conversion] =
    type === 'BLOB' || value instanceof Buffer
      ? ['some values are bytes, and others are not', 'hex(…)']
      : [`a value is not of the type ${type} that the first ones have`, 'CAST(… AS TEXT)']
  return new Problem('query_failed', 'A value cannot be read', `In the column "${column}" ${detail}`, {
    hint: `Convert the column there: SELECT * FROM db (SELECT ${conversion} …).`,
  })
}

const put = (vector: Vector, row: number, value: Value, type: PlainType): boolean => {
  if (value === null) vector.setNull(row)
  else if (type === 'BLOB' && value instanceof Buffer) vector.setBytes(row, value)
  else if (type === 'BLOB' || value instanceof Buffer) return false
  else if (type === 'VARCHAR') vector.setText(row, String(value))
  else if (type === 'BIGINT' && typeof value === 'bigint') putMicros(vector, row, value)
  else if (type === 'DOUBLE' && typeof value === 'number') vector.data.writeDoubleLE(value, row * 8)
  else if (type === 'DOUBLE' && typeof value === 'bigint' && isExact(value)) vector.data.writeDoubleLE(Number(value), row * 8)
  else return false
  return true
}

const explain = (error: unknown): Problem => {
  if (isProblem(error)) return error
  if (/^SQLITE_(?:CORRUPT|NOTADB)/.test(errorCode(error)))
    return new Problem('connection_failed', 'Not a database', 'The file is not an SQLite database')
  return refusedThere(error instanceof Error ? error.message : '', [])
}

/** A column of a virtual table that `*` does not name; computed columns have other numbers. */
const hiddenColumn = 1

/** A file of SQLite, opened for reading. A call cannot be interrupted: only the end of the process ends it. */
class SqliteSession implements DatabaseSession {
  readonly isAtomic = true
  isLost = false
  received = 0

  constructor(private readonly file: Database.Database) {}

  check(): Promise<void> {
    return this.#explained(() => void this.file.prepare('SELECT count(*) FROM sqlite_schema').get())
  }

  tables(): Promise<Tables> {
    return this.#explained(() => {
      const most = limits.connectionTablesMax
      const sql = `SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite^_%' ESCAPE '^' ORDER BY name LIMIT ${most + 1}`
      const found = this.file.prepare<[], { name: string; type: 'table' | 'view' }>(sql).all()
      return {
        tables: found.slice(0, most).map(({ name, type }) => ({ schema: null, name, isUsual: true, type })),
        isCut: found.length > most,
      }
    })
  }

  columns(table: string): Promise<readonly TableColumn[]> {
    return this.#explained(() => this.#columns(table))
  }

  everyColumn(): Promise<ListedColumns> {
    return this.#explained(() => {
      const most = limits.connectionColumnsMax
      const sql = `SELECT t.name AS "table", c.name, c.type, c."notnull" FROM sqlite_schema AS t, pragma_table_xinfo(t.name) AS c
        WHERE t.type IN ('table', 'view') AND t.name NOT LIKE 'sqlite^_%' ESCAPE '^' AND c.hidden <> ${hiddenColumn} ORDER BY t.name, c.cid LIMIT ${most + 1}`
      const found = this.file.prepare<[], { table: string; name: string; type: string; notnull: number }>(sql).all()
      const listed = found.slice(0, most).map(({ table, name, type, notnull }) => ({
        ...{ schema: null, isUsual: true, table, name, remote: type },
        ...{ type: plain(typeOf(type, [])), nullable: notnull === 0 },
      }))
      return { listed, isCut: found.length > most }
    })
  }

  open(query: Query, onSend: (statement: string) => void): Promise<Cursor> {
    return this.#explained(() => this.#open(query, onSend))
  }

  cancel(): Promise<void> {
    return Promise.resolve()
  }

  destroy(): void {
    this.isLost = true
    this.file.close()
  }

  async #explained<T>(work: () => T): Promise<T> {
    try {
      return work()
    } catch (error) {
      throw explain(error)
    }
  }

  #columns(table: string): TableColumn[] {
    type Row = { name: string; type: string; notnull: number }
    const found = this.file
      .prepare<[string], Row>(`SELECT name, type, "notnull" FROM pragma_table_xinfo(?) WHERE hidden <> ${hiddenColumn}`)
      .all(table)
    if (found.length === 0) throw this.#missing(table)
    return found.map(({ name, type, notnull }) => ({
      name,
      type: plain(typeOf(type, [])),
      remote: type,
      nullable: notnull === 0,
      exactText: false,
    }))
  }

  #missing(table: string): Problem {
    const names = this.file.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')").pluck().all()
    return new Problem('not_found', 'Table not found', `The database has no table "${table}"`, {
      hint: names.length === 0 ? 'It has no tables.' : `Did you mean "${nearest(table, names)}"?`,
    })
  }

  #sql(query: Query): string {
    if ('scan' in query) return printScan(query.scan, this.#columns(query.scan.table), sqliteDialect).sql
    checkNative(query)
    return query.native
  }

  #open(query: Query, onSend: (statement: string) => void): Cursor {
    const sql = this.#sql(query)
    onSend(sql)
    const statement = this.file.prepare<[], Value[]>(sql)
    if (!statement.reader) throw new Problem('refused_statement', 'Only statements that read', 'The statement has no answer')
    const described = statement.columns()
    const rows = statement.raw().safeIntegers().iterate()
    const take = (most: number): { rows: Value[][]; bytes: number } => {
      const taken: Value[][] = []
      let bytes = 0
      // Wide rows end a step early.
      while (taken.length < most && bytes < 4 * 1024 * 1024) {
        const next = rows.next()
        if (next.done) break
        taken.push(next.value)
        for (const value of next.value) bytes += typeof value === 'string' || value instanceof Buffer ? value.length : 8
      }
      this.received += bytes
      return { rows: taken, bytes }
    }
    let first: ReturnType<typeof take> | undefined = take(1_024)
    const types = described.map(({ type }, index) =>
      typeOf(
        type,
        (first?.rows ?? []).map((row) => row[index] ?? null),
      ),
    )
    const names = uniqueNames(described.map(({ name }) => name))
    const next = (most: number) => {
      const step = first ?? take(most)
      first = undefined
      if (step.rows.length === 0) return undefined
      return {
        count: step.rows.length,
        bytes: step.bytes,
        put: (vectors: readonly Vector[], from: number, to: number) =>
          types.forEach((type, index) => {
            const vector = vectors[index]
            for (let row = from; row < to; row++) {
              const value = step.rows[row]?.[index] ?? null
              if (vector && !put(vector, row - from, value, type)) throw misfit(names[index] ?? '', type, value)
            }
          }),
      }
    }
    return {
      columns: types.map((type, index): AnswerColumn => ({ name: names[index] ?? '', type: plain(type) })),
      sent: sql,
      // Between two steps other work gets a turn, and the process notices that a reader left.
      next: (most) => new Promise((resolve, reject) => setImmediate(() => void this.#explained(() => next(most)).then(resolve, reject))),
      close: () => {
        rows.return?.()
        return Promise.resolve(true)
      },
    }
  }
}

/** Opens a file of SQLite for reading. @throws Problem about the path or the file */
export const connectSqlite = ({ parameters }: Connection, { files }: Surroundings): DatabaseSession => {
  const path = findPath(files, readPath(parameters))
  try {
    return new SqliteSession(new Database(path, { readonly: true, fileMustExist: true, timeout: limits.connectionConnectTimeoutMs }))
  } catch (error) {
    throw explain(error)
  }
}
