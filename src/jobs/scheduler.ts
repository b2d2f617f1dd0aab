/** Room: statements on a schedule. It imports only events, basics, log/contract, log/read, dialect, sql and commands. */

import { v7 as uuidv7 } from 'uuid'
import { instant } from '../../events/stored/envelope.js'
import type { StreamId } from '../../events/common.js'
import { secretKey } from '../../events/secrets.js'
import { nothingSeen, type Job, type JobRun, type JobStatementResult } from '../../events/job.js'
import type { LedgerCommand } from '../commands/dispatch.js'
import type { Ledger } from '../commands/ledger.js'
import { isProblem, Problem } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { causeAt } from '../log/contract/origins.js'
import { retryWhileBusy } from '../basics/concurrency/retry.js'
import { lastEventWith } from '../log/read/slices.js'
import type { Lease, Leases } from '../log/contract/leases.js'
import type { Log, Resource, Origin, Outcome } from '../log/contract/log.js'
import { errorMessage } from '../sql/contract/answer.js'
import { hiderOf } from '../dialect/mask-secrets.js'
import type { JobClock } from './clock.js'
import { dueAt } from '../commands/rules/schedule.js'
import { runStatements, type SqlExecutor, type JobWork, type RunEnd } from './run.js'
import type { Logger } from '../basics/logger.js'

type Options = {
  ledger: Ledger
  log: Log
  leases: Leases
  engine: SqlExecutor
  clock: JobClock
  logger: Logger
  runningMax?: number
}

/** The reason why a run is aborted before its statements end. */
type Cut = RunEnd & { error: string }
type ActiveRun = { run: string; abort: AbortController; cut?: Cut; done: Promise<void> }
/** A run whose start is recorded. */
type StartedRun = { stream: StreamId; job: Job; run: JobRun; origin: Origin }

const interrupted: Cut = { outcome: 'interrupted', error: 'the service stopped while it ran' }
const left: Cut = { outcome: 'interrupted', error: 'this node lost its connection to the others while it ran' }
const cancelled: Cut = { outcome: 'cancelled', error: 'the job was deleted' }
const tookTooLong: Cut = { outcome: 'error', error: `the run was stopped after its limit of ${limits.jobRunTimeoutMs} ms` }

const isBegin = (text: string): boolean => text.includes('"type":"JobRunStarted"')

/** The clock may be set and the machine may sleep, so the time is checked again after at most this time. */
const lookAgainMs = 60_000
/** The pause before a statement is tried again while the service is starting or busy. */
const tryAgainMs = 1_000
/** The pause of a job after its run could not be recorded. */
const afterFaultMs = 60_000

/**
 * Runs jobs when they are due. The due times are in the log's `resources`, and the log records the begin and end of each run. A job
 * that was due while the service was down runs once at its start, and an interrupted run is recorded as such. Runs of one job never
 * overlap.
 *
 * The node that runs a job holds its lease. The log lets only one node start a run; the lease spares the other nodes the attempt. The lease
 * also tells when the node that began a run is gone: a run without a holder of its lease was interrupted.
 *
 * @example
 * const jobs = new JobScheduler({ ledger, log, leases, engine: sql, clock: systemClock, logger })
 * await jobs.start(); await jobs.stop()
 */
export class JobScheduler {
  /** The due time of each job, in milliseconds since 1970. A job without further runs is missing. */
  readonly #due = new Map<StreamId, number>()
  readonly #active = new Map<StreamId, ActiveRun>()
  readonly #runningMax: number
  #cancelTimer: () => void = () => undefined
  #unsubscribe: () => void = () => undefined
  #stopped: Promise<void> | undefined

  /** The difference between the clock and the uptime of the machine. */
  #clockOffset: number

  constructor(private readonly options: Options) {
    this.#clockOffset = options.clock.now() - options.clock.uptime()
    this.#runningMax = options.runningMax ?? limits.jobsRunningMax
  }

