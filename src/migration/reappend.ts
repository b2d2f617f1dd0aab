import { blobsOf, erasedBlobsOf, mayEraseBlobs, mayNameBlobs } from '../../events/catalogue/references.js'
import { parseEnvelope } from '../../events/stored/envelope.js'
import type { Place } from '../log/shared/postgres/rows.js'
import { answersLost, notesThere } from '../log/shared/postgres/differences.js'
import type { SharedLogSession } from '../log/shared/postgres/shared-log-session.js'
import { chainAt, lookAt, reappendedAfter } from '../log/shared/postgres/statements.js'
import { readLogId as readSharedLogId } from '../log/shared/postgres/tables.js'
import { masterKeyIds, replyKeyNote } from '../log/storage/keys.js'
import {
  lastPosition,
  openForWriting,
  prepareSharedBatch,
  readLogId,
  readMeta,
  reappendedNote,
  type LogConnection,
} from '../log/storage/schema.js'
import { ConfigError } from '../setup/config.js'
import { inSession, sendBlobs, Sender, sendPayloads, type PostgresMigration } from './sender.js'
import { refuseWhileServed } from './serving.js'
import { answersIn, chainIn, eventsAfter, notesIn } from './stored-rows.js'

/**
 * The positions that were appended again (none if `first` is greater than `last`), the number of stored answers that were sent, and the
 * hashes of contents that neither PostgreSQL nor the data directory has.
 */
export type ReappendResult = { first: number; last: number; answers: number; missing: string[] }

const onlyHere = (last: number): string =>
  `They stay in this data directory alone, up to position ${last}: "mindledger backup" keeps them, "mindledger export" lists them`

/** The end of the log in PostgreSQL, which must be a place of this log. @throws ConfigError when PostgreSQL has another event there */
const endOf = async (session: SharedLogSession, db: LogConnection): Promise<Place> => {
  if ((await readSharedLogId(session)) !== readLogId(db)) throw new ConfigError('PostgreSQL has another log than the data directory')
  const { seq, position, chain, batch } = await lookAt(session)
  const last = lastPosition(db)
  const there = position > last && last > 0 ? await chainAt(session, last) : chain
  if (last === 0 || (there && chainIn(db, Math.min(position, last))?.equals(there))) return { seq, position, chain, batch }
  throw new ConfigError(
    `nothing was appended: others wrote up to position ${position} since PostgreSQL lost events of this node. ${onlyHere(last)}`,
  )
}

/** @throws ConfigError when PostgreSQL changes to another master key than that of this log: each would lose keys of the other */
const refuseOtherRotation = async (session: SharedLogSession, db: LogConnection): Promise<void> => {
  const [inUse, rotation] = await notesThere(session, ['key_id', 'rotation'])
  const [own] = masterKeyIds(db)
  if (!rotation?.value || own === inUse?.value) return
  const { to } = JSON.parse(rotation.value) as { to: string }
  if (to === own) return
  throw new ConfigError(
    `the lost events were not appended: PostgreSQL changes to the master key ${to}, and this data directory to ${own ?? 'none'}. ${onlyHere(lastPosition(db))}`,
  )
}

/** The blobs that events after a position name, except those erased since. */
const blobsAfter = (db: LogConnection, position: number): string[] => {
  const named = new Set<string>()
  const texts = db.prepare<[number], string>('SELECT text FROM events WHERE position > ? ORDER BY position').pluck()
  for (const text of texts.iterate(position)) {
    if (!mayNameBlobs(text) && !mayEraseBlobs(text)) continue
    const { type, data } = parseEnvelope(text)
    for (const hash of blobsOf(type, data)) named.add(hash)
    for (const hash of erasedBlobsOf(type, data)) named.delete(hash)
  }
  return [...named]
}

/**
 * Sends stored answers that PostgreSQL lost although it has all events. This is only safe while PostgreSQL has no later event: it might be
 * an erasure, and the answers might show erased data. The other rows may have changed since. The node takes PostgreSQL's version of them.
 */
const sendAnswers = async (session: SharedLogSession, db: LogConnection, end: Place): Promise<number> => {
  const sender = new Sender(session, end)
  // PostgreSQL may also have lost the key of those that are sealed.
  const [there] = await notesThere(session, [replyKeyNote])
  const own = readMeta(db, replyKeyNote)
  if (own !== undefined && (there?.value ?? null) === null) await sender.send({ notes: [{ key: replyKeyNote, value: own }] })
  let sent = 0
  for (const part of answersIn(db)) {
    const answers = await answersLost(session, part)
    if (answers.length > 0) await sender.send({ answers })
    sent += answers.length
  }
  return sent
}

const sendLost = async (session: SharedLogSession, db: LogConnection, asked: PostgresMigration): Promise<ReappendResult> => {
  const end = await endOf(session, db)
  const last = lastPosition(db)
  const first = end.position + 1
  if (first > last) return { first, last, answers: end.position === last ? await sendAnswers(session, db, end) : 0, missing: [] }
  // A node that wraps keys again would not return to the keys that are sent now.
  await refuseWhileServed(asked.to.url)
  await refuseOtherRotation(session, db)
  // Contents are sent before the events that name them, as always.
  const missing = await sendBlobs(blobsAfter(db, end.position), asked)
  const sender = new Sender(session, end)
  const before = Math.min(end.seq, (await reappendedAfter(session)) ?? end.seq)
  // The lost events may have removed the key of kept answers.
  const removed = readMeta(db, replyKeyNote) === undefined ? [{ key: replyKeyNote, value: null }] : []
  await sender.send({ notes: [...notesIn(db), ...removed, { key: reappendedNote, value: String(before) }] })
  await sendPayloads(session, db, sender)
  let sent = 0
  for (const answers of answersIn(db)) {
    await sender.send({ answers })
    sent += answers.length
  }
  for (const events of eventsAfter(db, end.position, end.chain)) {
    await sender.send({ events })
    asked.onProgress(`position ${sender.at.position}`)
  }
  prepareSharedBatch(db)(sender.at)
  return { first, last, answers: sent, missing }
}

/**
 * Appends the rows again that PostgreSQL lost and the data directory of a node still has, after a failover to a standby that was behind:
 * the same events at the same positions, with their payloads, contents and answers. Nothing is appended if others wrote at these positions.
 * A run after an interruption continues where the last one ended.
 *
 * @example await reappend({ paths, to: { url: 'postgres://db/ledger', s3: undefined }, onProgress }) // { first: 954, last: 1317, answers: 3, missing: [] }
 * @throws ConfigError when others wrote since or serve, PostgreSQL has another log or cannot be reached, or the log here is damaged
 */
export const reappend = async (asked: PostgresMigration): Promise<ReappendResult> => {
  const db = openForWriting(asked.paths.log, () => {
    throw new ConfigError(`${asked.paths.log} holds no log`)
  })
  try {
    return await inSession(asked.to.url, (session) => sendLost(session, db, asked))
  } finally {
    db.close()
  }
}
