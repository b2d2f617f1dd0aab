import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { blobsOf, erasedBlobsOf, mayNameBlobs } from '../../events/references.js'
import { genesis } from '../../events/stored/chain.js'
import { parseEnvelope } from '../../events/stored/envelope.js'
import { openSharedStore, type SharedPlace } from '../files/shared/open-store.js'
import type { Place } from '../log/shared/postgres/rows.js'
import { Session, Unreachable } from '../log/shared/postgres/session.js'
import { lookAt, reappendedAfter, reappendedNote } from '../log/shared/postgres/statements.js'
import { readLogId as readSharedLogId } from '../log/shared/postgres/tables.js'
import { lastPosition, openForWriting, readLogId, sharedSeqNote, writeMeta, type Connection } from '../log/storage/schema.js'
import { ConfigError } from '../setup/config.js'
import type { DataPaths } from '../setup/data-directory.js'
import { Sender, sendPayloads } from './sender.js'
import { answersIn, eventsAfter, notesIn } from './stored-rows.js'

export type Reappend = {
  /** The data directory of a node, which has ended. */
  paths: DataPaths
  to: SharedPlace
  onProgress: (text: string) => void
}

/** The positions that were appended again, none when `first` is beyond `last`, and the hashes of contents that nobody has any more. */
export type Reappended = { first: number; last: number; missing: string[] }

const positions = (first: number, last: number): string => (first === last ? `position ${first}` : `positions ${first} to ${last}`)

/** Where PostgreSQL ends, which has to be a place of this log. @throws ConfigError when it has something else there */
const endOf = async (session: Session, db: Connection): Promise<Place> => {
  const logId = readLogId(db)
  if ((await readSharedLogId(session)) !== logId) throw new ConfigError('PostgreSQL has another log than the data directory')
  const { seq, position, chain } = await lookAt(session)
  const last = lastPosition(db)
  const chainAt = db.prepare<[number], Buffer>('SELECT chain FROM events WHERE position = ?').pluck()
  const here = (at: number): Buffer | undefined => (at === 0 ? genesis(logId) : chainAt.get(at))
  if (position > last || here(position)?.equals(chain)) return { seq, position, chain }
  throw new ConfigError(
    `nothing was appended: others wrote up to position ${position} since PostgreSQL lost events of this node. They stay in this data directory alone, up to ${positions(last, last)}: "mindledger backup" keeps them, "mindledger export" lists them`,
  )
}

/** The blobs that events after a position name, except those erased since. */
const blobsAfter = (db: Connection, position: number): string[] => {
  const named = new Set<string>()
  const texts = db.prepare<[number], string>('SELECT text FROM events WHERE position > ? ORDER BY position').pluck()
  for (const text of texts.iterate(position)) {
    if (!mayNameBlobs(text) && !text.includes('"type":"DataErased"')) continue
    const { type, data } = parseEnvelope(text)
    for (const hash of blobsOf(type, data)) named.add(hash)
    for (const hash of erasedBlobsOf(type, data)) named.delete(hash)
  }
  return [...named]
}

/** Stores blobs that the store lost and the folder of this node has. Returns those that neither has. */
const sendBlobs = async (hashes: readonly string[], { paths, to }: Reappend): Promise<string[]> => {
  if (hashes.length === 0) return []
  const missing: string[] = []
  const { blobs, register, close } = await openSharedStore(to, { folder: join(paths.temporary, 'reappending') })
  try {
    for (const hash of hashes) {
      const file = join(paths.blobs, hash)
      if (existsSync(file)) await blobs.keep(file, hash)
      else if (!(await blobs.has(hash))) missing.push(hash)
    }
    await register.named(hashes)
    return missing
  } finally {
    await close()
  }
}

const sendLost = async (session: Session, db: Connection, asked: Reappend): Promise<Reappended> => {
  const end = await endOf(session, db)
  const last = lastPosition(db)
  const first = end.position + 1
  if (first > last) return { first, last, missing: [] }
  // Contents come first, as with every event that names some.
  const missing = await sendBlobs(blobsAfter(db, end.position), asked)
  const sender = new Sender(session, end)
  const before = Math.min(end.seq, (await reappendedAfter(session)) ?? end.seq)
  await sender.send({ notes: [...notesIn(db), { key: reappendedNote, value: String(before) }] })
  await sendPayloads(session, db, sender)
  for (const answers of answersIn(db)) await sender.send({ answers })
  for (const events of eventsAfter(db, end.position, end.chain)) {
    await sender.send({ events })
    asked.onProgress(`position ${sender.at.position}`)
  }
  writeMeta(db, sharedSeqNote, String(sender.at.seq))
  return { first, last, missing }
}

/**
 * Appends again what PostgreSQL lost and the data directory of a node still has, after a failover to a standby that was behind: the same
 * events at the same positions, their payloads, contents and answers. Nothing is appended once others wrote in their place. One that was
 * cut off goes on where it was.
 *
 * @example await reappend({ paths, to: { url: 'postgres://db/ledger', s3: undefined }, onProgress }) // { first: 954, last: 1317, missing: [] }
 * @throws ConfigError when others wrote since, PostgreSQL has another log or cannot be reached, or the log here is damaged
 */
export const reappend = async (asked: Reappend): Promise<Reappended> => {
  const db = openForWriting(asked.paths.log, () => {
    throw new ConfigError(`${asked.paths.log} holds no log`)
  })
  let session: Session | undefined
  try {
    session = await Session.open(asked.to.url)
    return await sendLost(session, db, asked)
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    throw new ConfigError(`PostgreSQL cannot be reached: ${error.message}. Run it again: it goes on where it was.`)
  } finally {
    db.close()
    session?.destroy()
  }
}