  /** Records the end of unfinished runs, and starts the timer. An earlier run of the service, or a node that is gone, left these runs. */
  async start(): Promise<void> {
    const { log } = this.options
    this.#unsubscribe = log.onChanged(['job'], (stream) => this.#follow(stream))
    for (const { stream, state } of await log.resources.list('job')) {
      if (state.running) await this.#endInterrupted(stream)
      this.#note(stream, (await log.resources.byStream('job', stream))?.state)
    }
    this.#arm()
  }

  /** A run that cannot be ended must not keep the service from starting. It is tried again before the next run of its job. */
  async #endInterrupted(stream: StreamId): Promise<void> {
    try {
      await this.#withLease(stream, () => this.#endLeft(stream))
    } catch (err) {
      this.options.logger.error({ err, stream }, 'an interrupted run of a job was not ended; trying again')
    }
  }

  /** Does work while this node holds the lease of a job. Returns `elsewhere`, without the work, if another node holds it. */
  async #withLease(stream: StreamId, work: (lease: Lease) => Promise<void>): Promise<'done' | 'elsewhere'> {
    const lease = await this.options.leases.take(`job:${stream}`)
    if (!lease) return 'elsewhere'
    try {
      await work(lease)
      return 'done'
    } finally {
      await lease.release()
    }
  }

  /** Ends the run of the previous holder of the lease, a node that is gone. If its end was recorded meanwhile, that end remains. */
  async #endLeft(stream: StreamId): Promise<void> {
    const found = await this.#found(stream)
    if (!found?.state.running) return
    const { state } = found
    const origin = await this.#originOf(state, await this.#beginOf(stream))
    await this.#finish({ stream, job: state, run: found.state.running, origin }, interrupted, [])
  }

  /** The position of the event that began the run under way. The job may have been changed since. */
  async #beginOf(stream: StreamId): Promise<number | undefined> {
    return (await retryWhileBusy(() => lastEventWith(this.options.log, stream, isBegin), this.#isStopping))?.position
  }

  #found(stream: StreamId): Promise<Resource<'job'> | undefined> {
    return retryWhileBusy(() => this.options.log.resources.byStream('job', stream), this.#isStopping)
  }

  /** Begins no further runs and waits for the current ones. Runs that exceed the time limit of a stop are aborted. */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop())
  }

  async #stop(): Promise<void> {
    this.#cancelTimer()
    const forget = this.options.clock.wait(limits.stopTimeoutMs, () => {
      for (const active of this.#active.values()) this.#cut(active, interrupted)
    })
    while (this.#active.size > 0) await Promise.all([...this.#active.values()].map(({ done }) => done))
    forget()
    this.#unsubscribe()
  }

  #isStopping = (): boolean => this.#stopped !== undefined

  #cut(active: ActiveRun, cut: Cut): void {
    active.cut ??= cut
    active.abort.abort(new Problem('query_limit', 'The run was given up', cut.error))
  }

  #follow(stream: StreamId): void {
    this.#look(stream).catch((error: unknown) => {
      this.options.logger.error({ err: error, stream }, 'a job was not looked at; trying again')
      // It is looked at before it runs: one that is not due then does not run.
      this.#due.set(stream, Math.min(this.#due.get(stream) ?? Infinity, this.options.clock.now() + afterFaultMs))
      this.#arm()
    })
  }

  /** Reads the due time of a job. */
  async #look(stream: StreamId): Promise<void> {
    const found = await this.#found(stream)
    const active = this.#active.get(stream)
    if (!found && active) this.#cut(active, cancelled)
    this.#note(stream, found?.state)
    this.#arm()
  }

  #note(stream: StreamId, job: Job | undefined): void {
    const now = this.options.clock.now()
    const next = job ? dueAt(job, now) : null
    // The node that runs it may stop without a word, so this looks again later.
    if (job?.running && this.#active.get(stream)?.run !== job.running.run) this.#due.set(stream, now + limits.leaseLookIntervalMs)
    else if (next === null) this.#due.delete(stream)
    else this.#due.set(stream, Date.parse(next))
  }

  /** Begins due jobs up to the limit of concurrent runs, and sets the single timer to the next due time. */
  #arm(): void {
    this.#cancelTimer()
    if (this.#isStopping()) return
    const now = this.options.clock.now()
    this.#noticeJump(now)
    const idle = [...this.#due].filter(([stream]) => !this.#active.has(stream)).sort(([, a], [, b]) => a - b)
    for (const [stream, due] of idle) {
      if (due > now || this.#active.size >= this.#runningMax) break
      this.#begin(stream)
    }
    const later = idle.find(([, due]) => due > now)
    if (later) this.#cancelTimer = this.options.clock.wait(Math.min(later[1] - now, lookAgainMs), () => this.#arm())
  }

  /**
   * Notices that the clock was set. If it was set forward, jobs whose time it skipped wait a while, because the clock may be corrected. If
   * it was set back, the due time of every job is computed again.
   */
  #noticeJump(now: number): void {
    const offset = now - this.options.clock.uptime()
    const jump = offset - this.#clockOffset
    this.#clockOffset = offset
    if (Math.abs(jump) <= limits.clockJumpMinMs) return
    this.options.logger.warn({ seconds: Math.round(jump / 1_000) }, 'the clock was set')
    if (jump > 0) {
      for (const [stream, due] of this.#due) if (due > now - jump && due <= now) this.#due.set(stream, now + limits.jobClockHoldMs)
    } else for (const stream of [...this.#due.keys()]) this.#follow(stream)
  }

  #begin(stream: StreamId): void {
    const active: ActiveRun = { run: uuidv7(), abort: new AbortController(), done: Promise.resolve() }
    this.#active.set(stream, active)
    active.done = this.#run(stream, active)
      .catch((error: unknown) => {
        this.options.logger.error({ err: error, stream }, 'a run of a job was not recorded')
        this.#due.set(stream, this.options.clock.now() + afterFaultMs)
      })
      .finally(() => {
        this.#active.delete(stream)
        this.#arm()
      })
  }

  async #run(stream: StreamId, active: ActiveRun): Promise<void> {
    const { clock } = this.options
    const ran = await this.#withLease(stream, (lease) => this.#runHeld(stream, active, lease))
    if (ran === 'elsewhere') this.#due.set(stream, clock.now() + limits.leaseLookIntervalMs)
  }

  async #runHeld(stream: StreamId, active: ActiveRun, lease: Lease): Promise<void> {
    const { clock } = this.options
    await this.#endLeft(stream)
    // A stop may have begun while the lease was taken.
    if (this.#isStopping()) return
    const now = clock.now()
    const begun = await this.#start(stream, active.run, now)
    if (!begun) {
      // The job was deleted or has expired just now, or ran elsewhere. If something else prevents the run, the job waits before the next.
      await this.#look(stream)
      if ((this.#due.get(stream) ?? Infinity) <= now) this.#due.set(stream, clock.now() + afterFaultMs)
      return
    }
    const forget = clock.wait(limits.jobRunTimeoutMs, () => this.#cut(active, tookTooLong))
    const lose = () => this.#cut(active, left)
    lease.lost.addEventListener('abort', lose, { once: true })
    if (!lease.isHeld) lose()
    const results: JobStatementResult[] = []
    const result = await this.#carryOut(begun, active, results).finally(forget)
    await this.#finish(begun, result, results)
  }

  async #start(stream: StreamId, run: string, now: number): Promise<StartedRun | undefined> {
    const found = await this.#found(stream)
    if (!found) return undefined
    const origin = { ...(await this.#originOf(found.state, found.id)), request: run, correlation: run }
    const { resource, positions } = await this.#execute({ type: 'StartJobRun', data: { stream, run, now: instant(now) } }, origin)
    if (resource?.kind !== 'job' || resource.state.running?.run !== run) return undefined
    // If a start was recorded but its answer was lost, the second attempt finds it.
    const startedAt = positions[0] ?? (await this.#beginOf(stream)) ?? found.id
    const { state: job } = resource
    return { stream, job, run: resource.state.running, origin: { ...origin, causation: causeAt(startedAt) } }
  }

  async #carryOut({ stream, job, run, origin }: StartedRun, active: ActiveRun, results: JobStatementResult[]): Promise<RunEnd> {
    let hide = (text: string) => text
    try {
      const { query, if_query } = await this.#textOf(job)
      if (job.sealed) hide = hiderOf([query, if_query ?? ''])
      const work: JobWork = {
        query,
        ifQuery: if_query,
        times: run,
        last: job.last ?? nothingSeen,
        db: () => this.#projectOf(job),
        origin: { ...origin, source: 'sql', during: { job: stream, run: run.run } },
        signal: active.abort.signal,
        pause: () => new Promise((resolve) => this.options.clock.wait(tryAgainMs, resolve)),
      }
      const end = await runStatements(this.options.engine, work, results)
      if (active.cut) return active.cut
      return end.error === null ? end : { ...end, error: hide(end.error) }
    } catch (error) {
      if (active.cut) return active.cut
      if (!isProblem(error)) this.options.logger.error({ err: error, run: run.run }, 'a run of a job failed')
      return { outcome: 'error', error: hide(isProblem(error) ? errorMessage(error) : 'a fault of this service; its log says more') }
    } finally {
      for (const result of results) result.error &&= fit(hide(result.error))
    }
  }

  /** The statements in their original form. */
  async #textOf({ query, if_query, sealed }: Job): Promise<{ query: string; if_query: string | null }> {
    if (!sealed) return { query, if_query }
    const body = await retryWhileBusy(() => this.options.log.payload(sealed[secretKey]), this.#isStopping)
    if (!body)
      throw new Problem('not_found', 'Secrets erased', 'the secrets of this job were erased', {
        hint: 'Change the job, and send its statements with their secrets.',
      })
    return JSON.parse(body.toString()) as { query: string; if_query: string | null }
  }

  async #finish(
    { stream, job, run, origin }: StartedRun,
    { outcome, error, conditionLast }: RunEnd,
    statements: JobStatementResult[],
  ): Promise<void> {
    const end = { run: run.run, outcome, error: error === null ? null : fit(error), statements }
    const data = { stream, ...end, ...(conditionLast && { condition_last: conditionLast }) }
    const { positions } = await this.#execute({ type: 'FinishJobRun', data }, origin)
    // Another node has already recorded the end, or an earlier attempt of this node has, without an answer.
    if (positions.length === 0 && outcome !== 'cancelled') return
    const line = { job: origin.actor, run: run.run, outcome, ...(error !== null && { error: data.error }), positions }
    this.options.logger[outcome === 'error' ? 'warn' : 'info'](line, `job ${job.name}: ${outcome}`)
  }

  #execute(command: LedgerCommand, origin: Origin): Promise<Outcome> {
    return retryWhileBusy(() => this.options.ledger.execute(command, origin), this.#isStopping)
  }

  /** Jobs act in their own name. `cause` is the causing event: the job's creation for a run, the run's start for its actions. */
  async #originOf(job: Job, cause: number | undefined): Promise<Origin> {
    const actor = `job:${await this.#projectOf(job)}.${job.name}`
    const run = job.running?.run ?? null
    return { actor, source: 'system', request: run, correlation: run, causation: cause === undefined ? null : causeAt(cause) }
  }

  async #projectOf({ project }: Job): Promise<string> {
    const found = await retryWhileBusy(() => this.options.log.resources.byStream('project', project), this.#isStopping)
    return found?.state.name ?? project
  }
}

/** An error as a valid text for the log: a cut message may end with half a character. */
const fit = (error: string): string => error.slice(0, limits.jobErrorMaxChars).replaceAll('\0', '').toWellFormed()
