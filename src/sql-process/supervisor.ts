import { rmSync } from 'node:fs'
import { resolve as resolvePath } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { growingWait, type GrowingWaits } from '../basics/concurrency/growing-wait.js'
import { Problem } from '../basics/errors.js'
import { dataPaths } from '../setup/data-directory.js'
import { programFile } from '../setup/package.js'
import { SqlChildProcess, type Loss } from './child-process.js'
import { residentBytes } from '../basics/resident-memory.js'
import { endOrphan, withoutHolder } from './orphan-process.js'
import type { SqlProcessLimits, SqlProcessOptions } from './contract/options.js'
import type { TablesState } from '../sql/relations/projections.js'
import { Heartbeat } from './heartbeat.js'
import type { ChildMessage } from './contract/messages.js'
import { RebuildRecord, type Rebuilds } from './contract/rebuilds.js'
import { makeSocketDirectory } from '../basics/socket-directory.js'

/** The state of the process, and the ends of the processes before it. */
export type ProcessStatus = {
  ready: boolean
  state: TablesState
  /** If SQL is not available at the moment, the reason. */
  stopped: string | undefined
  /** The last known position of the tables. */
  position: number
  /** How many events the tables were behind the log when they last looked. */
  lag: number
  rebuilds: Rebuilds
  /** The last reason why the tables could not follow the log. */
  lastError: string | undefined
  restarts: number
  /** How often the process ended, by reason. It is not counted when it is replaced on purpose. */
  losses: Readonly<Record<CountedLoss, number>>
  rssBytes: number
}

type CountedLoss = Exclude<Loss, 'replaced'>

/** The waits before a process is started again that did not live long. */
const restartWaits: GrowingWaits = { firstWaitMs: 200, factor: 2, maxWaitMs: 10_000 }
const healthyAfterMs = 10_000
/** The service starts without waiting longer than this for tables that are being built. */
const buildWaitMs = 1_000
const stopWaitMs = 3_000
const respawnMs = 1_000
const keepsRights = 'the process that answers SQL keeps rights that it should have given up'

const noConnections = () => Promise.reject(new Problem('not_found', 'Database not found', 'There are no connected databases here'))

/**
 * Keeps an SQL process running: starts it, replaces a process that ended, and ends a process that uses too much memory for its
 * queries.
 *
 * @example
 * const supervisor = new Supervisor(options, limits, () => admission.running > 0)
 * await supervisor.start()
 * await supervisor.readyChild()
 */
export class Supervisor {
  readonly #directory = makeSocketDirectory()
  readonly #rebuilds: RebuildRecord
  #child: SqlChildProcess | undefined
  /** Nobody else may start a process now: it would open the tables that are being replaced. */
  #isReplacing = false
  #isStopping = false
  readonly #waiters = new Set<() => void>()
  #starts = 0
  #restarts = 0
  readonly #losses: Record<CountedLoss, number> = { memory: 0, stuck: 0, blocked: 0, other_rows: 0, died: 0 }
  #failures = 0
  #unready = 0
  #rssBytes = 0
  #watch: NodeJS.Timeout | undefined
  #heartbeat: Heartbeat | undefined
  #beat: NodeJS.Timeout | undefined
  #confinement: string | undefined

  constructor(
    private readonly options: SqlProcessOptions,
    private readonly limits: SqlProcessLimits,
    private readonly isBusy: () => boolean,
  ) {
    this.#rebuilds = new RebuildRecord(dataPaths(resolvePath(options.dataDirectory)).rebuilds, options.logger)
  }

  /** Starts the process. Waits until it answers, or until it is known to need longer: then the status says why, and the start goes on. */
  async start(): Promise<void> {
    void this.#respawn(undefined)
    this.#watch = setInterval(() => void this.#watchMemory(), this.limits.memorySampleMs)
    this.#beat = setInterval(() => this.#watchHeartbeat(), this.limits.pingIntervalMs)
    const from = performance.now()
    const until = from + this.limits.startWaitMs
    for (let state = this.child?.state; state && performance.now() < until; state = this.child?.state) {
      if (state.ready || state.failed !== undefined || (state.starting && performance.now() >= from + buildWaitMs)) break
      await this.#change(state.starting ? from + buildWaitMs : until)
    }
  }

