import { createHash } from 'node:crypto'
import { mkdtemp, rename, rm, writeFile, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { projections } from '../../../projections/all.js'
import { runSelect } from '../../../src/sql/engine/run/run-select.js'
import type { Frame, SelectRequest } from '../../../src/sql/contract/select.js'
import type { LoadModel } from '../../../src/sql/engine/scoring/load.js'
import { loadFakeModel } from '../models/fake-model.js'

const tables = projections.map((projection) => projection.init).join(';')

const quoted = (value: unknown): string => {
  if (value === null || value === undefined) return 'NULL'
  return typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : `'${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll("'", "''")}'`
}

/** The time of a position: one minute per position, from midnight of 2026-01-01. */
export const timeOf = (position: number) =>
  `2026-01-01 ${String(Math.floor(position / 60)).padStart(2, '0')}:${String(position % 60).padStart(2, '0')}:00`

type Row = Record<string, unknown> & { from: number; to?: number }

/** A ledger in memory with the tables of the projections, and a directory of blobs. */
export class TestLedger {
  head = 0
  loadModel: LoadModel = loadFakeModel
  private constructor(
    readonly instance: DuckDBInstance,
    readonly blobs: string,
  ) {}

  static async create(): Promise<TestLedger> {
    const blobs = await mkdtemp(join(tmpdir(), 'ledger-'))
    const instance = await DuckDBInstance.create(':memory:', { errors_as_json: 'true' })
    const ledger = new TestLedger(instance, blobs)
    await ledger.run(`SET TimeZone = 'UTC'; CREATE SCHEMA ledger; ${tables}`)
    return ledger
  }

  async run(sql: string): Promise<void> {
    const connection = await this.instance.connect()
    await connection.run(sql)
    connection.closeSync()
  }

  /** Restricts DuckDB as in the serving process: only blobs can be read, and settings can no longer change. */
  lock(): Promise<void> {
    return this.run(`SET allowed_directories = ['${this.blobs}']; SET enable_external_access = false; SET lock_configuration = true`)
  }

  /** Adds a row of a history table that is valid from one position until another one. */
  async history(table: string, { from, to, ...row }: Row): Promise<void> {
    this.head = Math.max(this.head, from, to ?? 0)
    const values = {
      id: from,
      ...row,
      valid_from: from,
      valid_to: to ?? null,
      created_at: timeOf(from),
      changed_at: timeOf(from),
      changed_by: 'ada',
      change: 'Changed',
      request: null,
    }
    await this.insert(`${table}_history`, values)
  }

  async insert(table: string, values: Record<string, unknown>): Promise<void> {
    await this.run(
      `INSERT INTO ledger.${table} (${Object.keys(values).join(', ')}) VALUES (${Object.values(values).map(quoted).join(', ')})`,
    )
  }

  /** Fills the log with one event for each position up to a head. */
  async events(head: number): Promise<void> {
    this.head = head
    await this
      .run(`INSERT INTO ledger.events SELECT i, 's' || i, 1, 'Changed', 1, TIMESTAMP '2026-01-01' + to_minutes(i), 'ada', 'rest', NULL, NULL, NULL, NULL, json_object('n', i, 'key', json_object('$secret', 'abc'))
      FROM range(1, ${head + 1}) AS t(i)`)
  }

  /** Stores the result of a query as a file. */
  async file(name: string, sql: string, from = 1, to?: number): Promise<void> {
    const path = join(this.blobs, 'writing')
    const connection = await this.instance.connect()
    await connection.run(`COPY (${sql}) TO '${path}' (FORMAT parquet)`)
    const columns = (await connection.runAndReadAll(`DESCRIBE ${sql}`)).getRows().map(([column, type]) => ({ name: column, type }))
    const count = Number((await connection.runAndReadAll(`SELECT count(*) FROM (${sql})`)).getRows()[0]?.[0])
    connection.closeSync()
    const content = createHash('sha256')
      .update(await readFile(path))
      .digest('hex')
    await rename(path, join(this.blobs, content))
    await this.history('files', {
      stream: `file-${name}-${from}`,
      name,
      content,
      bytes: 1,
      row_count: count,
      columns,
      original_name: `${name}.csv`,
      from,
      ...(to !== undefined && { to }),
    })
  }

  async blob(bytes: Uint8Array): Promise<string> {
    const hash = createHash('sha256').update(bytes).digest('hex')
    await writeFile(join(this.blobs, hash), bytes)
    return hash
  }

  async *frames(sql: string, request: Partial<SelectRequest> = {}, signal = new AbortController().signal): AsyncGenerator<Frame> {
    const services = { blobsDirectory: this.blobs, signal, loadModel: this.loadModel }
    yield* runSelect({ instance: this.instance }, { sql, db: 'shop', defaultProject: 'mindsdb', upTo: this.head, ...request }, services)
  }

  /** The whole answer of a SELECT. */
  async select(sql: string, request: Partial<SelectRequest> = {}) {
    let columns: readonly { name: string; type: string }[] = []
    const data: unknown[][] = []
    const texts: string[] = []
    let end: Extract<Frame, { end: unknown }>['end'] | undefined
    let served: Extract<Frame, { columns: unknown }>['served']
    for await (const frame of this.frames(sql, request)) {
      if ('columns' in frame) ({ columns, served } = { served: undefined, ...frame })
      else if ('rows' in frame) {
        texts.push(frame.rows.toString())
        data.push(...(JSON.parse(`[${frame.rows.toString()}]`) as unknown[][]))
      } else end = frame.end
    }
    return { names: columns.map(({ name }) => name), types: columns.map(({ type }) => type), data, text: texts.join(','), end, served }
  }

  /** The rows of a SELECT as CSV. */
  async csv(sql: string): Promise<string> {
    let rows = ''
    for await (const frame of this.frames(sql, { format: 'csv' })) if ('rows' in frame) rows += frame.rows.toString()
    return rows
  }

  async close(): Promise<void> {
    this.instance.closeSync()
    await rm(this.blobs, { recursive: true, force: true })
  }
}
