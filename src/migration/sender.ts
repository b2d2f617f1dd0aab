import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { hasHash } from '../basics/disk.js'
import { openSharedStore, type SharedPlace } from '../files/shared/open-store.js'
import type { Place, Rows } from '../log/shared/postgres/rows.js'
import { isRefusal, SharedLogSession, UnreachableError, UnreplicatedError } from '../log/shared/postgres/shared-log-session.js'
import { appendBatch } from '../log/shared/postgres/statements.js'
import type { LogConnection } from '../log/storage/schema.js'
import { ConfigError } from '../setup/config.js'
import type { DataPaths } from '../setup/data-directory.js'
import { payloadsIn } from './stored-rows.js'

/** A data directory whose rows and contents are sent to PostgreSQL. No other process may use it meanwhile. */
export type PostgresMigration = {
  paths: DataPaths
  to: SharedPlace
  onProgress: (text: string) => void
}

/** Works in a separate session. @throws ConfigError when PostgreSQL cannot be reached, or refuses it */
export const inSession = async <T>(url: string, work: (session: SharedLogSession) => Promise<T>): Promise<T> => {
  let session: SharedLogSession | undefined
  try {
    session = await SharedLogSession.open(url)
    return await work(session)
  } catch (error) {
    if (error instanceof UnreachableError)
      throw new ConfigError(`PostgreSQL cannot be reached: ${error.message}. Run it again: it continues where it stopped.`)
    if (error instanceof UnreplicatedError) throw new ConfigError(`${error.message}. Run it again: it continues where it stopped.`)
    if (isRefusal(error)) throw new ConfigError(`PostgreSQL refuses: ${error.message}`)
    throw error
  } finally {
    session?.destroy()
  }
}

const none: Rows = { events: [], payloads: [], answers: [], notes: [] }

/** Sends rows to the log, one part after the other. */
export class Sender {
  constructor(
    private readonly session: SharedLogSession,
    private place: Place,
  ) {}

  get at(): Place {
    return this.place
  }

  /** Appends rows to the shared log as one batch. @throws ConfigError when another program writes to it */
  async send(rows: Partial<Rows>): Promise<void> {
    const last = rows.events?.at(-1)
    const end = { seq: this.place.seq + 1, position: last?.position ?? this.place.position, chain: last?.chain ?? this.place.chain }
    const to = { ...end, batch: randomUUID() }
    const sent = await appendBatch(this.session, { from: this.place, to, rows: { ...none, ...rows } })
    if (sent === undefined) throw new ConfigError('another program writes to the log in PostgreSQL')
    this.place = to
  }
}

type KnownPayload = { hash: string; wrapped: Buffer | null; replaced_by: string | null }

/** Sends the payloads that PostgreSQL does not have, or has with another key. */
export const sendPayloads = async (session: SharedLogSession, db: LogConnection, sender: Sender): Promise<void> => {
  for (const part of payloadsIn(db)) {
    const select = 'SELECT hash, wrapped, replaced_by FROM mindledger.payloads WHERE hash = ANY($1)'
    const { rows } = await session.query<KnownPayload>(select, [part.map(({ hash }) => hash)])
    const known = new Map(rows.map((row) => [row.hash, row]))
    // An interrupted migration has sent some payloads, and their keys may have changed since.
    const missing = part.filter(({ hash, wrapped, replacedBy }) => {
      const row = known.get(hash)
      if (!row || row.replaced_by !== replacedBy) return true
      return row.wrapped === null || wrapped === null ? row.wrapped !== wrapped : !row.wrapped.equals(wrapped)
    })
    if (missing.length > 0) await sender.send({ payloads: missing })
  }
}

/** Stores the blobs that the shared store does not have, from the data directory. Returns the blobs that neither has whole. */
export const sendBlobs = async (hashes: readonly string[], { paths, to, onProgress }: PostgresMigration): Promise<string[]> => {
  if (hashes.length === 0) return []
  const missing: string[] = []
  // This does not use the folder as a cache: it moves and removes no file.
  const { blobs, register, close } = await openSharedStore(to, { folder: join(paths.temporary, 'sending') })
  try {
    for (const [done, hash] of hashes.entries()) {
      const file = join(paths.blobs, hash)
      if (await hasHash(file, hash)) await blobs.keep(file, hash)
      else if (!(await blobs.has(hash))) missing.push(hash)
      onProgress(`${done + 1} of ${hashes.length} blobs`)
    }
    await register.named(hashes)
    return missing
  } finally {
    await close()
  }
}
