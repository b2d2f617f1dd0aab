import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { genesis } from '../../events/stored/chain.js'
import { neededBlobs } from '../backup/log-copy.js'
import { openSharedStore, type SharedPlace } from '../files/shared/open-store.js'
import type { Place } from '../log/shared/postgres/rows.js'
import { Session, Unreachable } from '../log/shared/postgres/session.js'
import { openTables } from '../log/shared/postgres/tables.js'
import { openForReading, openForWriting, readLogId, sharedSeqNote, writeMeta, type Connection } from '../log/storage/schema.js'
import { ConfigError } from '../setup/config.js'
import type { DataPaths } from '../setup/data-directory.js'
import { Sender, sendPayloads } from './sender.js'
import { answersIn, eventsAfter, notesIn } from './stored-rows.js'

export type ToPostgres = {
  /** The data directory, which nobody else uses meanwhile. */
  paths: DataPaths
  to: SharedPlace
  onProgress: (text: string) => void
}

/** What was moved: up to which position, how many blobs, and the hashes of those that were missing. */
export type Moved = { position: number; blobs: number; missing: string[] }

/** A log of this format no release opens: it is under way, and nobody may write to it. */
const unfinished = 0
const finished = 1

type HeadRow = { seq: string; position: string; chain: Buffer }

/** Begins the log, or goes on with one that a migration of this log began. @throws ConfigError when it is another one, or whole */
const begin = async (session: Session, logId: string): Promise<Place> => {
  const [found] = (await session.query<{ there: boolean }>(`SELECT to_regclass('mindledger.head') IS NOT NULL AS there`)).rows
  if (found?.there !== true) await openTables(session, () => logId)
  const { rows } = await session.query<HeadRow>(
    `UPDATE mindledger.head SET format = $2 WHERE log_id = $1 AND (format = $2 OR seq = 0) RETURNING seq, position, chain`,
    [logId, unfinished],
  )
  const [head] = rows
  if (head) return { seq: Number(head.seq), position: Number(head.position), chain: head.chain }
  throw new ConfigError('PostgreSQL has a log already. Name a database that has none; nodes join the log that is there with LOG_URL.')
}

/** Opens the log here for a change. A log of an older release is brought up to date. */
const changeHere = ({ log }: DataPaths, change: (db: Connection) => void = () => undefined): void => {
  const db = openForWriting(log, () => {
    throw new ConfigError(`${log} holds no log`)
  })
  try {
    change(db)
  } finally {
    db.close()
  }
}

const sendLog = async (session: Session, db: Connection, { onProgress }: ToPostgres): Promise<Place> => {
  const logId = readLogId(db)
  const place = await begin(session, logId)
  const chainAt = db.prepare<[number], Buffer>('SELECT chain FROM events WHERE position = ?').pluck()
  const chain = place.position === 0 ? genesis(logId) : chainAt.get(place.position)
  if (!chain?.equals(place.chain)) throw new ConfigError('PostgreSQL has events of this log that the data directory does not have')
  const sender = new Sender(session, place)
  await sendPayloads(session, db, sender)
  for (const answers of answersIn(db)) await sender.send({ answers })
  await sender.send({ notes: notesIn(db) })
  for (const events of eventsAfter(db, place.position, place.chain)) {
    await sender.send({ events })
    onProgress(`position ${sender.at.position}`)
  }
  return sender.at
}

const sendBlobs = async (db: Connection, { paths, to, onProgress }: ToPostgres): Promise<Omit<Moved, 'position'>> => {
  const needed = [...neededBlobs(db)]
  const missing: string[] = []
  // The folder is no cache yet: nothing is taken from it.
  const { blobs, register, close } = await openSharedStore(to, { folder: join(paths.temporary, 'migration') })
  try {
    for (const [done, hash] of needed.entries()) {
      const file = join(paths.blobs, hash)
      if (existsSync(file)) await blobs.keep(file, hash)
      else missing.push(hash)
      onProgress(`${done + 1} of ${needed.length} blobs`)
    }
    await register.named(needed)
    return { blobs: needed.length - missing.length, missing }
  } finally {
    await close()
  }
}

/**
 * Moves the log and the blobs of a data directory to PostgreSQL. Positions, texts, chain and id stay, so that heads that were signed and
 * exports that were made hold. No node opens the log before it is whole. One that was cut off goes on where it was; afterwards the
 * directory is that of a node.
 *
 * @example (await toPostgres({ paths, to: { url: 'postgres://db/ledger', s3: undefined }, onProgress })).position // 4711
 * @throws ConfigError when PostgreSQL has another log, cannot be reached, or the log here is damaged
 */
export const toPostgres = async (asked: ToPostgres): Promise<Moved> => {
  const { paths, to } = asked
  changeHere(paths)
  const db = openForReading(paths.log)
  let session: Session | undefined
  try {
    session = await Session.open(to.url)
    const open = session
    const place = await sendLog(open, db, asked)
    const moved = await sendBlobs(db, asked)
    // From now on the directory follows.
    changeHere(paths, (here) => writeMeta(here, sharedSeqNote, String(place.seq)))
    await open.query('UPDATE mindledger.head SET format = $1', [finished])
    return { position: place.position, ...moved }
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    throw new ConfigError(`PostgreSQL cannot be reached: ${error.message}. Run it again: it goes on where it was.`)
  } finally {
    db.close()
    session?.destroy()
  }
}
