import { genesis, nextChain } from '../../events/stored/chain.js'
import { inParts } from '../basics/limits/in-parts.js'
import { hashesIn } from '../log/shared/postgres/rewritten.js'
import type { AnswerRow, EventRow, NoteRow, PayloadRow } from '../log/shared/postgres/rows.js'
import { sharedNotes } from '../log/shared/written-rows.js'
import { readLogId, readMeta, type LogConnection } from '../log/storage/schema.js'
import { ConfigError } from '../setup/config.js'

/** Bounds of a batch. */
const bounds = { maxItems: 1_000, maxSize: 4 * 1024 * 1024 }

/** The chain up to a position of the log here; undefined when the log has no such event. */
export const chainIn = (db: LogConnection, position: number): Buffer | undefined =>
  position === 0
    ? genesis(readLogId(db))
    : db.prepare<[number], Buffer>('SELECT chain FROM events WHERE position = ?').pluck().get(position)

/**
 * The events after a position, in parts. Payloads that an event names count towards the size of its part: a node that joins later fetches
 * them together with it.
 * @throws ConfigError when an event breaks the chain
 */
export function* eventsAfter(db: LogConnection, position: number, chain: Buffer): Generator<EventRow[]> {
  const events = db.prepare<[number], EventRow>('SELECT position, text, chain FROM events WHERE position > ? ORDER BY position')
  const payloads = db
    .prepare<[string], number>('SELECT coalesce(sum(length(body)), 0) FROM payloads WHERE hash IN (SELECT value FROM json_each(?))')
    .pluck()
  const bytesOf = ({ text }: EventRow): number => {
    const named = hashesIn(text)
    return text.length + (named.length > 0 ? (payloads.get(JSON.stringify(named)) ?? 0) : 0)
  }
  let previous = { position, chain }
  for (const part of inParts(events.iterate(position), bytesOf, bounds)) {
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
  return inParts(payloads.iterate(), ({ body }) => body.length, bounds)
}

/** The answers that a log's file keeps for repeated commands, in parts of a bounded size. */
export const answersIn = (db: LogConnection): Generator<AnswerRow[]> => {
  const answers = db.prepare<[], AnswerRow>('SELECT actor, key, fingerprint, answer, answered_at AS answeredAt FROM answers')
  return inParts(answers.iterate(), ({ answer }) => answer.length, bounds)
}

/** The log's own notes that every node needs. */
export const notesIn = (db: LogConnection): NoteRow[] =>
  sharedNotes.flatMap((key) => {
    const value = readMeta(db, key)
    return value === undefined ? [] : [{ key, value }]
  })
