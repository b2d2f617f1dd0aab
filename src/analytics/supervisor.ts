import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join, resolve as resolvePath } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Problem } from '../errors.js'
import { dataPaths, type DataPaths } from '../log/data-directory.js'
import { Attempt, blamedFor, LostError } from './attempt.js'
import { Child, type Loss } from './child.js'
import { Gate } from './gate.js'
import { residentBytes } from './memory.js'
import { analyticsLimits, type AnalyticsLimits, type AnalyticsOptions } from './options.js'
import type { QueryStream, SelectRequest, TablesState } from './query.js'
import { RebuildRecord, type Rebuilds } from './rebuilds.js'
import { makeSocketDirectory } from './socket-directory.js'
import { exchangeTables } from './tables-file.js'

export type AnalyticsStatus = {
  ready: boolean
  state: TablesState
  /** Why SQL cannot be answered at the moment, if so. */
  stopped: string | undefined
  /** How far the tables are, as last heard. */
  position: number
  /** How many events the tables were behind the log when they last looked. */
  lag: number
  rebuilds: Rebuilds
  /** What last kept the tables from following the log. */
  lastError: string | undefined
  restarts: number
  /** Queries that were tried again after the process was lost under them. */
  retries: number
  /** How often the process was lost, by reason. */
  losses: Readonly<Record<Loss, number>>
  rssBytes: number
  running: number
  waiting: number
}

const backoffMaxMs = 10_000
const healthyAfterMs = 10_000
/** Tables that take longer to be built do not keep the service from starting. */
const buildWaitMs = 1_000
const stopWaitMs = 3_000
const respawnMs = 1_000
const idleLookMs = 10

/**
 * The analytics process under supervision: started, restarted, kept within its limits. Whatever a query does to the process,
 * only that query fails: those that have given no row yet are tried again.
 *
 * @example
 * const analytics = await Analytics.start({ dataDirectory: './data' })
 * const { columns, rows } = await analytics.query({ sql: 'SELECT 1', db: 'mindsdb', defaultProject: 'mindsdb', upTo: 0 })
 * for await (const chunk of rows) console.log(JSON.parse(`[${chunk}]`))
 */
export class Analytics {
  readonly #limits: AnalyticsLimits
  readonly #gate: Gate
  readonly #directory = makeSocketDirectory()
  readonly #paths: DataPaths
  #child: Child | undefined
  /** A process whose end is wanted: another one is started in its place when its tables have been exchanged. */
  #leaving: Child | undefined
  #purging: Promise<void> = Promise.resolve()
  #isStopping = false
  readonly #waiters = new Set<() => void>()
  #starts = 0
  #restarts = 0
  #retries = 0
  readonly #losses: Record<Loss, number> = { memory: 0, stuck: 0, blocked: 0, died: 0 }
  readonly #rebuilds: RebuildRecord
  #failures = 0
  #unready = 0
  #queries = 0
  #rssBytes = 0
  #watch: NodeJS.Timeout | undefined

  private constructor(private readonly options: AnalyticsOptions) {
    this.#limits = { ...analyticsLimits, ...options.limits }
    this.#paths = dataPaths(resolvePath(options.dataDirectory))
    this.#rebuilds = new RebuildRecord(this.#paths.rebuilds, options.logger)
    this.#gate = new Gate(this.#limits.concurrentMaxQueries, this.#limits.queueMaxQueries, this.#limits.streamingMaxAnswers)
  }

