import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { leafOf, moveCheckpoint, readCheckpoint, type Checkpoint } from './checkpoint.js'
import { CommitError, ForeignTablesError, MissingKeyError, OtherRowsError, ProjectionError, StaleTablesError } from './problem.js'
import { countsAfter, RowCheck, type Change, type RowCounts, fitTogether, stepsFor } from './tables.js'
import { tableText } from './payloads/long-records.js'
import { prepareEvent, stage, type PreparedEvent, type StagedPayload, type StoredEvent } from './staging.js'

type Awaitable<T> = T | Promise<T>

/** The log, as far as projections need it: positions are gapless from 1. */
export type EventReader = {
  head(): Awaitable<number>
  /** Events after a position, in order: at most `limit`, and no more once their texts have `maxChars`. */
  read(after: number, limit: number, maxChars?: number): Awaitable<readonly StoredEvent[]>
  /** Resolves when the disk has all that was read: after a loss of power, tables must not know more than the log. */
  confirm?(): Awaitable<void>
}

/**
 * Payloads by hash; undefined for a payload that was erased or is unreadable. @throws MissingKeyError when the tables have to wait for its
 * key
 */
export type PayloadReader = { payload(hash: string): Awaitable<Uint8Array | undefined> }

export type ReplayProgress = (position: number, target: number) => void

export type ReplayOptions = { events: EventReader; payloads: PayloadReader; database: DuckDBInstance }

/** A batch ends at the limit that it reaches first: many events save time, few bytes keep memory constant. */
export type ReplayLimits = { batchMaxEvents: number; batchMaxBytes: number; pageMaxEvents: number }
export const replayLimits: ReplayLimits = { batchMaxEvents: 40_000, batchMaxBytes: 32 * 1024 * 1024, pageMaxEvents: 1_000 }

/** `hashes` has the hash of each payload once: an erasure may name a payload that the batch already has. */
type Batch = {
  events: PreparedEvent[]
  types: Set<string>
  payloads: StagedPayload[]
  hashes: Set<string>
  bytes: number
  /** The next event needs a transaction of its own. */
  isClosed: boolean
  failure?: ProjectionError | MissingKeyError
}

/** The payloads of some events of a batch: half a batch needs only these in memory. */
const payloadsOf = (events: readonly PreparedEvent[], payloads: readonly StagedPayload[]): StagedPayload[] => {
  const named = new Set(events.flatMap((event) => event.payloads))
  return payloads.filter(({ hash }) => named.has(hash))
}

/** Keeps only the kind of a DuckDB error: the rest quotes data. `Conversion Error: Could not …` → `Conversion Error` */
const kindOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'an error'
  // If errors come as JSON, the kind is a member.
  const type = /"exception_type":"([\w ]+)"/.exec(error.message)?.[1]
  return type === undefined ? (/^[\w ]+(?=:)/.exec(error.message)?.[0] ?? error.name) : `${type} Error`
}

/** A full disk or a broken file is no fault of an event, and smaller batches fail as well. */
const isOfTheMachine = (error: unknown): boolean =>
  error instanceof CommitError || (error instanceof Error && /^(?:IO|FATAL|INTERNAL|TransactionContext) Error/i.test(kindOf(error)))

/** Queries share the memory. A smaller batch may fit, and a single event fits later. */
const isOfMemory = (error: unknown): boolean => /^Out of Memory Error/i.test(kindOf(error))

/**
 * Tables that follow a log. Each batch is one transaction: staging, the projections that handle its events, the checkpoint. After the
 * commit it checks that the tables show the new rows.
 *
 * @example
 * const tables = await Replay.open({ events: log, payloads: log, database })
 * await tables.catchUp() // the position reached
 */
export class Replay {
  /** The head of the log when the database was begun. */
  readonly begunAt: number
  #position: number
  #counts: RowCounts
  readonly #check: RowCheck

