import { errorText } from '../basics/errors.js'
import { open, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { sync } from '../basics/disk.js'
import type { Log } from '../log/contract/log.js'
import type { OnTried } from '../log/tasks/singleton-task.js'
import type { Heads } from './heads.js'
import { compareWithHeads, otherHead } from './compare-heads.js'
import type { Logger } from '../basics/logger.js'

/** The state of the last head: its position, the time when it reached the disk, and the reason why a later head failed. */
export type HeadFileStatus = { file: string; position: number | null; written_at: string | null; error: string | null }

/**
 * Appends a note to a file of notes, and syncs it to the disk. A partial write is undone.
 *
 * @example await appendNote('/mnt/elsewhere/heads.txt', note)
 */
export const appendNote = async (path: string, note: string): Promise<void> => {
  const file = await open(path, 'a', 0o644)
  try {
    const { size } = await file.stat()
    await writeWhole(file, size, size === 0 ? note : `\n${note}`)
    if (size === 0) await sync(dirname(path))
  } finally {
    await file.close()
  }
}

const writeWhole = async (file: FileHandle, size: number, text: string): Promise<void> => {
  try {
    await file.appendFile(text)
    await file.sync()
  } catch (error) {
    await file.truncate(size).catch(() => undefined)
    throw error
  }
}

/** The external file of signed heads. A head is appended at the start, after each interval in which the log grew, and at the end. */
export class HeadFile {
  readonly #options: { path: string; intervalMs: number; log: Log; heads: Heads; logger: Pick<Logger, 'error'> }
  readonly #status: HeadFileStatus
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()
  #onTried: OnTried = () => undefined
  /** The head in the file that does not belong to this log: nothing more is written. */
  #other: string | undefined

  constructor(options: { path: string; intervalMs: number; log: Log; heads: Heads; logger: Pick<Logger, 'error'> }) {
    this.#options = options
    this.#status = { file: options.path, position: null, written_at: null, error: null }
  }

  /** The last written head, and the last error. */
  status(): HeadFileStatus {
    return { ...this.#status }
  }

  /** The reason why no more heads are written, in words; undefined while they are written. */
  warning(): string | undefined {
    return this.#other && `no more heads are written: HEAD_FILE shows that the log has lost events, ${this.#other}`
  }

  /**
   * Checks that the log agrees with its heads in the file. Another node may have written the last heads, about events that this node does
   * not have yet.
   * @throws ConfigError when it does not agree; Problem 503 when this node cannot get the newest events
   */
  async compare(): Promise<void> {
    const { log, path } = this.#options
    if ((await otherHead(log, path)) === undefined) return
    await log.newest()
    await compareWithHeads(log, path)
  }

  /**
   * Another node may have written the last heads, about events that the shared log has lost since. One file must not have heads of two
   * histories, so no more heads are written then. `onTried` hears of each try to write one.
   */
  async start(onTried: OnTried = () => undefined): Promise<void> {
    const { log, path, logger } = this.#options
    this.#onTried = onTried
    await log.newest()
    this.#other = await otherHead(log, path)
    if (this.#other !== undefined) {
      this.#status.error = this.#other
      logger.error({ file: path, found: this.#other }, 'no more heads are written: the file shows that the log has lost events')
      return
    }
    await this.#append()
    this.#timer = setInterval(() => void this.#append(), this.#options.intervalMs)
    this.#timer.unref()
  }

  /** Stops, and writes the newest head, unless the file shows that the log has lost events. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    if (this.#other === undefined) await this.#append()
  }

  /** One at a time. A failure does not stop the service; the next interval tries again. */
  #append(): Promise<void> {
    const failed = (err: unknown) => {
      this.#status.error = errorText(err)
      this.#options.logger.error({ err, file: this.#options.path }, 'the head could not be written')
      this.#onTried(false)
    }
    this.#writing = this.#writing.then(() => this.#appendNow().then(() => this.#onTried(true), failed))
    return this.#writing
  }

  async #appendNow(): Promise<void> {
    const { path, log, heads } = this.#options
    const { position } = await log.head()
    if (position === this.#status.position) return
    await appendNote(path, await heads.at(position))
    Object.assign(this.#status, { position, written_at: new Date().toISOString(), error: null })
  }
}
