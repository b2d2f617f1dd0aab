import type { BlobConnections } from './blob-connections.js'

/** A complete blob: the object that has its bytes, and the place of the object. */
export type RegisteredBlob = { object: string; place: string; bytes: number }

type Row = { object: string; place: string; bytes: string }

/** A blob that was put: its object, and the time, if it is a new one. */
export type PutBlob = { object: string; put_at?: string }

/** An object whose bytes are to be removed. */
export type DoomedObject = { object: string; place: string }

const pageRows = 10_000

/** The time of an event may be ahead of PostgreSQL's clock. A blob that is put after a known erasure still counts as later than it. */
const putNow = (erasedAt: string): string => `greatest(now(), ${erasedAt}::timestamptz)`

/** An upload becomes a blob only if it was not given up. If another upload was quicker, that one stays, and counts as put now. */
const complete = `
  WITH mine AS (
    SELECT object, sha, place FROM mindledger.blob_objects WHERE object = $1 AND NOT is_doomed FOR UPDATE
  ), put AS (
    INSERT INTO mindledger.blobs (sha, object, place, bytes, put_at) SELECT sha, object, place, $2, ${putNow('$3')} FROM mine
    ON CONFLICT (sha) DO UPDATE SET put_at = greatest(blobs.put_at + interval '1 microsecond', excluded.put_at) RETURNING object, put_at
  ), done AS (
    DELETE FROM mindledger.blob_objects USING put WHERE blob_objects.object = put.object
  )
  SELECT object, put_at::text AS put_at FROM put`

/** A blob no longer exists once its bytes are listed for removal. */
const erase = (which: string): string => `
  WITH gone AS (DELETE FROM mindledger.blobs WHERE ${which} RETURNING object, sha, place)
  INSERT INTO mindledger.blob_objects (object, sha, place, since, is_doomed) SELECT object, sha, place, now(), true FROM gone
  RETURNING object, sha, place`

/**
 * The list of all blobs, in PostgreSQL. Its times are PostgreSQL's. Each method is one statement, which may be sent twice.
 *
 * @example if (!(await register.touch(sha))) … // the bytes have to be stored
 */
export class Register {
  constructor(private readonly connections: BlobConnections) {}

  /** A blob; with a time (`2026-01-31T10:00:00.500000Z`) only if it was put then or later. */
  async find(sha: string, putSince?: string): Promise<RegisteredBlob | undefined> {
    const select = 'SELECT object, place, bytes FROM mindledger.blobs WHERE sha = $1 AND ($2::timestamptz IS NULL OR put_at >= $2)'
    const [row] = await this.connections.query<Row>(select, [sha, putSince ?? null], 'find_blob')
    return row && { ...row, bytes: Number(row.bytes) }
  }

  /** Those of these blobs that do not exist, or are damaged. */
  async lacking(shas: readonly string[]): Promise<string[]> {
    const select = `SELECT sha FROM unnest($1::text[]) AS sha EXCEPT SELECT sha FROM mindledger.blobs WHERE sha = ANY($1) AND NOT is_damaged`
    return (await this.connections.query<{ sha: string }>(select, [shas])).map(({ sha }) => sha)
  }

  /**
   * Notes that a blob was put again, after an erasure if one is known, if it exists and is not damaged. Then it is not collected before its
   * event is recorded.
   */
  async touch(sha: string, erasedAt?: string): Promise<boolean> {
    const update = `UPDATE mindledger.blobs SET put_at = greatest(put_at + interval '1 microsecond', ${putNow('$2')}) WHERE sha = $1 AND NOT is_damaged RETURNING sha`
    return (await this.connections.query(update, [sha, erasedAt ?? null])).length > 0
  }

  /** Notes an object before its first byte is stored. */
  async begin(object: string, sha: string, place: string): Promise<void> {
    const insert = 'INSERT INTO mindledger.blob_objects (object, sha, place, since) VALUES ($1, $2, $3, now()) ON CONFLICT DO NOTHING'
    await this.connections.query(insert, [object, sha, place])
  }

  /** The blob from now on, put after an erasure if one is known; undefined when the upload was given up meanwhile. */
  async complete(object: string, sha: string, bytes: number, erasedAt?: string): Promise<PutBlob | undefined> {
    const [row] = await this.connections.query<{ object: string; put_at: string }>(complete, [object, bytes, erasedAt ?? null])
    // If the answer to the statement was lost, the next try finds the work done.
    return row ?? (await this.find(sha))
  }

  /** Notes that a reader found the bytes of a blob damaged, unless it has other bytes by now. The next upload replaces them. */
  async noteDamaged(sha: string, object: string): Promise<void> {
    await this.connections.query('UPDATE mindledger.blobs SET is_damaged = true WHERE sha = $1 AND object = $2', [sha, object])
  }

