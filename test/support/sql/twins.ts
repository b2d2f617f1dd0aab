import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { rowsOf as encoded } from '../../../src/sql/encode/chunks.js'
import { TestLedger } from '../log/ledger.js'

/** The statements in a text with one per line. */
export const perLine = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '')

/** An answer: the names and types of its columns, and each row as a JSON text, in order. */
export type Answer = { names: string[]; types: string[]; rows: string[] }

/** Plain DuckDB, with the same tables under simple names. */
export class PlainDuckDB {
  private constructor(private readonly instance: DuckDBInstance) {}

  static async create(made: Readonly<Record<string, string>>): Promise<PlainDuckDB> {
    const plain = new PlainDuckDB(await DuckDBInstance.create(':memory:', { threads: '1' }))
    const connection = await plain.instance.connect()
    await connection.run(`SET TimeZone = 'UTC'`)
    for (const [name, sql] of Object.entries(made)) await connection.run(`CREATE TABLE ${name} AS ${sql}`)
    await connection.run('CREATE SCHEMA files')
    for (const name of Object.keys(made)) await connection.run(`CREATE VIEW files.${name} AS FROM main.${name}`)
    connection.closeSync()
    return plain
  }

  /** A table as the bytes of a Parquet file. */
  async parquet(name: string): Promise<Uint8Array<ArrayBuffer>> {
    const directory = await mkdtemp(join(tmpdir(), 'twins-'))
    const path = join(directory, 'table.parquet')
    const connection = await this.instance.connect()
    await connection.run(`COPY ${name} TO '${path}' (FORMAT parquet)`)
    connection.closeSync()
    const bytes = new Uint8Array(await readFile(path))
    await rm(directory, { recursive: true })
    return bytes
  }

  async select(sql: string): Promise<Answer> {
    const connection = await this.instance.connect()
    try {
      const result = await connection.run(sql)
      const types = result.columnTypes()
      const rows: string[] = []
      for (let chunk = await result.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await result.fetchChunk())
        rows.push(...rowsOf(encoded(chunk, types, 'json').toString()))
      return { names: result.columnNames(), types: types.map((type) => type.alias ?? String(type)), rows }
    } finally {
      connection.closeSync()
    }
  }

  close(): void {
    this.instance.closeSync()
  }
}

/** Splits `[1,"a"],[2,"b"]` into its arrays, without JSON.parse, which would round large numbers. */
export const rowsOf = (text: string): string[] => {
  const rows: string[] = []
  let [start, depth] = [0, 0]
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]]/g)) {
    if (token === '[' && depth++ === 0) start = index
    if (token === ']' && --depth === 0) rows.push(text.slice(start, index + 1))
  }
  return rows
}

/** The same tables as uploaded files of a ledger, and in plain DuckDB. */
export class Twins {
  private constructor(
    readonly ledger: TestLedger,
    readonly plain: PlainDuckDB,
  ) {}

  static async create(made: Readonly<Record<string, string>>): Promise<Twins> {
    const ledger = await TestLedger.create()
    await ledger.run('SET threads = 1')
    for (const [name, sql] of Object.entries(made)) await ledger.file(name, sql)
    await ledger.events(3)
    await ledger.lock()
    return new Twins(ledger, await PlainDuckDB.create(made))
  }

  /** The answer of the service to a statement whose tables are files. */
  async ours(sql: string): Promise<Answer> {
    const { names, types, text } = await this.ledger.select(sql, { db: 'files' })
    return { names, types, rows: rowsOf(text) }
  }

  async close(): Promise<void> {
    this.plain.close()
    await this.ledger.close()
  }
}
