import type { Statement } from 'better-sqlite3'
import type { StoredEvent } from '../contract/log.js'
import { readLogId, type LogConnection } from './schema.js'
import { genesis, nextChain, type ChainHash } from '../../../events/stored/chain.js'
import { instant, parseEnvelope } from '../../../events/stored/envelope.js'
import { ConfigError } from '../../setup/config.js'

/** The rows of a statement until their texts have `maxChars` characters. The row that reaches the limit is the last. */
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

/** Reads events by their place in the log or in a stream. */
export class EventReads {
  readonly #all
  readonly #stream
  readonly #newest
  readonly #position

  constructor(db: LogConnection) {
    this.#all = db.prepare<[number, number], StoredEvent>('SELECT position, text FROM events WHERE position > ? ORDER BY position LIMIT ?')
    this.#stream = db.prepare<[string, number, number], StoredEvent>(
      'SELECT position, text FROM events WHERE stream = ? AND version > ? ORDER BY version LIMIT ?',
    )
    this.#newest = db.prepare<[string], number | null>('SELECT max(version) FROM events WHERE stream = ?').pluck()
    // The index also has the positions, so no text is read.
    this.#position = db.prepare<[string, number], number>('SELECT position FROM events WHERE stream = ? AND version = ?').pluck()
  }

  /** Events after a position, in order: at most `limit`, and fewer if their texts reach `maxChars` characters. */
  all(after: number, limit: number, maxChars?: number): StoredEvent[] {
    return bounded(this.#all, [after, limit], maxChars)
  }

  /** Events of a stream after a version, in order, with the same limits. */
  stream(stream: string, after: number, limit: number, maxChars?: number): StoredEvent[] {
    return bounded(this.#stream, [stream, after, limit], maxChars)
  }

  /** The version that a stream had at a position; 0 before its first event. Positions rise with versions, so few of them are read. */
  versionAt(stream: string, position: number): number {
    let [version, end] = [0, this.#newest.get(stream) ?? 0]
    while (version < end) {
      const middle = Math.ceil((version + end) / 2)
      if ((this.#position.get(stream, middle) ?? Infinity) <= position) version = middle
      else end = middle - 1
    }
    return version
  }
}

/** The end of the log. The next event follows it. */
export type Tail = { position: number; chain: ChainHash; microseconds: number }

type Row = { position: number; text: Buffer; chain: Buffer }

/** The time of an event, in microseconds since 1970. */
export const microsecondsOf = (recordedAt: string): number =>
  Date.parse(`${recordedAt.slice(0, 23)}Z`) * 1000 + Number(recordedAt.slice(23, 26))

/** The time of the next event: now, but always later than the previous event, so that a time identifies one position. */
export const nextInstant = (previous: number, nowMilliseconds: number): { microseconds: number; text: string } => {
  const microseconds = Math.max(nowMilliseconds * 1000, previous + 1)
  return { microseconds, text: instant(Math.floor(microseconds / 1000), microseconds % 1000) }
}

/**
 * Reads the end of the log and checks the chain of its last events.
 * @throws ConfigError with the position where the chain is broken
 */
export const readTail = (db: LogConnection, checked = 100): Tail => {
  const rows = db
    .prepare<[number], Row>('SELECT position, CAST(text AS BLOB) AS text, chain FROM events ORDER BY position DESC LIMIT ?')
    .all(checked + 1)
    .reverse()
  let previous = rows[0]?.position === 1 || rows.length === 0 ? { position: 0, chain: genesis(readLogId(db)) } : rows.shift()
  let recordedAt = ''
  for (const row of rows) {
    if (!previous || row.position !== previous.position + 1 || !nextChain(previous.chain, row.text).equals(row.chain))
      throw new ConfigError(
        `the log is broken at position ${row.position}: it does not follow from the event before. Run "mindledger verify".`,
      )
    recordedAt = parseEnvelope(row.text.toString()).recorded_at
    previous = row
  }
  return {
    position: previous?.position ?? 0,
    chain: previous?.chain ?? genesis(readLogId(db)),
    microseconds: recordedAt === '' ? 0 : microsecondsOf(recordedAt),
  }
}
