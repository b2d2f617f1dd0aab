import type { SqlProcessStatus } from '../sql-process/sql-process.js'
import type { ExportStatus } from '../archive/scheduled-export.js'
import { sharedStates, type LogHealth } from '../log/contract/log.js'
import { projections } from '../../projections/all.js'
import type { DiskUse } from './disk-use.js'
import type { Instruments } from './instruments.js'

/** The sources of values that are looked up at each scrape. */
export type Sources = {
  version: string
  log: () => Promise<LogHealth>
  sqlProcess: () => SqlProcessStatus
  sqlProcessBytes: () => Promise<number>
  trainings: () => { running: number; waiting: number }
  /** How many events each reaction has set aside. */
  setAside: () => Readonly<Record<string, number>>
  disk: () => Promise<DiskUse>
  /** Clients that follow the events. */
  streams: () => number
  /** The export of the history, if it is on. */
  exported: () => ExportStatus | undefined
}

const states = ['following', 'building', 'stopped'] as const

/** The metrics that are looked up at each scrape. A failed lookup leaves the last value. */
export class Gauges {
  readonly #info
  readonly #log
  readonly #shared
  readonly #sql
  readonly #sqlProcess
  readonly #projections
  readonly #trainings
  readonly #setAside
  readonly #streams
  readonly #disk
  readonly #export

  constructor(make: Instruments) {
    this.#info = make.gauge('info', 'Always 1; the label has the release.', ['version'])
    this.#log = {
      position: make.gauge('log_position', 'Newest position of the log.'),
      queued: make.gauge('log_queued_commands', 'Commands that wait for the next transaction of the log.'),
      writable: make.gauge('log_writable', '1 if the log could be written at the last attempt, otherwise 0.'),
    }
    this.#shared = {
      state: make.gauge('log_shared_state', `With LOG_URL, 1 for the current state of the node: ${sharedStates.join(', ')}.`, ['state']),
      lag: make.gauge(
        'log_shared_lag',
        'With LOG_URL, the known batches or events that the node does not have yet, in units: batches, events.',
        ['unit'],
      ),
    }
    this.#sql = {
      ready: make.gauge('sql_ready', '1 if SQL is available, otherwise 0.'),
      running: make.gauge('sql_running_queries', 'Queries that DuckDB executes or whose answers are being read.'),
      waiting: make.gauge('sql_waiting_queries', 'Queries that wait for their turn.'),
      retries: make.counter('sql_retries_total', 'Queries that ran again because the SQL process ended while they ran.'),
    }
    this.#sqlProcess = {
      rss: make.gauge('analytics_resident_memory_bytes', 'Memory of the SQL process, in which DuckDB runs.'),
      restarts: make.counter('analytics_restarts_total', 'Restarts of the SQL process, without planned replacements.'),
      losses: make.counter(
        'analytics_losses_total',
        'Restarts of the SQL process, by reason: memory, stuck, blocked (in these three cases the service killed it), other_rows (the tables did not show all added rows), died.',
        ['reason'],
      ),
    }
    this.#projections = {
      position: make.gauge('projection_position', 'Last position of the log that the tables of a projection hold.', ['projection']),
      lag: make.gauge('projection_lag_events', 'Events by which the tables of a projection are behind the log.', ['projection']),
      rebuilds: make.gauge('projection_rebuilds', 'Number of rebuilds of the tables, as in log.projections.'),
      state: make.gauge('projection_state', '1 for the state that the projections are in: following, building, stopped.', ['state']),
    }
    this.#trainings = {
      running: make.gauge('trainings_running', 'Trainings under way.'),
      waiting: make.gauge('trainings_waiting', 'Trainings that wait for their turn.'),
    }
    this.#setAside = make.gauge(
      'events_set_aside',
      'Events that a reaction could not handle, and that it tries again later, by reaction: conversations, trainings.',
      ['reaction'],
    )
    this.#streams = make.gauge('event_stream_clients', 'Clients that follow the events as they happen.')
    this.#disk = {
      used: make.gauge('disk_used_bytes', 'Bytes in the data directory by kind.', ['kind']),
      free: make.gauge('disk_free_bytes', 'Bytes that are free on the disk of the data directory.'),
    }
    this.#export = {
      position: make.gauge('export_position', 'Last position in the files of the export, at the node that writes them.'),
      failing: make.gauge('export_failing', '1 if the export failed at the last attempt, otherwise 0; only at the node that writes it.'),
    }
  }

  /** Reads values that are only measured on request, such as queues, disk and positions. */
  async read(sources: Sources): Promise<void> {
    this.#info.set({ version: sources.version }, 1)
    const [log, disk, bytes] = await Promise.all([known(sources.log()), known(sources.disk()), known(sources.sqlProcessBytes())])
    const status = sources.sqlProcess()
    if (log) this.#readLog(log)
    else this.#log.writable.set(0)
    this.#readSqlProcess(status, bytes ?? 0)
    this.#readProjections(status, log?.position ?? status.position)
    const { running, waiting } = sources.trainings()
    this.#trainings.running.set(running)
    this.#trainings.waiting.set(waiting)
    for (const [reaction, count] of Object.entries(sources.setAside())) this.#setAside.set({ reaction }, count)
    this.#streams.set(sources.streams())
    this.#readExport(sources.exported())
    if (!disk) return
    for (const [kind, used] of Object.entries(disk.bytes)) this.#disk.used.set({ kind }, used)
    this.#disk.free.set(disk.free)
  }

  /** Other nodes report nothing: a sum or a minimum over all nodes would have no meaning. */
  #readExport(status: ExportStatus | undefined): void {
    this.#export.position.remove()
    this.#export.failing.remove()
    if (!status?.here) return
    if (status.position !== null) this.#export.position.set(status.position)
    this.#export.failing.set(status.error === null ? 0 : 1)
  }

  #readLog({ position, queued, unwritable, shared }: LogHealth): void {
    if (shared) {
      for (const one of sharedStates) this.#shared.state.set({ state: one }, one === shared.state ? 1 : 0)
      for (const unit of ['batches', 'events'] as const) this.#shared.lag.set({ unit }, shared.lag[unit])
    }
    if (position !== null) this.#log.position.set(position)
    this.#log.queued.set(queued)
    this.#log.writable.set(unwritable === undefined ? 1 : 0)
  }

  #readSqlProcess({ stopped, running, waiting, retries, restarts, losses }: SqlProcessStatus, bytes: number): void {
    this.#sql.ready.set(stopped === undefined ? 1 : 0)
    this.#sql.running.set(running)
    this.#sql.waiting.set(waiting)
    this.#sqlProcess.rss.set(bytes)
    // Other parts count these values, so each counter is reset and set to their count.
    for (const counter of [this.#sql.retries, this.#sqlProcess.restarts, this.#sqlProcess.losses]) counter.reset()
    this.#sql.retries.inc(retries)
    this.#sqlProcess.restarts.inc(restarts)
    for (const [reason, count] of Object.entries(losses)) this.#sqlProcess.losses.inc({ reason }, count)
  }

  #readProjections({ state, position, rebuilds }: SqlProcessStatus, head: number): void {
    for (const { name: projection } of projections) {
      this.#projections.position.set({ projection }, position)
      this.#projections.lag.set({ projection }, Math.max(0, head - position))
    }
    this.#projections.rebuilds.set(rebuilds.count)
    for (const one of states) this.#projections.state.set({ state: one }, one === state ? 1 : 0)
  }
}

/** A failed lookup must not prevent the others. */
const known = <T>(value: Promise<T>): Promise<T | undefined> => value.catch(() => undefined)
