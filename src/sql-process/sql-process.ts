/**
 * Room: the server's side of the SQL process: it starts, watches and ends it, and gives queries their turns. It imports only events,
 * basics, setup, sql, files and sql-process/contract.
 */

import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join, resolve as resolvePath } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError } from '../setup/config.js'
import { Problem, stopping } from '../basics/errors.js'
import { dataPaths, exchangeTables, filesOfTables, olderLog, type DataPaths } from '../setup/data-directory.js'
import { QueryAttempt, blamedFor, PreemptedError, LostError } from './query-attempt.js'
import type { SqlChildProcess } from './child-process.js'
import { QueryAdmission, type Suspect } from './query-admission.js'
import { Supervisor, type ProcessStatus } from './supervisor.js'
import { residentBytes } from '../basics/resident-memory.js'
import { sqlProcessLimits, type SqlProcessLimits, type SqlProcessOptions } from './contract/options.js'
import type { SelectAnswer, SelectOptions, SelectRequest, SelectService } from '../sql/contract/select.js'

export type SqlProcessStatus = ProcessStatus & {
  /** Queries that ran again because the process had ended under them. */
  retries: number
  running: number
  waiting: number
}

const idleLookMs = 10

/** A copy of the tables, and the position of the log up to which it has all events. */
type TablesCopy = { file: string; position: number }

/**
 * SQL over the tables, in a process that is kept running and within its limits. If a query ends the process, only that query fails: the
 * other queries without a row so far run again.
 *
 * @example
 * const sqlProcess = await SqlProcess.start({ dataDirectory: './data' })
 * const { columns, rows } = await sqlProcess.query({ sql: 'SELECT 1', db: 'mindsdb', defaultProject: 'mindsdb', upTo: 0 })
 * for await (const chunk of rows) console.log(JSON.parse(`[${chunk}]`))
 */
export class SqlProcess implements SelectService {
  readonly #limits: SqlProcessLimits
  readonly #admission: QueryAdmission
  readonly #supervisor: Supervisor
  readonly #paths: DataPaths
  #purging: Promise<void> = Promise.resolve()
  #retries = 0
  #queries = 0

  private constructor(private readonly options: SqlProcessOptions) {
    this.#limits = { ...sqlProcessLimits, ...options.limits }
    this.#paths = dataPaths(resolvePath(options.dataDirectory))
    this.#admission = new QueryAdmission(this.#limits)
    this.#supervisor = new Supervisor(options, this.#limits, () => this.#admission.running > 0)
  }

  /**
   * Starts the process. Waits until it answers, or until it is known to need longer: then `status()` says why, and the start goes on.
   * @throws ConfigError when the tables have followed events that the log does not have
   */
  static async start(options: SqlProcessOptions): Promise<SqlProcess> {
    const sqlProcess = new SqlProcess(options)
    await sqlProcess.#supervisor.start()
    const foreign = sqlProcess.#supervisor.child?.state.foreign
    if (foreign === undefined) return sqlProcess
    await sqlProcess.stop()
    throw new ConfigError(olderLog(foreign, `delete ${sqlProcess.#paths.tablesFile}`))
  }

  get pid(): number | undefined {
    return this.#supervisor.child?.pid
  }