  /** Removes a blob that is damaged, right before its new bytes become the blob. */
  async eraseDamaged(sha: string): Promise<void> {
    await this.connections.query(erase('sha = $1 AND is_damaged'), [sha])
  }

  /** Whether a blob exists, or bytes of it that still have to be removed. */
  async isLeft(sha: string): Promise<boolean> {
    const rows = await this.connections.query(
      'SELECT FROM mindledger.blobs WHERE sha = $1 UNION ALL SELECT FROM mindledger.blob_objects WHERE sha = $1 AND is_doomed LIMIT 1',
      [sha],
    )
    return rows.length > 0
  }

  /**
   * Removes a blob that was erased at a time, unless it was put again since. With an age, it also removes a blob that was put again so long
   * ago that its event would exist by now.
   */
  async eraseLeft(sha: string, erasedAt: string, ageMs: number | null): Promise<boolean> {
    const which = `sha = $1 AND put_at < greatest($2::timestamptz, now() - $3 * interval '1 millisecond')`
    return (await this.connections.query<DoomedObject>(erase(which), [sha, erasedAt, ageMs])).length > 0
  }

  /** Removes a blob that this node has put, unless it has other bytes by now, was put again or is known to be named. */
  eraseGivenUp(sha: string, { object, put_at }: PutBlob): Promise<DoomedObject[]> {
    const which = 'sha = $1 AND object = $2 AND put_at = $3::timestamptz AND NOT is_named'
    return this.connections.query<DoomedObject>(erase(which), [sha, object, put_at ?? null])
  }

  /** The objects of a blob that are to be removed. */
  doomedOf(sha: string): Promise<DoomedObject[]> {
    return this.connections.query<DoomedObject>('SELECT object, place FROM mindledger.blob_objects WHERE sha = $1 AND is_doomed', [sha])
  }

  /** Lists an object for removal, unless a blob has it. */
  async doom(object: string): Promise<boolean> {
    const update = 'UPDATE mindledger.blob_objects SET is_doomed = true WHERE object = $1 RETURNING object'
    return (await this.connections.query(update, [object])).length > 0
  }

  /** Gives up the uploads that began this long ago. Returns all objects to remove: these, and those that earlier removals left. */
  async doomOlder(ageMs: number): Promise<DoomedObject[]> {
    await this.connections.query(
      `UPDATE mindledger.blob_objects SET is_doomed = true WHERE NOT is_doomed AND since < now() - $1 * interval '1 millisecond'`,
      [ageMs],
    )
    return this.connections.query<DoomedObject>('SELECT object, place FROM mindledger.blob_objects WHERE is_doomed LIMIT $1', [pageRows])
  }

  /** Forgets an object whose bytes were removed. */
  async removed(object: string): Promise<void> {
    await this.connections.query('DELETE FROM mindledger.blob_objects WHERE object = $1 AND is_doomed', [object])
  }

  /** Blobs that no known event names, put so long ago that their event would have come by now. */
  async unnamed(ageMs: number): Promise<string[]> {
    const rows = await this.connections.query<{ sha: string }>(
      `SELECT sha FROM mindledger.blobs WHERE NOT is_named AND put_at < now() - $1 * interval '1 millisecond' ORDER BY put_at LIMIT $2`,
      [ageMs, pageRows],
    )
    return rows.map(({ sha }) => sha)
  }

  /** Notes that events name these blobs. */
  async named(shas: readonly string[]): Promise<void> {
    await this.connections.query('UPDATE mindledger.blobs SET is_named = true WHERE sha = ANY($1)', [shas])
  }

  /** Removes blobs that no event names, unless they were put again meanwhile. Returns the removed ones. */
  async eraseUnnamed(shas: readonly string[], ageMs: number): Promise<string[]> {
    const which = `sha = ANY($1) AND NOT is_named AND put_at < now() - $2 * interval '1 millisecond'`
    return (await this.connections.query<{ sha: string }>(erase(which), [shas, ageMs])).map(({ sha }) => sha)
  }

  /** The hashes of all blobs, sorted. */
  async list(): Promise<string[]> {
    const all: string[] = []
    for (;;) {
      const select = `SELECT sha FROM mindledger.blobs WHERE sha > $1 ORDER BY sha LIMIT $2`
      const rows = await this.connections.query<{ sha: string }>(select, [all.at(-1) ?? '', pageRows])
      all.push(...rows.map(({ sha }) => sha))
      if (rows.length < pageRows) return all
    }
  }
}
