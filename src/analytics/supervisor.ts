/**
 * Room: the server's side of the SQL process: it starts, watches and ends it, and gives queries their turns. It imports events, basics,
 * setup, sql, files and analytics/contract alone.
 */

import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join, resolve as resolvePath } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError } from '../setup/config.js'
import { Problem, stopping } from '../basics/errors.js'
import { dataPaths, exchangeTables, olderLog, type DataPaths } from '../setup/data-directory.js'
import { Attempt, blamedFor, PreemptedError, LostError } from './attempt.js'
import type { Child } from './child.js'
import { Gate, type Suspect } from './gate.js'
import { Keeper, type ProcessStatus } from './keeper.js'
import { residentBytes } from '../basics/resident-memory.js'
import { analyticsLimits, type AnalyticsLimits, type AnalyticsOptions } from './contract/options.js'
import type { SelectAnswer, SelectOptions, SelectRequest, SelectService } from '../sql/contract/select.js'

export type AnalyticsStatus = ProcessStatus & {
  /** Queries that were tried again after the process was lost under them. */
  retries: number
  running: number
  waiting: number
}

const idleLookMs = 10

/**
 * SQL over the tables, in a process that is kept alive and within its limits. Whatever a query does to the process,
 * only that query fails: those that have given no row yet are tried again.
 *
 * @example
 * const analytics = await Analytics.start({ dataDirectory: './data' })
 * const { columns, rows } = await analytics.query({ sql: 'SELECT 1', db: 'mindsdb', defaultProject: 'mindsdb', upTo: 0 })
 * for await (const chunk of rows) console.log(JSON.parse(`[${chunk}]`))
 */
export class Analytics implements SelectService {
  readonly #limits: AnalyticsLimits
  readonly #gate: Gate
  readonly #keeper: Keeper
  readonly #paths: DataPaths
  #purging: Promise<void> = Promise.resolve()
  #retries = 0
  #queries = 0

  private constructor(private readonly options: AnalyticsOptions) {
    this.#limits = { ...analyticsLimits, ...options.limits }
    this.#paths = dataPaths(resolvePath(options.dataDirectory))
    this.#gate = new Gate(this.#limits)
    this.#keeper = new Keeper(options, this.#limits, () => this.#gate.running > 0)
  }

  /**
   * Starts the process. Waits until it answers, or is known to need longer; `status()` tells why, and it goes on starting.
   * @throws ConfigError when the tables have followed events that the log does not have
   */
  static async start(options: AnalyticsOptions): Promise<Analytics> {
    const analytics = new Analytics(options)
    await analytics.#keeper.start()
    const foreign = analytics.#keeper.child?.state.foreign
    if (foreign === undefined) return analytics
    await analytics.stop()
    throw new ConfigError(olderLog(foreign, `delete ${analytics.#paths.analytics}`))
  }

  get pid(): number | undefined {
    return this.#keeper.child?.pid
  }

  status(): AnalyticsStatus {
    return { ...this.#keeper.status(), retries: this.#retries, running: this.#gate.running, waiting: this.#gate.waiting }
  }

  /** The bytes of memory that the process holds now; 0 without one. */
  async residentBytes(): Promise<number> {
    return this.pid === undefined ? 0 : residentBytes(this.pid)
  }

  /**
   * Runs a SELECT and resolves with its first rows. `client` is who asks: clients take turns, and each has its share of the places.
   * @throws Problem of the query itself; `query_limit` when it met a limit; `busy`, `analytics_unavailable`; the signal's reason
   */
  async query(request: SelectRequest, { signal, client }: SelectOptions = {}): Promise<SelectAnswer> {
    let suspect: Suspect | undefined
    let long = false
    let isNew = true
    /** The processes that were lost under it, and the last one that was lost while this query was tried as the only long one. */
    const lost: Child[] = []
    let triedOn: Child | undefined
    for (let losses = 0; losses < this.#limits.retriesMax;) {
      const ticket = await this.#gate.enter({ client, suspect, long, retried: !isNew, signal })
      isNew = false
      const child = await this.#keeper.readyChild().catch((error: unknown) => {
        ticket.release()
        throw error
      })
      try {
        return await new Attempt(this.#queries++, child, ticket, this.#limits, signal).open(request)
      } catch (error) {
        if (error instanceof PreemptedError) {
          long = true
          continue
        }
        if (!(error instanceof LostError)) throw error
        losses += 1
        if (this.#keeper.isStopping) throw stopping()
        this.#retries += 1
        // Another query, or no query at all, was the cause.
        if (error.loss === 'stuck' || error.loss === 'other_rows' || !error.begun) continue
        lost.push(child)
        // Those that executed beside it the last time have been tried since: when it was none of them, it was this one.
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

  /** Resolves when the process knows the master keys that are in use now. A process that starts meanwhile is started with them. */
  async learnKeys(): Promise<void> {
    const keys = this.options.masterKeys?.().map((key) => key.toString('hex')) ?? []
    await this.#keeper.child?.learnKeys(keys)
  }

  /**
   * Writes a compact copy of the tables into a new file below `tmp/tables`, as they are at a position of the log or after it.
   * Gives the position. @throws Error that says why it could not
   */
  async copy(into: string, upTo: number): Promise<number> {
    return (await this.#keeper.readyChild()).copy(into, upTo)
  }

  /**
   * Resolves when the tables' files hold no byte of what was erased up to a position. A copy of the tables takes their place,
   * and a new process that of the old one; queries wait meanwhile. Where there can be no copy, the new process builds the
   * tables from the log.
   */
  async purge(upTo: number): Promise<void> {
    const purged = this.#purging.then(() => this.#purge(upTo))
    this.#purging = purged.catch(() => undefined)
    return purged
  }

  async #purge(upTo: number): Promise<void> {
    const copy = join(this.#paths.tables, `${randomUUID()}.duckdb`)
    const copied = await this.copy(copy, upTo).catch((err: unknown) => {
      this.options.logger?.warn({ err }, 'the tables cannot be copied; they are built anew')
      return undefined
    })
    const release = this.#gate.hold()
    try {
      const until = performance.now() + this.#limits.purgeWaitMs
      while (this.#gate.running > 0 && performance.now() < until) await sleep(idleLookMs)
      await this.#keeper.replace(() => {
        if (copied !== undefined) this.#exchange(copy)
      })
    } finally {
      release()
    }
  }

  /** A failure here must not leave the service without a process: the next one finds the old tables and builds them anew. */
  #exchange(copy: string): void {
    try {
      exchangeTables(this.#paths, copy)
    } catch (err) {
      this.options.logger?.warn({ err }, 'the copy of the tables cannot be put in their place; they are built anew')
      rmSync(copy, { force: true })
    }
  }

  /** Ends the process and takes away what it left. */
  async stop(): Promise<void> {
    await this.#keeper.stop()
  }
}