  get child(): SqlChildProcess | undefined {
    return this.#child
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  /** How the process and its tables are now: positions of the log, memory in bytes, and why the process ended before. */
  status(): ProcessStatus {
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
      losses: this.#losses,
      rssBytes: this.#rssBytes,
    }
  }

  /** The warning for an operator if a statement that escaped every check could do more than it should. The log has the reason. */
  warning(): string | undefined {
    if (this.#confinement === undefined || this.#confinement === 'landlock') return undefined
    return `${keepsRights}: see the log of the service`
  }

  /** A process that answers. Waits for one that is starting, but not for tables that take long to be built. */
  async readyChild(): Promise<SqlChildProcess> {
    const until = performance.now() + this.limits.startWaitMs
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

  /**
   * The head of the log when the tables were begun. Waits for a process that is opening them: it copies old tables by itself. Undefined if
   * they cannot be opened.
   */
  async begunAt(): Promise<number | undefined> {
    for (;;) {
      const { begunAt, failed } = this.#child?.state ?? {}
      if (!this.#child || begunAt !== undefined || failed !== undefined || this.#isStopping) return begunAt
      await this.#change(performance.now() + this.limits.startWaitMs)
    }
  }

  /** Ends the process, runs a task while there is none, starts another process, and waits until that has opened its tables. */
  async replace(between: () => Promise<void>): Promise<void> {
    const child = this.#child
    this.#isReplacing = true
    try {
      // Its file is no longer needed, so the process need not close it properly.
      child?.kill('replaced')
      await child?.exited
      if (!this.#isStopping) await between()
    } finally {
      this.#isReplacing = false
    }
    await this.#respawn(child)
    await this.#opened()
  }

  /** Waits until the process has opened its tables, or has begun new ones; then the old tables are gone. It says first that it starts. */
  async #opened(): Promise<void> {
    for (;;) {
      const { ready, built, starting, failed, rebuilds } = this.#child?.state ?? {}
      if (ready || built || (starting && rebuilds)) return
      if (this.#isStopping || failed !== undefined)
        throw new Problem('analytics_unavailable', 'SQL is not available', `The tables could not be purged: ${this.#whyStopped() ?? ''}`)
      await this.#change(performance.now() + this.limits.startWaitMs)
    }
  }

  /** Ends the process and removes its files. */
  async stop(): Promise<void> {
    this.#isStopping = true
    clearInterval(this.#watch)
    clearInterval(this.#beat)
    const child = this.#child
    if (child) {
      child.disconnect()
      await Promise.race([child.exited, sleep(stopWaitMs, undefined, { ref: false })])
      child.kill('died')
      await child.left()
    }
    rmSync(this.#directory, { recursive: true, force: true })
  }

  get #entry(): string {
    return this.options.entry ?? programFile('sql-process')
  }

  #spawn(): void {
    if (this.#isStopping) return
    const { dataDirectory, masterKeys, answerQuestion = noConnections, holdBlob } = this.options
    const before = this.#child?.state
    const settings = {
      ...this.limits,
      dataDirectory: resolvePath(dataDirectory),
      masterKeys: masterKeys?.().map((key) => key.toString('hex')) ?? [],
      socket: `${this.#directory}/${this.#starts++}.sock`,
      // It died twice before it was ready: something in the file kills it. The file can be dropped, because the log has all its data.
      rebuild: this.#unready >= 2,
      rebuilds: this.#rebuilds.known,
      lastError: before?.lastError ?? null,
      asksForBlobs: holdBlob !== undefined,
    }
    const onChange = (kind: ChildMessage['kind']) => {
      if (kind === 'opened') this.#noteOpened(child.state)
      if (child.state.foreign !== undefined) this.options.onForeign?.(child.state.foreign)
      this.#tellChange()
    }
    const child: SqlChildProcess = new SqlChildProcess(this.#entry, settings, onChange, answerQuestion, holdBlob)
    if (before) {
      const { position, head, lastError, trouble } = before
      Object.assign(child.state, { position, head, lastError, trouble })
    }
    this.#child = child
    this.#heartbeat = new Heartbeat(child, this.limits.silentMaxPings)
    void child.exited.then(() => this.#restart(child))
  }

  /** Keeps the count of rebuilds, and logs once why the process keeps a right that it should have given up. */
  #noteOpened({ rebuilds, confinement }: SqlChildProcess['state']): void {
    this.#rebuilds.note(rebuilds)
    if (confinement === undefined || confinement === this.#confinement) return
    this.#confinement = confinement
    if (confinement !== 'landlock') this.options.logger?.warn({ reason: confinement }, keepsRights)
  }

  async #restart(child: SqlChildProcess): Promise<void> {
    this.#tellChange()
    // The code that replaces a process starts the next one.
    if (this.#isStopping || child.loss === 'replaced') return
    if (child.state.built) return this.#respawn(child)
    this.#restarts += 1
    this.#losses[child.loss] += 1
    this.options.logger?.warn(
      { loss: child.loss, reason: child.state.failed ?? child.state.ending, pid: child.pid },
      'the SQL process ended; starting another one',
    )
    const orphan = child.state.failed === undefined ? undefined : endOrphan(child.state.failed, this.#entry)
    if (orphan !== undefined) this.options.logger?.warn({ pid: orphan }, 'ended a process for SQL that an earlier server had left behind')
    const lived = performance.now() - child.startedAt
    const { ready, failed, ending } = child.state
    this.#unready = ready || failed !== undefined || ending !== undefined ? 0 : this.#unready + 1
    const isOwnEnd = child.loss === 'died' || child.loss === 'other_rows'
    // One of its queries ended the process. The other queries need the next process at once.
    if (!isOwnEnd || lived > healthyAfterMs || child.runningAtLoss > 0) this.#failures = 0
    const delayMs = this.#failures === 0 ? 0 : growingWait(this.#failures, restartWaits)
    if (isOwnEnd) this.#failures += 1
    if (delayMs > 0) await sleep(delayMs, undefined, { ref: false })
    await this.#respawn(child)
  }

  /**
   * Starts a process after another one, unless a purge has replaced that or is about to. No process can start while memory or file
   * descriptors are short. The service tries again, and REST goes on meanwhile.
   */
  async #respawn(after: SqlChildProcess | undefined): Promise<void> {
    while (this.#child === after && !this.#isReplacing)
      try {
        this.#spawn()
        return
      } catch (error) {
        this.options.logger?.warn({ err: error }, 'no SQL process could be started; trying again')
        const reason = /E[A-Z]+: ([^,]+)/.exec(String(error))?.[1] ?? 'the system refused it'
        if (this.#child) this.#child.state.failed = this.#child.state.lastError = `No process could be started: ${reason}`
        this.#tellChange()
        await sleep(respawnMs, undefined, { ref: false })
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
    if (state.failed !== undefined) return `The process that answers SQL cannot start: ${withoutHolder(state.failed)}.`
    if (!state.ready && state.starting) return `The tables are being built: ${state.starting.position} of ${state.starting.head} events.`
    if (state.trouble !== undefined) return state.trouble
    if (!state.ready) return 'The process that answers SQL is starting.'
    if (this.#heartbeat?.isSilent) return 'The process that answers SQL gives no sign of life.'
    return state.stopped
  }

  #tellChange(): void {
    for (const wake of this.#waiters) wake()
    this.#waiters.clear()
  }

  /** Waits until the state of the process changes, or until a time. */
  async #change(until: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiters.add(resolve)
      setTimeout(resolve, Math.max(1, until - performance.now())).unref()
    })
  }

  /**
   * Replaces a process that does not answer, even if no query waits for it. While it executes queries, their deadlines decide first: a
   * model in a query may keep it busy for that long, and that query then gets the error. The read of a training has a late deadline.
   */
  #watchHeartbeat(): void {
    const child = this.#child
    if (!child || child.isOver) return
    this.#heartbeat?.beat()
    if (!this.#heartbeat?.isSilent) return
    const silentMs = this.#heartbeat.unanswered * this.limits.pingIntervalMs
    if (child.awaited.size === 0 || silentMs > this.limits.timeoutMs) child.kill('blocked')
  }

  async #watchMemory(): Promise<void> {
    const child = this.#child
    if (!child?.pid || child.isOver || (child.running.size === 0 && !this.isBusy())) return
    this.#rssBytes = await residentBytes(child.pid)
    if (this.#rssBytes > this.limits.memoryMaxBytes && child.running.size > 0) child.kill('memory')
  }
}
