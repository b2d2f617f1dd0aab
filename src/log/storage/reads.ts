import type { Statement } from 'better-sqlite3'
import type { StoredEvent } from '../contract/log.js'
import type { Connection } from './schema.js'

/** The rows of a statement until their texts have `maxChars` characters; the row that reaches the limit is the last. */
const bounded = <P extends unknown[]>(statement: Statement<P, StoredEvent>, parameters: P, maxChars = Infinity): StoredEvent[] => {
  if (maxChars === Infinity) return statement.all(...parameters)
  const events: StoredEvent[] = []
  let chars = 0
  for (const event of statement.iterate(...parameters)) {
    events.push(event)
    chars += event.text.length
    if (chars >= maxChars) break
  }
  return events
}

/** Reads of events by their place in the log or in a stream. */
export class EventReads {
  readonly #all
  readonly #stream
  readonly #version

  constructor(db: Connection) {
    this.#all = db.prepare<[number, number], StoredEvent>('SELECT position, text FROM events WHERE position > ? ORDER BY position LIMIT ?')
    this.#stream = db.prepare<[string, number, number], StoredEvent>(
      'SELECT position, text FROM events WHERE stream = ? AND version > ? ORDER BY version LIMIT ?',
    )
    // The index has the positions too, so that no text is read.
    this.#version = db
      .prepare<[string, number], number>('SELECT version FROM events WHERE stream = ? AND position <= ? ORDER BY version DESC LIMIT 1')
      .pluck()
  }

  all(after: number, limit: number, maxChars?: number): StoredEvent[] {
    return bounded(this.#all, [after, limit], maxChars)
  }

  stream(stream: string, after: number, limit: number, maxChars?: number): StoredEvent[] {
    return bounded(this.#stream, [stream, after, limit], maxChars)
  }

  versionAt(stream: string, position: number): number {
    return this.#version.get(stream, position) ?? 0
  }
}
