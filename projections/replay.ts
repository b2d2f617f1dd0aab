import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { leafOf, moveCheckpoint, readCheckpoint, type Checkpoint } from './checkpoint.js'
import { projections } from './all.js'
import { ForeignTablesError, ProjectionError, StaleTablesError } from './problem.js'
import { prepareEvent, stage, type PreparedEvent, type StagedPayload, type StoredEvent } from './staging.js'

type Awaitable<T> = T | Promise<T>

/** The log, as far as projections need it: positions are gapless from 1. */
export type EventReader = {
  head(): Awaitable<number>
  /** Events after a position, in order: at most `limit`, and no more once their texts have `maxChars`. */
  read(after: number, limit: number, maxChars?: number): Awaitable<readonly StoredEvent[]>
}

/** Payloads by hash; undefined when one was erased or cannot be read. */
export type PayloadReader = { payload(hash: string): Awaitable<Uint8Array | undefined> }

export type ReplayProgress = (position: number, target: number) => void

export type ReplayOptions = { events: EventReader; payloads: PayloadReader; database: DuckDBInstance }

/** A batch ends at whichever comes first: many events win time, few bytes keep memory flat. */
export type ReplayLimits = { batchMaxEvents: number; batchMaxBytes: number; pageMaxEvents: number }
export const replayLimits: ReplayLimits = { batchMaxEvents: 40_000, batchMaxBytes: 32 * 1024 * 1024, pageMaxEvents: 1_000 }

/** `hashes` are those of the payloads, each of which stands here once: an erasure may name one that the batch has already. */
type Batch = { events: PreparedEvent[]; payloads: StagedPayload[]; hashes: Set<string>; failure?: ProjectionError }

/** Of DuckDB's messages only the kind of error is kept: the rest quotes data. `Conversion Error: Could not …` → `Conversion Error` */
const kindOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'an error'
  // Where errors come as JSON, the kind is a member.
  const type = /"exception_type":"([\w ]+)"/.exec(error.message)?.[1]
  return type === undefined ? (/^[\w ]+(?=:)/.exec(error.message)?.[0] ?? error.name) : `${type} Error`
}

/** A full disk or a broken file says nothing about an event, and smaller batches meet it as well. */
const isOfTheMachine = (error: unknown): boolean =>
  error instanceof Error && /^(?:IO|FATAL|INTERNAL|TransactionContext) Error/i.test(kindOf(error))

/**
 * Tables that follow a log. Each batch is one transaction: staging, the projections that handle its events, the checkpoint.
 *
 * @example
 * const tables = await Replay.open({ events: log, payloads: log, database })
 * await tables.catchUp() // the position reached
 */
export class Replay {
  /** The head of the log when the database was begun. */
  readonly begunAt: number
  #position: number

  private constructor(
    private readonly options: ReplayOptions,
    private readonly connection: DuckDBConnection,
    private readonly limits: ReplayLimits,
    checkpoint: Checkpoint,
  ) {
    this.begunAt = checkpoint.begunAt
    this.#position = checkpoint.position
  }

  /**
   * Creates the tables or takes them up where they stand. Throws `StaleTablesError` when another release built them, and
   * `ForeignTablesError` when they followed another log than this.
   */
  static async open(options: ReplayOptions, limits: ReplayLimits = replayLimits): Promise<Replay> {
    const connection = await options.database.connect()
    try {
      const checkpoint = await readCheckpoint(connection, await options.events.head())
      // First: tables of any release are evidence of what the log once held.
      await assertSameLog(options.events, checkpoint)
      if (!checkpoint.isCurrent) throw new StaleTablesError('another release')
      return new Replay(options, connection, limits, checkpoint)
    } catch (error) {
      connection.closeSync()
      throw error
    }
  }

  /** The last position that the tables hold. */
  get position(): number {
    return this.#position
  }

