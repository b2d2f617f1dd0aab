import { CommitError, OtherRowsError, ProjectionError } from '../../../projections/problem.js'
import type { EventReader, Replay } from '../../../projections/replay.js'
import { Problem, wrong } from '../../basics/errors.js'
import { readDuckDBError } from '../../sql/engine/ast/duckdb-error.js'

export type ProjectorState = { position: number; head: number; stopped: string | null }

type Options = {
  replay: Replay
  events: EventReader
  followerIntervalMs: number
  followerBatchEvents: number
  checkIntervalMs: number
  onState: (state: ProjectorState) => void
  /** The tables could not be brought up to date. The next try may succeed. */
  onTrouble: (reason: string) => void
  /** The database has to be reopened, and no query may run until then. `other_rows`: the tables do not show all added rows. */
  onFatal: (loss: 'other_rows' | 'died', reason: string) => Promise<void>
}

const tickMs = 100

const stoppedAt = ({ message, position }: ProjectionError): Problem =>
  new Problem('analytics_unavailable', 'Projection stopped', message, { position })

/** Keeps the tables up to date with the log: at once for a waiting query, otherwise from time to time. */
export class Projector {
  #running: Promise<void> | undefined
  #stopped: ProjectionError | undefined
  #timer: NodeJS.Timeout | undefined
  #caughtUpAt = 0
  #checkedAt = performance.now()

  constructor(private readonly options: Options) {}

  /** Why the tables no longer follow the log. */
  get stopped(): string | undefined {
    return this.#stopped?.message
  }

  get busy(): boolean {
    return this.#running !== undefined
  }

  /**
   * Waits until the tables hold everything up to a position. Callers that wait at the same time share one catch-up.
   * @throws Problem analytics_unavailable when an event before it stopped the projections
   */
  async ensure(position: number): Promise<void> {
    const { replay, events } = this.options
    if (replay.position >= position) return
    const head = await events.head()
    if (head < position) throw wrong(`position ${position} is after the head of the log, which is ${head}`)
    while (replay.position < position) {
      if (this.#stopped) throw stoppedAt(this.#stopped)
      await this.#catchUp()
    }
  }

  /** Brings the tables to the head of the log, and returns the number of events. `onProgress` is called if there are many. */
  async start(onProgress: (position: number, target: number) => void): Promise<number> {
    const { replay, events, followerBatchEvents } = this.options
    const [head, from] = [await events.head(), replay.position]
    // Reported before the work begins, so that REST need not wait for it.
    if (head - from > followerBatchEvents) onProgress(from, head)
    await this.#catchUp(onProgress)
    return replay.position - from
  }

  /** Checks from time to time whether the log has grown. */
  follow(): void {
    this.#timer = setInterval(() => void this.#look().catch(() => undefined), Math.min(tickMs, this.options.followerIntervalMs))
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    const { replay, events, followerIntervalMs, followerBatchEvents, checkIntervalMs } = this.options
    if (this.#running) return
    if (performance.now() - this.#checkedAt >= checkIntervalMs) return this.#alone(() => this.#check())
    if (this.#stopped) return
    const behind = (await events.head()) - replay.position
    const waited = performance.now() - this.#caughtUpAt
    if (behind >= followerBatchEvents || (behind > 0 && waited >= followerIntervalMs)) await this.#catchUp()
  }

  #catchUp(onProgress?: (position: number, target: number) => void): Promise<void> {
    return this.#alone(() => this.#once(onProgress))
  }

  /** Nothing else changes the tables meanwhile. A new caller waits for the running catch-up. */
  #alone(work: () => Promise<void>): Promise<void> {
    this.#running ??= work().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /** Each batch is checked when it is applied. This check also finds damage to tables that have had no events since. */
  async #check(): Promise<void> {
    try {
      await this.options.replay.check()
    } catch (error) {
      throw await this.#passing(error)
    }
    this.#checkedAt = performance.now()
  }

  async #once(onProgress?: (position: number, target: number) => void): Promise<void> {
    const { replay, events, onState } = this.options
    try {
      await replay.catchUp(undefined, onProgress)
    } catch (error) {
      // A failure outside the events may be temporary, and another process may succeed. An event that does not fit will never fit.
      if (!(error instanceof ProjectionError)) throw await this.#passing(error)
      this.#stopped = error
    }
    this.#caughtUpAt = performance.now()
    onState({ position: replay.position, head: await events.head(), stopped: this.#stopped?.message ?? null })
  }

  async #passing(error: unknown): Promise<Problem> {
    if (error instanceof OtherRowsError) await this.options.onFatal('other_rows', error.message)
    const { kind, message } = readDuckDBError(error)
    // An answer must not show the paths of files.
    const said = message.replaceAll(/"[^"]*"/g, 'its file')
    const reason = `The tables cannot be brought up to date at the moment: ${said}`
    // After these errors DuckDB answers no queries, or reads tables that a failed COMMIT may have left incomplete.
    const isFatal = error instanceof CommitError || kind.toUpperCase() === 'FATAL' || /has been invalidated/i.test(message)
    if (isFatal) await this.options.onFatal('died', reason)
    this.options.onTrouble(reason)
    return new Problem('analytics_unavailable', 'SQL is behind', reason)
  }
}
