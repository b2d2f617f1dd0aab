import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SqlProcess } from '../../../src/sql-process/sql-process.js'
import type { AnswerQuestion, SqlProcessLimits } from '../../../src/sql-process/contract/options.js'
import { isProblem, type Problem } from '../../../src/basics/errors.js'
import { removeDirectory } from '../directories.js'
import { streamOf } from '../log/memory-log.js'
import { SqliteLog } from '../log/sqlite-log.js'

export const rawProcess = fileURLToPath(new URL('../../bin/raw-process.js', import.meta.url))

export const skill = (n: number) => ({
  stream: streamOf(n),
  type: 'SkillCreated',
  data: { project: streamOf(1), name: `skill ${n}`, type: 'sql', params: {} },
})

/** An SQL process over its own log, and the clean-up after a test. */
export class Bench {
  readonly directory = mkdtempSync(join(tmpdir(), 'bench-'))
  readonly log = new SqliteLog(this.directory)
  sqlProcess!: SqlProcess

  static async open(
    limits: Partial<SqlProcessLimits> = {},
    prepare: (bench: Bench) => void = () => undefined,
    answerQuestion?: AnswerQuestion,
  ): Promise<Bench> {
    const bench = new Bench()
    prepare(bench)
    await bench.start(limits, answerQuestion)
    return bench
  }

  async start(limits: Partial<SqlProcessLimits> = {}, answerQuestion?: AnswerQuestion): Promise<void> {
    // A busy machine may start a process slowly, and keep it waiting for long; only some tests depend on these times.
    this.sqlProcess = await SqlProcess.start({
      dataDirectory: this.directory,
      entry: rawProcess,
      limits: { startWaitMs: 20 * 60_000, silentMaxPings: 600, ...limits },
      ...(answerQuestion && { answerQuestion }),
    })
  }

  /** Whether `test: block` currently stops the process from receiving messages. */
  get isBlocked(): boolean {
    return existsSync(join(this.directory, 'tables', 'blocked'))
  }

  /** All rows of a query. */
  async ask(sql: string, options: { upTo?: number; signal?: AbortSignal; client?: string; timeoutMs?: number } = {}): Promise<unknown[]> {
    const { upTo = this.log.log.head(), signal, client, timeoutMs } = options
    const request = { sql, db: 'mindsdb', defaultProject: 'mindsdb', upTo, ...(timeoutMs !== undefined && { timeoutMs }) }
    const stream = await this.sqlProcess.query(request, { signal, client })
    const rows: unknown[] = []
    let next = await stream.rows.next()
    for (; next.done !== true; next = await stream.rows.next()) rows.push(...(JSON.parse(`[${next.value.toString()}]`) as unknown[]))
    if (next.value?.rows !== rows.length) throw new Error('the end counts other rows')
    return rows
  }

  /** The same; undefined if the process was lost between a row and its end, as on a busy machine. */
  async askUncut(sql: string, options: Parameters<Bench['ask']>[1] = {}): Promise<unknown[] | undefined> {
    return this.ask(sql, options).catch((error: unknown) => {
      if (!isProblem(error) || error.title !== 'Answer cut off') throw error
      return undefined
    })
  }

  /** The problem of a query that fails. */
  async refusal(sql: string, options: Parameters<Bench['ask']>[1] = {}): Promise<Problem> {
    const error: unknown = await this.ask(sql, options).then(
      (rows) => new Error(`expected a problem, got ${rows.length} rows`),
      (e: unknown) => e,
    )
    if (!isProblem(error)) throw error as Error
    return error
  }

  async close(): Promise<void> {
    await this.sqlProcess.stop()
    this.log.close()
    removeDirectory(this.directory)
  }
}