  private constructor(
    private readonly options: ReplayOptions,
    private readonly connection: DuckDBConnection,
    private readonly limits: ReplayLimits,
    checkpoint: Checkpoint,
  ) {
    this.begunAt = checkpoint.begunAt
    this.#position = checkpoint.position
    this.#counts = checkpoint.counts
    this.#check = new RowCheck(connection)
  }

  /**
   * Creates the tables or continues them. Throws `StaleTablesError` when another release built them or their row counts are wrong, and
   * `ForeignTablesError` when they followed another log than this.
   */
  static async open(options: ReplayOptions, limits: ReplayLimits = replayLimits): Promise<Replay> {
    const connection = await options.database.connect()
    try {
      const checkpoint = await readCheckpoint(connection, await options.events.head())
      // Checked first: tables of any release are evidence of earlier events of the log.
      await assertSameLog(options.events, checkpoint)
      if (!checkpoint.isCurrent) throw new StaleTablesError('another release')
      const tables = new Replay(options, connection, limits, checkpoint)
      await tables.check().catch((error: unknown) => {
        throw error instanceof OtherRowsError ? new StaleTablesError('other rows') : error
      })
      return tables
    } catch (error) {
      connection.closeSync()
      throw error
    }
  }

  /** The last position that the tables hold. */
  get position(): number {
    return this.#position
  }

  /**
   * Follows the log up to `until` or its head, and returns the position reached. Throws `ProjectionError` at an event that does not fit;
   * `MissingKeyError` at an event whose payload cannot be read yet; `OtherRowsError` and `CommitError` when the database has to be
   * reopened.
   */
  async catchUp(until = Number.MAX_SAFE_INTEGER, onProgress?: ReplayProgress): Promise<number> {
    const target = Math.min(until, await this.options.events.head())
    while (this.#position < target) {
      const { events, payloads, failure } = await this.#collect(target)
      await this.options.events.confirm?.()
      await this.#apply(events, payloads)
      if (failure) throw failure
      onProgress?.(this.#position, target)
    }
    return this.#position
  }

  /** Checks that every table shows the rows that were added to it. Do not call it during a catch-up. @throws OtherRowsError */
  async check(): Promise<void> {
    await this.#check.all(this.#counts)
  }

  close(): void {
    this.#check.close()
    this.connection.closeSync()
  }

  /**
   * Reads and prepares the events of the next batch. An event that cannot be read or prepared ends the batch; the events before it are
   * still applied.
   */
  async #collect(target: number): Promise<Batch> {
    const batch: Batch = { events: [], types: new Set(), payloads: [], hashes: new Set(), bytes: 0, isClosed: false }
    const { batchMaxEvents, batchMaxBytes, pageMaxEvents } = this.limits
    let next = this.#position + 1
    while (next <= target && !batch.isClosed && batch.events.length < batchMaxEvents && batch.bytes < batchMaxBytes) {
      const room = Math.min(batchMaxEvents - batch.events.length, pageMaxEvents, target - next + 1)
      const page = await this.options.events.read(next - 1, room, batchMaxBytes - batch.bytes)
      try {
        if (page.length === 0) throw new ProjectionError(next, 'it is missing')
        for (const event of page) {
          if (event.position !== next) throw new ProjectionError(next, 'it is missing')
          if (!(await this.#take(event, batch))) break
          next += 1
          // The rest of the page is read again: its payloads may be large, and their size is unknown.
          if (batch.bytes >= batchMaxBytes) break
        }
      } catch (error) {
        if (!(error instanceof ProjectionError || error instanceof MissingKeyError)) throw error
        return { ...batch, failure: error }
      }
    }
    return batch
  }

  /** Adds an event to the batch, or closes the batch if the two cannot share a transaction. */
  async #take(event: StoredEvent, batch: Batch): Promise<boolean> {
    const prepared = prepareEvent(event)
    if (!batch.types.has(prepared.type)) {
      const types = new Set(batch.types).add(prepared.type)
      batch.isClosed = batch.events.length > 0 && !fitTogether(types)
      if (batch.isClosed) return false
      batch.types = types
    }
    batch.bytes += event.text.length
    for (const hash of prepared.payloads) {
      if (batch.hashes.has(hash)) continue
      batch.hashes.add(hash)
      const body = await this.options.payloads.payload(hash)
      if (body === undefined) continue
      batch.bytes += body.byteLength
      batch.payloads.push({ hash, body: tableText(prepared.type, body) })
    }
    batch.events.push(prepared)
    return true
  }

  /** Applies a batch, or halves it until the failing event is alone and can be named. */
  async #apply(events: readonly PreparedEvent[], payloads: readonly StagedPayload[]): Promise<void> {
    const [first, last] = [events[0], events.at(-1)]
    if (!first || !last) return
    let changes: Change[]
    try {
      changes = await this.#transact(events, last, payloads)
    } catch (error) {
      if (isOfTheMachine(error) || (events.length === 1 && isOfMemory(error))) throw error
      if (events.length === 1) throw new ProjectionError(last.position, `${last.type} meets a ${kindOf(error)}`, error)
      const half = events.length >> 1
      for (const part of [events.slice(0, half), events.slice(half)]) await this.#apply(part, payloadsOf(part, payloads))
      return
    }
    // The events are committed: they must not be applied again, whatever these checks throw.
    await this.#check.added(changes, first.position, last.position)
    // Removed and remade rows belong to earlier events.
    if (changes.some(({ ofBatch }) => ofBatch === undefined)) await this.check()
  }

