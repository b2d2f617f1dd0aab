import { randomUUID } from 'node:crypto'
import type { Place, Rows } from '../log/shared/postgres/rows.js'
import type { Session } from '../log/shared/postgres/session.js'
import { appendBatch } from '../log/shared/postgres/statements.js'
import type { Connection } from '../log/storage/schema.js'
import { ConfigError } from '../setup/config.js'
import { payloadsIn } from './stored-rows.js'

const none: Rows = { events: [], payloads: [], answers: [], notes: [] }

/** Sends rows to the log, one part after the other. */
export class Sender {
  constructor(
    private readonly session: Session,
    private place: Place,
  ) {}

  get at(): Place {
    return this.place
  }

  async send(rows: Partial<Rows>): Promise<void> {
    const last = rows.events?.at(-1)
    const to = { seq: this.place.seq + 1, position: last?.position ?? this.place.position, chain: last?.chain ?? this.place.chain }
    const sent = await appendBatch(this.session, { from: this.place, to, id: randomUUID(), rows: { ...none, ...rows } })
    if (sent === undefined) throw new ConfigError('somebody else writes to the log in PostgreSQL')
    this.place = to
  }
}

type Known = { hash: string; wrapped: Buffer | null; replaced_by: string | null }

/** Sends the payloads that PostgreSQL lacks, or has with another key. */
export const sendPayloads = async (session: Session, db: Connection, sender: Sender): Promise<void> => {
  for (const part of payloadsIn(db)) {
    const select = 'SELECT hash, wrapped, replaced_by FROM mindledger.payloads WHERE hash = ANY($1)'
    const { rows } = await session.query<Known>(select, [part.map(({ hash }) => hash)])
    const known = new Map(rows.map((row) => [row.hash, row]))
    // A migration that was cut off has sent some; a key may be another since.
    const missing = part.filter(({ hash, wrapped, replacedBy }) => {
      const row = known.get(hash)
      if (!row || row.replaced_by !== replacedBy) return true
      return row.wrapped === null || wrapped === null ? row.wrapped !== wrapped : !row.wrapped.equals(wrapped)
    })
    if (missing.length > 0) await sender.send({ payloads: missing })
  }
}