  status(): SqlProcessStatus {
    return { ...this.#supervisor.status(), retries: this.#retries, running: this.#admission.running, waiting: this.#admission.waiting }
  }

  /** Whether it can answer queries now: it runs, and its tables follow the log. */
  get isReady(): boolean {
    return this.status().stopped === undefined
  }

  /** The warning for an operator; undefined when nothing is wrong. */
  warning(): string | undefined {
    return this.#supervisor.warning()
  }

  /** The bytes of memory that the process holds now; 0 without one. */
  async residentBytes(): Promise<number> {
    return this.pid === undefined ? 0 : residentBytes(this.pid)
  }

  /**
   * Runs a SELECT and resolves with its first rows. Clients (`client`) take turns, and each has its share of the places.
   * @throws Problem of the query itself; `query_limit` when it reached a limit; `busy`, `analytics_unavailable`; the signal's reason
   */
  async query(request: SelectRequest, { signal, client }: SelectOptions = {}): Promise<SelectAnswer> {
    let suspect: Suspect | undefined
    let long = false
    let isNew = true
    /** The number of processes that ended under it, and the last of them that ended while this was the only long query. */
    const lost: SqlChildProcess[] = []
    let triedOn: SqlChildProcess | undefined
    for (let losses = 0; losses < this.#limits.retriesMax;) {
      const ticket = await this.#admission.enter({ client, suspect, long, retried: !isNew, signal })
      isNew = false
      const child = await this.#supervisor.readyChild().catch((error: unknown) => {
        ticket.release()
        throw error
      })
      try {
        return await new QueryAttempt(this.#queries++, child, ticket, this.#limits, signal).open(request)
      } catch (error) {
        if (error instanceof PreemptedError) {
          long = true
          continue
        }
        if (!(error instanceof LostError)) throw error
        losses += 1
        if (this.#supervisor.isStopping) throw stopping()
        this.#retries += 1
        // Another query, or no query at all, was the cause.
        if (error.loss === 'stuck' || error.loss === 'other_rows' || error.loss === 'replaced' || !error.begun) continue
        lost.push(child)
        // The queries beside it at the last loss have run since: if none of them was the cause, this query is.
        if (suspect && (error.alone || (ticket.isOnlyLong && triedOn?.isExplained === false))) {
          for (const each of lost) each.isExplained = true
          throw blamedFor(error.loss, this.#limits)
        }
        if (ticket.isOnlyLong) triedOn = child
        suspect = { ranMs: Math.max(error.ranMs, suspect?.ranMs ?? 0) }
        long ||= suspect.ranMs >= this.#limits.quickMs
      }
    }
    throw new Problem(
      'analytics_unavailable',
      'SQL process lost',
      'The process that answers SQL was lost under this query again and again.',
    )
  }

  /** Resolves when the process has the current master keys. A process that starts meanwhile gets them at its start. */
  async learnKeys(): Promise<void> {
    const keys = this.options.masterKeys?.().map((key) => key.toString('hex')) ?? []
    await this.#supervisor.child?.learnKeys(keys)
  }

  /**
   * Writes a compact copy of the tables into a new file below `tmp/tables`, at a log position or a later one. Returns the position of the
   * copy. If the copying fails, no half of the file stays. @throws Error that says why it could not
   */
  async copy(into: string, upTo: number): Promise<number> {
    const child = await this.#supervisor.readyChild()
    return child.copy(into, upTo).catch(async (error: unknown) => {
      // A process that ended cannot remove what it wrote.
      if (child.isOver) for (const file of filesOfTables(into)) await rm(file, { recursive: true, force: true })
      throw error
    })
  }

  /**
   * Resolves when the tables' files have no byte of erased data. A copy replaces the tables, and a new process replaces the old one; queries
   * wait meanwhile. If no copy is possible, the new process purges the tables when it opens them. Nothing is done if the tables were begun
   * after the last erasure: erased data never came into their file. `erasedAt` tells the position of the last erasure.
   */
  async purge(erasedAt: () => Promise<number>): Promise<void> {
    const purged = this.#purging.then(() => this.#purge(erasedAt))
    this.#purging = purged.catch(() => undefined)
    return purged
  }

  async #purge(erasedAt: () => Promise<number>): Promise<void> {
    const begun = (await this.#supervisor.begunAt()) ?? -1
    if (begun >= (await erasedAt().catch(() => Infinity))) return
    let copy = await this.#copied(erasedAt)
    const release = this.#admission.hold()
    try {
      const until = performance.now() + this.#limits.purgeWaitMs
      while (this.#admission.running > 0 && performance.now() < until) await sleep(idleLookMs)
      copy &&= await this.#copied(erasedAt, copy)
      await this.#supervisor.replace(async () => {
        if (copy) await this.#exchange(copy.file)
      })
    } finally {
      release()
    }
  }

  /**
   * A copy of the tables without erased data: the earlier copy, if it has none. Data that is erased during the copying may be in the copy,
   * and no process would open it, so then it is made again.
   */
  async #copied(erasedAt: () => Promise<number>, earlier?: TablesCopy): Promise<TablesCopy | undefined> {
    let copy = earlier
    try {
      for (let erased = await erasedAt(); !copy || copy.position < erased; erased = await erasedAt()) {
        if (copy) await rm(copy.file, { force: true })
        const file = join(this.#paths.tables, `${randomUUID()}.duckdb`)
        copy = { file, position: await this.copy(file, erased) }
      }
      return copy
    } catch (err) {
      this.options.logger?.warn({ err }, 'the tables cannot be copied; the next process purges them')
      if (copy) await rm(copy.file, { force: true })
      return undefined
    }
  }

  /** A failure here must not leave the service without a process: the next process purges the old tables. */
  async #exchange(copy: string): Promise<void> {
    try {
      await exchangeTables(this.#paths, copy)
    } catch (err) {
      this.options.logger?.warn({ err }, 'the copy of the tables cannot be put in their place; the next process purges them')
      await rm(copy, { force: true })
    }
  }

  /** Ends the process and removes its files. */
  async stop(): Promise<void> {
    await this.#supervisor.stop()
  }
}
