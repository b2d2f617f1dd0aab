/** Room: a log that moves to PostgreSQL and back. It imports only events, basics, setup, vault, log, files and backup. */

import { neededBlobs } from '../backup/log-copy.js'
import type { Place } from '../log/shared/postgres/rows.js'
import type { SharedLogSession } from '../log/shared/postgres/shared-log-session.js'
import { openTables } from '../log/shared/postgres/tables.js'
import {
  openForReading,
  openForWriting,
  prepareSharedBatch,
  readLogId,
  readSharedBatch,
  reappendedNote,
  type LogConnection,
} from '../log/storage/schema.js'
import { ConfigError } from '../setup/config.js'
import type { DataPaths } from '../setup/data-directory.js'
import { inSession, sendBlobs, Sender, sendPayloads, type PostgresMigration } from './sender.js'
import { answersIn, chainIn, eventsAfter, notesIn } from './stored-rows.js'

/** The result of a migration: the last position, the number of blobs, and the hashes of missing blobs. */
export type MigrationResult = { position: number; blobs: number; missing: string[] }

/** No release opens a log of this format: its migration is in progress, and no node may write to it. */
const unfinished = 0
const finished = 1

type HeadRow = { seq: string; position: string; chain: Buffer }

/** The migration of a data directory; `lost` says that the PostgreSQL that it follows does not exist any more. */
export type ToPostgres = PostgresMigration & { lost?: boolean }

/** The refusal of a node's directory whose PostgreSQL may be in use: both would take writes. */
const followsPostgres = ({ paths }: ToPostgres): ConfigError =>
  new ConfigError(
    `${paths.root} follows a log in PostgreSQL. If that PostgreSQL is lost, end all nodes and add --lost. If it is not, move its database with its own tools, such as pg_dump.`,
  )

/** Begins the log, or continues one that a migration of this log began. @throws ConfigError when it is another log, or complete */
const begin = async (session: SharedLogSession, db: LogConnection, asked: ToPostgres): Promise<Place> => {
  const logId = readLogId(db)
  const [found] = (await session.query<{ there: boolean }>(`SELECT to_regclass('mindledger.head') IS NOT NULL AS there`)).rows
  if (found?.there !== true) {
    if (readSharedBatch(db) !== undefined && asked.lost !== true) throw followsPostgres(asked)
    await openTables(session, () => logId)
  }
  const { rows } = await session.query<HeadRow>(
    `UPDATE mindledger.head SET format = $2 WHERE log_id = $1 AND (format = $2 OR seq = 0) RETURNING seq, position, chain`,
    [logId, unfinished],
  )
  const [head] = rows
  if (head) return { seq: Number(head.seq), position: Number(head.position), chain: head.chain, batch: undefined }
  throw new ConfigError('PostgreSQL has a log already. Name a database without a log; nodes join the existing log with LOG_URL.')
}

/** Opens the log here for a change, and updates a log of an older release. */
const changeHere = ({ log }: DataPaths, change: (db: LogConnection) => void = () => undefined): void => {
  const db = openForWriting(log, () => {
    throw new ConfigError(`${log} holds no log`)
  })
  try {
    change(db)
  } finally {
    db.close()
  }
}

const sendLog = async (session: SharedLogSession, db: LogConnection, asked: ToPostgres): Promise<Place> => {
  const place = await begin(session, db, asked)
  if (!chainIn(db, place.position)?.equals(place.chain))
    throw new ConfigError('PostgreSQL has events of this log that the data directory does not have')
  const sender = new Sender(session, place)
  await sendPayloads(session, db, sender)
  for (const answers of answersIn(db)) await sender.send({ answers })
  // A node that is behind takes all rows again that are no events: they come before the events here.
  await sender.send({ notes: [...notesIn(db), { key: reappendedNote, value: '0' }] })
  for (const events of eventsAfter(db, place.position, place.chain)) {
    await sender.send({ events })
    asked.onProgress(`position ${sender.at.position}`)
  }
  return sender.at
}

/**
 * Moves the log and the blobs of a data directory to PostgreSQL. Positions, texts, chain and id stay, so earlier signed heads and exports
 * stay valid. No node opens the log before it is complete. A run after an interruption continues where the last one ended; afterwards the
 * directory belongs to a node.
 *
 * @example (await toPostgres({ paths, to: { url: 'postgres://db/ledger', s3: undefined }, onProgress })).position // 4711
 * @throws ConfigError when PostgreSQL has another log, cannot be reached, the log here is damaged, or follows another PostgreSQL
 */
export const toPostgres = async (asked: ToPostgres): Promise<MigrationResult> => {
  const { paths, to } = asked
  changeHere(paths)
  const db = openForReading(paths.log)
  try {
    return await inSession(to.url, async (session) => {
      const place = await sendLog(session, db, asked)
      const needed = [...neededBlobs(db)]
      const missing = await sendBlobs(needed, asked)
      // From now on the directory follows the log in PostgreSQL.
      changeHere(paths, (here) => prepareSharedBatch(here)(place))
      await session.query('UPDATE mindledger.head SET format = $1', [finished])
      return { position: place.position, blobs: needed.length - missing.length, missing }
    })
  } finally {
    db.close()
  }
}
