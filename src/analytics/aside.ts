import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isProblem, Problem } from '../basics/errors.js'
import { programFile } from '../setup/programs.js'
import { mayReadLive } from '../sql/engine/resolve/aside.js'
import type { AnalyticsOptions } from './contract/options.js'
import type { QueryStream, SelectRequest, TablesStatus } from './contract/query.js'
import { Analytics, type QueryOptions } from './supervisor.js'

type Started = { analytics: Promise<Analytics>; directory: string }

const unavailable = (why: string, cause?: unknown): Problem =>
  new Problem('analytics_unavailable', 'SQL is not available', why, cause === undefined ? {} : { cause })

const isUnavailable = (error: unknown): boolean => isProblem(error) && error.code === 'analytics_unavailable'

/** It is wanted for as long as the tables are not, and by people, who ask more than once. */
const idleMaxMs = 60_000

/**
 * Lets `log.projections` be read when the tables cannot be: a statement that reads nothing else is answered by a process of its
 * own, which has no tables. It is started when it is needed, and ends when nobody has asked it for a minute.
 *
 * @example const answers = new Aside(analytics, { logger }); await answers.query(request, {})
 */
export class Aside {
  #started: Started | undefined
  #isStopping = false
  #idle: NodeJS.Timeout | undefined

  constructor(
    private readonly main: Pick<Analytics, 'query' | 'status'>,
    private readonly options: Pick<AnalyticsOptions, 'logger'> = {},
  ) {}

  /** @throws Problem as the main process does when the statement needs its tables */
  async query(request: SelectRequest, options: QueryOptions): Promise<QueryStream> {
    if (!mayReadLive(request.sql)) return this.main.query(request, options)
    // While the tables are being built the main process would keep the question waiting.
    if (this.main.status().state !== 'following') return (await this.#aside(request, options)) ?? this.main.query(request, options)
    try {
      return await this.main.query(request, options)
    } catch (error) {
      const answer = isUnavailable(error) ? await this.#aside(request, options) : undefined
      if (answer) return answer
      throw error
    }
  }

  /** Ends its process, if there is one. A request that is still under way starts no other. */
  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#end()
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle)
    const started = this.#started
    this.#started = undefined
    if (!started) return
    await (await started.analytics).stop()
    rmSync(started.directory, { recursive: true, force: true })
  }

  /** Undefined when it cannot be answered here: it needs tables, or no process can be had. */
  async #aside({ asOf: _, ...request }: SelectRequest, options: QueryOptions): Promise<QueryStream | undefined> {
    try {
      const analytics = await this.#start()
      return await analytics.query({ ...request, upTo: 0, aside: this.#statusAt(request.upTo) }, options)
    } catch (error) {
      if (isUnavailable(error)) return undefined
      throw error
    }
  }

  #statusAt(head: number): TablesStatus {
    const { state, position, rebuilds, lastError, stopped } = this.main.status()
    // A process that has ended may say nothing more of itself.
    const error = lastError ?? (state === 'stopped' ? (stopped ?? null) : null)
    return { state, position, head: Math.max(head, position), rebuilds: rebuilds.count, lastRebuild: rebuilds.last, lastError: error }
  }

  async #start(): Promise<Analytics> {
    clearTimeout(this.#idle)
    if (this.#isStopping) throw unavailable('The service is stopping.')
    this.#idle = setTimeout(() => void this.#end(), idleMaxMs).unref()
    try {
      this.#started ??= begin(this.options)
      return await this.#started.analytics
    } catch (error) {
      this.#started = undefined
      throw unavailable('No process could be started to answer it.', error)
    }
  }
}

const begin = (options: Pick<AnalyticsOptions, 'logger'>): Started => {
  const directory = mkdtempSync(join(tmpdir(), 'mindledger-aside-'))
  return {
    analytics: Analytics.start({ ...options, dataDirectory: directory, entry: programFile('aside-process'), tables: 'memory' }),
    directory,
  }
}
