/** Room: the history as Parquet files in a folder or a bucket. It imports only events, basics, setup, log, files, audit and backup. */

import { errorText } from '../basics/errors.js'
import type { ChildProcess } from 'node:child_process'
import type { Log } from '../log/contract/log.js'
import type { OnTried } from '../log/tasks/singleton-task.js'
import type { Logger } from '../basics/logger.js'
import { startProgram } from '../setup/start-program.js'
import type { ExportJob, ExportMessage } from './export-process.js'
import type { S3Keys } from '../setup/config.js'
import { openArchive } from './open.js'
import type { ArchiveResult } from './write-archive.js'

/**
 * The state of the export: its place, whether this node writes it, the last position in its files, the time of the last check, and the
 * reason why the last try failed.
 */
export type ExportStatus = { directory: string; here: boolean; position: number | null; written_at: string | null; error: string | null }

type Options = {
  /** A folder, or the address of a bucket and its keys. */
  place: string
  keys: S3Keys | undefined
  intervalMs: number
  rangePositions: number
  dataDirectory: string
  headKey: Buffer | undefined
  log: Pick<Log, 'head'>
  logger: Pick<Logger, 'info' | 'error'>
}

/** The result of a try: the end of the export, or the reason why it does not go on. */
type Outcome = { done: ArchiveResult } | { failed: string; isFull: boolean }

/**
 * Writes finished ranges of the log to Parquet files as it grows, in a process of its own. A failure, such as a full disk, stops nothing
 * else; the next interval tries again.
 *
 * @throws ConfigError when the path of a folder is a pattern, the address of a bucket is not valid, or its keys are missing
 * @example const exporter = new Exporter({ place: '/mnt/history', keys: undefined, intervalMs: 60_000, … }); exporter.start(); await exporter.stop()
 */
export class Exporter {
  readonly #status: ExportStatus
  #timer: NodeJS.Timeout | undefined
  #child: ChildProcess | undefined
  #looking: Promise<void> | undefined
  /** Where the export ended after a try that succeeded; undefined makes the next one look at every range. */
  #archived: ArchiveResult | undefined
  #isFull = false
  #onTried: OnTried = () => undefined

  constructor(private readonly options: Options) {
    this.#status = {
      directory: openArchive('EXPORT_URL', options.place, options.keys).place,
      here: false,
      position: null,
      written_at: null,
      error: null,
    }
  }

  /** The position of the export, and its last error. */
  status(): ExportStatus {
    return { ...this.#status }
  }

  /** The warning for an operator, without paths; undefined when nothing is wrong. */
  warning(): string | undefined {
    if (this.#status.error === null) return undefined
    const why = this.#isFull ? 'no room on its disk' : 'see the log of the service, or GET /api/status'
    return `the history could not be written to EXPORT_DIR or EXPORT_URL: ${why}; it is tried again`
  }

  /** Begins at once, and looks again at each interval. */
  start(onTried: OnTried = () => undefined): void {
    this.#onTried = onTried
    this.#status.here = true
    this.#look()
    this.#timer = setInterval(() => this.#look(), this.options.intervalMs)
    this.#timer.unref()
  }

  /** Ends a try that is under way: each file that it wrote is complete, or has no name yet. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    Object.assign(this.#status, { here: false, position: null, error: null })
    this.#child?.kill('SIGKILL')
    await this.#looking
    this.#archived = undefined
  }

  #look(): void {
    this.#looking ??= this.#tryNow()
      .catch((err: unknown) => this.#note({ failed: errorText(err), isFull: false }))
      .finally(() => (this.#looking = undefined))
  }

  async #tryNow(): Promise<void> {
    if (!(await this.#isDue())) return
    const { dataDirectory, place, keys, headKey, rangePositions } = this.options
    const job = { dataDirectory, place, keys, rangePositions, headKey: headKey?.toString('hex'), trusting: this.#archived !== undefined }
    const outcome = await this.#run(job)
    if (this.#status.here) this.#note(outcome)
  }

  /** Whether a range may be ready. */
  async #isDue(): Promise<boolean> {
    const { position } = await this.options.log.head()
    if (!this.#status.here) return false
    const { size, rangePositions } = this.#archived ?? { size: 0, rangePositions: 0 }
    return position >= size - (size % Math.max(rangePositions, 1)) + rangePositions
  }

  #run(job: ExportJob): Promise<Outcome> {
    return new Promise((resolve) => {
      const child = startProgram('export-process')
      this.#child = child
      child.on('message', (message: ExportMessage) => {
        if (!('at' in message)) resolve(message)
        else if (this.#status.here) this.#status.position = message.at
      })
      child.on('error', (error) => resolve({ failed: error.message, isFull: false }))
      // After a final message this has no effect.
      child.on('close', (code, signal) => resolve({ failed: `the process that exports ended: ${signal ?? code ?? ''}`, isFull: false }))
      // When the system has no more processes or files, the child is not connected; it closes soon.
      if (child.connected) child.send(job)
    })
  }

  #note(outcome: Outcome): void {
    const { logger } = this.options
    const { directory } = this.#status
    this.#child = undefined
    if ('done' in outcome) {
      const { size, written } = (this.#archived = outcome.done)
      Object.assign(this.#status, { position: size, written_at: new Date().toISOString(), error: null })
      if (written > 0) logger.info({ directory, position: size, ranges: written }, 'the history was exported')
      this.#onTried(true)
      return
    }
    this.#archived = undefined
    this.#isFull = outcome.isFull
    this.#status.error = outcome.failed
    logger.error({ directory, error: outcome.failed }, 'the history could not be exported; trying again later')
    // This may end the export here and clear the error, so it comes last.
    this.#onTried(false)
  }
}