  /** Follows the log up to `until` or its head, and tells how far it came. Throws `ProjectionError` at an event that does not fit. */
  async catchUp(until = Number.MAX_SAFE_INTEGER, onProgress?: ReplayProgress): Promise<number> {
    const target = Math.min(until, await this.options.events.head())
    while (this.#position < target) {
      const { events, payloads, failure } = await this.#collect(target)
      await this.#apply(events, payloads)
      if (failure) throw failure
      onProgress?.(this.#position, target)
    }
    return this.#position
  }

  close(): void {
    this.connection.closeSync()
  }

  /** Reads and prepares the events of the next batch. One that cannot be prepared ends it: those before it are still applied. */
  async #collect(target: number): Promise<Batch> {
    const batch: Batch = { events: [], payloads: [], hashes: new Set() }
    let bytes = 0
    let next = this.#position + 1
    while (next <= target && batch.events.length < this.limits.batchMaxEvents && bytes < this.limits.batchMaxBytes) {
      const room = Math.min(this.limits.batchMaxEvents - batch.events.length, this.limits.pageMaxEvents, target - next + 1)
      const page = await this.options.events.read(next - 1, room, this.limits.batchMaxBytes - bytes)
      try {
        if (page.length === 0) throw new ProjectionError(next, 'it is missing')
        for (const event of page) {
          if (event.position !== next) throw new ProjectionError(next, 'it is missing')
          bytes += await this.#take(event, batch)
          next += 1
          // What is left of the page is read again: payloads, of which a page tells nothing, may be large.
          if (bytes >= this.limits.batchMaxBytes) break
        }
      } catch (error) {
        if (!(error instanceof ProjectionError)) throw error
        return { ...batch, failure: error }
      }
    }
    return batch
  }

  async #take(event: StoredEvent, batch: Batch): Promise<number> {
    const prepared = prepareEvent(event)
    let bytes = event.text.length
    for (const hash of prepared.payloads) {
      if (batch.hashes.has(hash)) continue
      batch.hashes.add(hash)
      const body = await this.options.payloads.payload(hash)
      if (body === undefined) continue
      bytes += body.byteLength
      batch.payloads.push({ hash, body: Buffer.from(body).toString('utf8') })
    }
    batch.events.push(prepared)
    return bytes
  }

  /** Applies a batch, or halves it until the one event that does not fit is alone and can be named. */
  async #apply(events: readonly PreparedEvent[], payloads: readonly StagedPayload[]): Promise<void> {
    const last = events.at(-1)
    if (!last) return
    try {
      await this.#transact(events, last, payloads)
    } catch (error) {
      if (isOfTheMachine(error)) throw error
      if (events.length === 1) throw new ProjectionError(last.position, `${last.type} meets a ${kindOf(error)}`, error)
      const half = events.length >> 1
      await this.#apply(events.slice(0, half), payloads)
      await this.#apply(events.slice(half), payloads)
    }
  }

  async #transact(events: readonly PreparedEvent[], last: PreparedEvent, payloads: readonly StagedPayload[]): Promise<void> {
    const types = new Set(events.map(({ type }) => type))
    await this.connection.run('BEGIN')
    try {
      await stage(this.connection, events, payloads)
      for (const { handles, apply } of projections) {
        if (!handles.some((type) => types.has(type))) continue
        for (const statement of apply) await this.connection.run(statement)
      }
      await moveCheckpoint(this.connection, last)
      await this.connection.run('COMMIT')
    } catch (error) {
      // After a failed COMMIT there is nothing to roll back, and the first error is the one to tell.
      await this.connection.run('ROLLBACK').catch(() => undefined)
      throw error
    }
    this.#position = last.position
  }
}

/**
 * The event at the checkpoint must be the one that was projected: a log that was cut, exchanged or is an older copy has another
 * one there, or none. Throws `ForeignTablesError` then.
 */
export const assertSameLog = async (events: EventReader, { position, leaf }: Pick<Checkpoint, 'position' | 'leaf'>): Promise<void> => {
  if (position === 0) return
  const head = await events.head()
  if (position > head) throw new ForeignTablesError(`the tables stand at position ${position}, and the log ends at ${head}`)
  const [event] = await events.read(position - 1, 1)
  if (event?.position !== position || leafOf(event.text) !== leaf)
    throw new ForeignTablesError(`the event at position ${position} is not the one that the tables were brought up to`)
}

/**
 * How to open a database that a whole log is written to: rarely checkpointed, which is most of the time otherwise, and with
 * memory that does not grow with the log.
 *
 * @example await DuckDBInstance.create('audit.duckdb', replaySettings)
 */
export const replaySettings = { checkpoint_threshold: '64MB', memory_limit: '256MB' }

/**
 * Builds every table from a log, or brings them up to date, and tells the position reached: events and projections give the database,
 * nothing else takes part.
 *
 * @example await replay({ events: log, payloads: log, database: await DuckDBInstance.create('audit.duckdb'), until: 1_000 })
 */
export const replay = async (options: ReplayOptions & { until?: number; onProgress?: ReplayProgress }): Promise<number> => {
  const tables = await Replay.open(options)
  try {
    return await tables.catchUp(options.until, options.onProgress)
  } finally {
    tables.close()
  }
}
