import { statSync } from 'node:fs'

/** Why writes are refused, and what to do. */
export type Refusal = { cause: string; hint: string }

/** The file that a path names, as device and inode number; undefined when it cannot be read. */
const identityOf = (path: string): string | undefined => {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}

/**
 * The log's file and its write-ahead log, as they were at their opening. A process keeps writing to a file that was deleted, moved or
 * replaced, and that data is lost when the process ends.
 *
 * @example const file = new OpenedFile('data/log.sqlite'); file.note(); file.displaced() // undefined
 */
export class OpenedFile {
  #log: string | undefined
  #wal: string | undefined

  constructor(private readonly path: string) {}

  /** Notes which files are open now. The log itself stays the one that was opened first. */
  note(): void {
    this.#log ??= identityOf(this.path)
    this.#wal = identityOf(this.#walPath)
  }

  /** The write-ahead log is closed together with its connection; another one may then take its place. */
  forgetWal(): void {
    this.#wal = undefined
  }

  /** What happened to the open files, and what to do; undefined if they are in their place. It costs two `stat` calls. */
  displaced(): Refusal | undefined {
    if (this.#log !== undefined && identityOf(this.path) !== this.#log)
      return {
        cause: 'the file of the log was deleted, moved or replaced while the service runs',
        hint: 'Nothing more is written. What was recorded can still be read from this process: save GET /api/events as lines, then stop it, put the data directory back and start again.',
      }
    if (this.#wal !== undefined && identityOf(this.#walPath) !== this.#wal)
      return {
        cause: 'the write-ahead log (log.sqlite-wal) was deleted, moved or replaced while the service runs',
        hint: 'Nothing more is written. Stop the service with SIGTERM, never SIGKILL: closing the log brings what was recorded into log.sqlite. Then start it again.',
      }
    return undefined
  }

  get #walPath(): string {
    return `${this.path}-wal`
  }
}
