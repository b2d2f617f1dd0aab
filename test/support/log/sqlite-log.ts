import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { StoredEvent } from '../../../projections/staging.js'
import type { FollowedLog } from '../../../src/sql-process/process/serve.js'
import { MemoryLog, type Written } from './memory-log.js'

/** Reads a log file that contains only events. */
export const openSqliteLog = (dataDirectory: string): FollowedLog => {
  const sqlite = new Database(join(dataDirectory, 'log.sqlite'), { readonly: true })
  const head = sqlite.prepare<[], number | null>('SELECT max(position) FROM events').pluck()
  const read = sqlite.prepare<[number, number], StoredEvent>(
    'SELECT position, text FROM events WHERE position > ? ORDER BY position LIMIT ?',
  )
  const erasedAt = sqlite.prepare<[], number | null>(`SELECT max(position) FROM events WHERE text LIKE '%"type":"DataErased"%'`).pluck()
  return {
    head: () => head.get() ?? 0,
    read: (after, limit) => read.all(after, limit),
    payload: () => undefined,
    erasedAt: () => erasedAt.get() ?? 0,
    useKeys: () => undefined,
  }
}

/** A data directory with a log that contains only events. Another process can follow it. */
export class SqliteLog {
  readonly log = new MemoryLog()
  readonly #sqlite: Database.Database

  constructor(readonly directory: string) {
    mkdirSync(join(directory, 'blobs'), { recursive: true })
    writeFileSync(join(directory, 'FORMAT'), '1\n')
    this.#sqlite = new Database(join(directory, 'log.sqlite'))
    this.#sqlite.exec('PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS events (position INTEGER PRIMARY KEY, text TEXT NOT NULL)')
  }

  append(...events: Written[]): number {
    const from = this.log.head()
    this.log.append(...events)
    this.#insert(from)
    return this.log.head()
  }

  /** Writes a text that is not an event. */
  appendText(text: string): number {
    this.log.texts.push(text)
    this.#insert(this.log.head() - 1)
    return this.log.head()
  }

  #insert(from: number): void {
    const insert = this.#sqlite.prepare('INSERT INTO events VALUES (?, ?)')
    this.#sqlite.transaction(() => this.log.texts.slice(from).forEach((text, i) => insert.run(from + i + 1, text)))()
  }

  close(): void {
    this.#sqlite.close()
  }
}
