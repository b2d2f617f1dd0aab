import { genesis, nextChain, type ChainHash } from '../../../events/stored/chain.js'
import { instant, parseEnvelope } from '../../../events/stored/envelope.js'
import { ConfigError } from '../../setup/config.js'
import { readLogId, type Connection } from './schema.js'

/** The end of the log, which the next event follows. */
export type Tail = { position: number; chain: ChainHash; microseconds: number }

type Row = { position: number; text: Buffer; chain: Buffer }

const microsecondsOf = (recordedAt: string): number => Date.parse(`${recordedAt.slice(0, 23)}Z`) * 1000 + Number(recordedAt.slice(23, 26))

/** The time of the next event: now, but always later than the event before, so that a time identifies one position. */
export const nextInstant = (previous: number, nowMilliseconds: number): { microseconds: number; text: string } => {
  const microseconds = Math.max(nowMilliseconds * 1000, previous + 1)
  return { microseconds, text: instant(Math.floor(microseconds / 1000), microseconds % 1000) }
}

/**
 * Reads the end of the log and checks the chain of its last events.
 * @throws ConfigError that names the position where it is broken
 */
export const readTail = (db: Connection, checked = 100): Tail => {
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