  /** Applies events in one transaction, and returns the changes of the tables. */
  async #transact(events: readonly PreparedEvent[], last: PreparedEvent, payloads: readonly StagedPayload[]): Promise<Change[]> {
    const changes: Change[] = []
    await this.connection.run('BEGIN')
    try {
      await stage(this.connection, events, payloads)
      for (const { sql, writes } of stepsFor(new Set(events.map(({ type }) => type)))) {
        const { rowsChanged } = await this.connection.run(sql)
        if (!writes || rowsChanged === 0) continue
        const { table, sign, isOwn } = writes
        changes.push({ table, rows: sign * rowsChanged, ofBatch: isOwn ? rowsChanged : undefined })
      }
      const counts = countsAfter(this.#counts, changes)
      await moveCheckpoint(this.connection, last, counts)
      await this.#commit()
      this.#counts = counts
    } catch (error) {
      // After a failed COMMIT there is nothing to roll back, and the caller needs the first error.
      await this.connection.run('ROLLBACK').catch(() => undefined)
      throw error
    }
    this.#position = last.position
    return changes
  }

  async #commit(): Promise<void> {
    try {
      await this.connection.run('COMMIT')
    } catch (error) {
      throw new CommitError(error)
    }
  }
}

/**
 * Checks that the log still has the projected event at the checkpoint. A truncated or replaced log, or an older copy, has another event
 * there, or none: then this throws `ForeignTablesError`.
 */
export const assertSameLog = async (events: EventReader, { position, leaf }: Pick<Checkpoint, 'position' | 'leaf'>): Promise<void> => {
  if (position === 0) return
  const head = await events.head()
  if (position > head) throw new ForeignTablesError(`the tables stand at position ${position}, and the log ends at ${head}`)
  const [event] = await events.read(position - 1, 1)
  if (event?.position !== position || leafOf(event.text) !== leaf)
    throw new ForeignTablesError(`the event at position ${position} is not the last event that the tables followed`)
}

/**
 * Settings for a replay of a whole log: few checkpoints, which would take most of the time, and memory that does not grow with the log.
 *
 * @example await DuckDBInstance.create('audit.duckdb', replaySettings)
 */
export const replaySettings = { checkpoint_threshold: '64MB', memory_limit: '256MB' }

/**
 * Builds all tables from a log, or updates them, and returns the position reached. The result depends only on the events and the
 * projections.
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