  /** Starts the process and waits until it answers, or is known to need longer: then `status()` tells why, and it goes on. */
  static async start(options: AnalyticsOptions): Promise<Analytics> {
    const analytics = new Analytics(options)
    analytics.#spawn()
    analytics.#watch = setInterval(() => void analytics.#watchMemory(), analytics.#limits.memorySampleMs)
    const from = performance.now()
    const until = from + analytics.#limits.startWaitMs
    for (let state = analytics.#child?.state; state && performance.now() < until; state = analytics.#child?.state) {
      if (state.ready || state.failed !== undefined || (state.starting && performance.now() >= from + buildWaitMs)) break
      await analytics.#change(state.starting ? from + buildWaitMs : until)
    }
    return analytics
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  status(): AnalyticsStatus {
    const state = this.#child?.state
    return {
      ready: state?.ready ?? false,
      state: this.#tablesState(),
      stopped: this.#whyStopped(),
      position: state?.position ?? 0,
      lag: state ? Math.max(0, state.head - state.position) : 0,
      rebuilds: this.#rebuilds.known ?? { count: 0, last: null },
      lastError: state?.lastError,
      restarts: this.#restarts,
      retries: this.#retries,
      losses: this.#losses,
      rssBytes: this.#rssBytes,
      running: this.#gate.running,
      waiting: this.#gate.waiting,
    }
  }

  /** The bytes of memory that the process holds now; 0 without one. */
  async residentBytes(): Promise<number> {
    return this.pid === undefined ? 0 : residentBytes(this.pid)
  }

  /**
   * Runs a SELECT and resolves with its first rows.
   * @throws Problem of the query itself; `query_limit` when it met a limit; `busy`, `analytics_unavailable`; the signal's reason
   */
  async query(request: SelectRequest, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<QueryStream> {
    let suspect = false
    for (let attempt = 1; attempt <= this.#limits.retriesMax; attempt++) {
      const ticket = await this.#gate.enter({ suspect, retried: attempt > 1, signal })
      const child = await this.#readyChild().catch((error: unknown) => {
        ticket.release()
        throw error
      })
      try {
        return await new Attempt(this.#queries++, child, ticket, this.#limits, signal).open(request)
      } catch (error) {
        if (!(error instanceof LostError)) throw error
        if (this.#isStopping) throw new Problem('busy', 'Service is stopping', 'The service is stopping.')
        this.#retries += 1
        if (error.loss === 'stuck' || !error.begun) continue
        if (suspect && error.alone) throw blamedFor(error.loss, this.#limits)
        suspect = true
      }
    }
    throw new Problem(
      'analytics_unavailable',
      'SQL process lost',
      'The process that answers SQL was lost under this query again and again.',
    )
  }

  /** Resolves when the process knows the master keys that are in use now: one that starts meanwhile is started with them. */
  async learnKeys(): Promise<void> {
    const keys = this.options.masterKeys?.().map((key) => key.toString('hex')) ?? []
    await this.#child?.learnKeys(keys)
  }

  /**
   * Writes a compact copy of the tables into a new file below `tmp/tables`, as they are at a position of the log or after it.
   * Gives the position. @throws Error that says why it could not
   */
  async copy(into: string, upTo: number): Promise<number> {
    return (await this.#readyChild()).copy(into, upTo)
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
      await this.#exchange(copied === undefined ? undefined : copy)
      await this.#opened()
    } finally {
      release()
    }
  }

  /** Ends the process and starts another one, on a copy of its tables if there is one. */
  async #exchange(copy: string | undefined): Promise<void> {
    const child = this.#child
    this.#leaving = child
    // Nothing of its file is needed any more, in good order or not.
    child?.kill('died')
    await child?.exited
    if (copy !== undefined && !this.#isStopping) exchangeTables(this.#paths, copy)
    await this.#respawn()
  }

  /** Waits until the process has opened its tables, or begun new ones: those that were there before are gone then. */
  async #opened(): Promise<void> {
    for (;;) {
      const { ready, built, starting, failed } = this.#child?.state ?? {}
      if (ready || built || starting) return
      if (this.#isStopping || failed !== undefined)
        throw new Problem('analytics_unavailable', 'SQL is not available', `The tables could not be purged: ${this.#whyStopped() ?? ''}`)
      await this.#change(performance.now() + this.#limits.startWaitMs)
    }
  }

  /** Ends the process and takes away what it left. */
  async stop(): Promise<void> {
    this.#isStopping = true
    clearInterval(this.#watch)
    const child = this.#child
    if (child) {
      child.disconnect()
      await Promise.race([child.exited, sleep(stopWaitMs, undefined, { ref: false })])
      child.kill('died')
      await child.exited
    }
    rmSync(this.#directory, { recursive: true, force: true })
  }

  #spawn(): void {
    if (this.#isStopping) return
    const { dataDirectory, masterKeys, entry, tables = 'file' } = this.options
    const before = this.#child?.state
    const settings = {
      ...this.#limits,
      dataDirectory: resolvePath(dataDirectory),
      masterKeys: masterKeys?.().map((key) => key.toString('hex')) ?? [],
      socket: `${this.#directory}/${this.#starts++}.sock`,
      // Twice dead before it was ready: something in the file kills it, and the log has everything that is in the file.
      rebuild: this.#unready >= 2,
      tables,
      rebuilds: this.#rebuilds.known,
      lastError: before?.lastError ?? null,
    }
    const child = new Child(entry ?? fileURLToPath(new URL('process.js', import.meta.url)), settings, () => {
      this.#rebuilds.note(child.state.rebuilds)
      this.#tellChange()
    })
    if (before) Object.assign(child.state, { position: before.position, head: before.head, lastError: before.lastError })
    this.#child = child
    void child.exited.then(() => this.#restart(child))
  }

  async #restart(child: Child): Promise<void> {
    this.#tellChange()
    if (this.#isStopping || child === this.#leaving) return
    if (child.state.built) return this.#respawn()
    this.#restarts += 1
    this.#losses[child.loss] += 1
    this.options.logger?.warn(
      { loss: child.loss, reason: child.state.failed, pid: child.pid },
      'the analytics process ended; starting another one',
    )
    const lived = performance.now() - child.startedAt
    this.#unready = child.state.ready || child.state.failed ? 0 : this.#unready + 1
    if (child.loss !== 'died' || lived > healthyAfterMs) this.#failures = 0
    const delayMs = this.#failures === 0 ? 0 : Math.min(backoffMaxMs, 100 * 2 ** this.#failures)
    if (child.loss === 'died') this.#failures += 1
    if (delayMs > 0) await sleep(delayMs, undefined, { ref: false })
    // A purge may have put another one in its place meanwhile.
    if (this.#child === child) await this.#respawn()
  }

  /** Without memory or file descriptors to spare no process can be started; that passes, and REST goes on meanwhile. */
  async #respawn(): Promise<void> {
    for (;;)
      try {
        this.#spawn()
        return
      } catch (error) {
        this.options.logger?.warn({ err: error }, 'no analytics process could be started; trying again')
        await sleep(respawnMs, undefined, { ref: false })
      }
  }

  /** A process that answers. Waits for one that is about to, but not for long tables to be built. */
  async #readyChild(): Promise<Child> {
    const until = performance.now() + this.#limits.startWaitMs
    for (;;) {
      const child = this.#child
      if (child?.state.ready && !child.isOver) return child
      if (this.#isStopping || performance.now() >= until) {
        throw new Problem(
          'analytics_unavailable',
          'SQL is not available',
          this.#whyStopped() ?? 'The process that answers SQL is starting.',
          {
            retryAfterSeconds: 1,
          },
        )
      }
      await this.#change(until)
    }
  }

  #tablesState(): TablesState {
    const state = this.#child?.state
    if (!state || this.#isStopping || state.failed !== undefined || state.stopped !== undefined) return 'stopped'
    return state.ready ? 'following' : 'building'
  }

  #whyStopped(): string | undefined {
    const state = this.#child?.state
    if (!state || this.#isStopping) return 'The process that answers SQL has ended.'
    if (state.failed !== undefined) return `The process that answers SQL cannot start: ${state.failed}.`
    if (!state.ready && state.starting) return `The tables are being built: ${state.starting.position} of ${state.starting.head} events.`
    return state.ready ? state.stopped : 'The process that answers SQL is starting.'
  }

  #tellChange(): void {
    for (const wake of this.#waiters) wake()
    this.#waiters.clear()
  }

  /** Waits until something is new about the process, or until a time. */
  async #change(until: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiters.add(resolve)
      setTimeout(resolve, Math.max(1, until - performance.now())).unref()
    })
  }

  async #watchMemory(): Promise<void> {
    const child = this.#child
    if (!child?.pid || child.isOver || (child.running.size === 0 && this.#gate.running === 0)) return
    this.#rssBytes = await residentBytes(child.pid)
    if (this.#rssBytes > this.#limits.memoryMaxBytes && child.running.size > 0) child.kill('memory')
  }
}
