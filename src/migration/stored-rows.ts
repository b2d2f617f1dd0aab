import { genesis, nextChain } from '../../events/stored/chain.js'
import type { AnswerRow, EventRow, NoteRow, PayloadRow } from '../log/shared/postgres/rows.js'
import { sharedNotes } from '../log/shared/written-rows.js'
import { readLogId, readMeta, type LogConnection } from '../log/storage/schema.js'
import { ConfigError } from '../setup/config.js'

const batchMaxRows = 1_000
const batchMaxBytes = 4 * 1024 * 1024

/** Rows in parts of a bounded size; a part has at least one row. */
function* inParts<Row>(rows: Iterable<Row>, bytesOf: (row: Row) => number): Generator<Row[]> {
  let part: Row[] = []
  let bytes = 0
  for (const row of rows) {
    part.push(row)
    bytes += bytesOf(row)
    if (part.length < batchMaxRows && bytes < batchMaxBytes) continue
    yield part
    part = []
    bytes = 0
  }
  if (part.length > 0) yield part
}

/** The chain up to a position of the log here; undefined when the log has no such event. */
export const chainIn = (db: LogConnection, position: number): Buffer | undefined =>
  position === 0
    ? genesis(readLogId(db))
    : db.prepare<[number], Buffer>('SELECT chain FROM events WHERE position = ?').pluck().get(position)

/** The events after a position, in parts. @throws ConfigError when an event breaks the chain */
export function* eventsAfter(db: LogConnection, position: number, chain: Buffer): Generator<EventRow[]> {
  const events = db.prepare<[number], EventRow>('SELECT position, text, chain FROM events WHERE position > ? ORDER BY position')
  let previous = { position, chain }
  for (const part of inParts(events.iterate(position), ({ text }) => text.length)) {
    for (const event of part) {
      if (event.position !== previous.position + 1 || !nextChain(previous.chain, event.text).equals(event.chain))
        throw new ConfigError(`the log is damaged at position ${previous.position + 1}; "mindledger verify" says more`)
      previous = event
    }
    yield part
  }
}

/** The encrypted payloads of a log's file in the order of their storage, in parts of a bounded size. */
export const payloadsIn = (db: LogConnection): Generator<PayloadRow[]> => {
  const payloads = db.prepare<[], PayloadRow>(
    'SELECT hash, key_id AS keyId, wrapped, body, replaced_by AS replacedBy FROM payloads ORDER BY id',
  )
  return inParts(payloads.iterate(), ({ body }) => body.length)
}

/** The answers that a log's file keeps for repeated commands, in parts of a bounded size. */
export const answersIn = (db: LogConnection): Generator<AnswerRow[]> => {
  const answers = db.prepare<[], AnswerRow>('SELECT actor, key, fingerprint, answer, answered_at AS answeredAt FROM answers')
  return inParts(answers.iterate(), ({ answer }) => answer.length)
}

/** The log's own notes that every node needs. */
export const notesIn = (db: LogConnection): NoteRow[] =>
  sharedNotes.flatMap((key) => {
    const value = readMeta(db, key)
    return value === undefined ? [] : [{ key, value }]
  })
