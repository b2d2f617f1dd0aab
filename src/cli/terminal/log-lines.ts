import { write, writeSync } from 'node:fs'
import { limits } from '../../basics/limits.js'

const retryMs = 100
/** The pause after a write: a busy service then writes many lines at once. */
const gatherMs = 20
const newline = 0x0a

/** The number of written bytes, and the error that ended the write. */
type WriteCallback = (reached: number, error: NodeJS.ErrnoException | null) => void

const lostLine = (lost: number): string =>
  `${JSON.stringify({ level: 40, time: new Date().toISOString(), lost, msg: `up to ${lost} lines of this log could not be written and are lost` })}\n`

/**
 * Writes the lines of the service's own log. The service never waits for them and never fails because of them: lines that cannot be
 * written, for example on a full disk, are counted and dropped. Each new line is another attempt; before the first one that
 * succeeds, a line says how many were lost.
 *
 * @example const logger = pino({ level: 'info' }, new LogLines(1))
 */
export class LogLines {
  #waiting: string[] = []
  #chars = 0
  /** Whether a write, or the pause after it, is under way. */
  #isWriting = false
  #lost = 0
  /** Whether the last line in the file is incomplete. */
  #isTorn = false

  /** @param fd an open file, pipe or terminal */
  constructor(private readonly fd: number) {}

  /** Accepts a line with its newline and returns at once. */
  write(line: string): void {
    if (this.#chars + line.length > limits.logLinesMaxChars) this.#lost += 1
    else {
      this.#waiting.push(line)
      this.#chars += line.length
    }
    if (!this.#isWriting) this.#writeWaiting()
  }

  /** Writes the waiting lines synchronously at the end of the process. If this fails, they are lost. */
  end(): void {
    try {
      writeSync(this.fd, this.#take())
    } catch {
      // Nobody can get a report at this point.
    }
  }

  #take(): string {
    const text = this.#waiting.join('')
    this.#waiting = []
    this.#chars = 0
    return text
  }

  #writeWaiting(): void {
    const lines = this.#waiting.length
    if (lines === 0) return
    this.#isWriting = true
    const told = this.#lost
    const bytes = Buffer.from((this.#isTorn ? '\n' : '') + (told > 0 ? lostLine(told) : '') + this.#take())
    this.#put(bytes, 0, (reached, error) => {
      if (reached > 0) this.#isTorn = bytes[reached - 1] !== newline
      this.#lost += error ? lines : -told
      // The process need not stay for it: at its end the waiting lines are written at once.
      setTimeout(() => {
        this.#isWriting = false
        this.#writeWaiting()
      }, gatherMs).unref()
    })
  }

  #put(bytes: Buffer, from: number, done: WriteCallback): void {
    write(this.fd, bytes, from, bytes.length - from, null, (error, written) => {
      // The reader of the pipe is slow: retry later.
      if (error?.code === 'EAGAIN') setTimeout(() => this.#put(bytes, from, done), retryMs)
      else if (error) done(from, error)
      else if (from + written < bytes.length) this.#put(bytes, from + written, done)
      else done(bytes.length, null)
    })
  }
}
