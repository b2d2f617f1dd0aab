/** Room: the tables in the log's file and their rows. It imports only events, basics, setup, vault and log/contract. */

import Database from 'better-sqlite3'
import { erasureKinds, type ErasureKind } from '../../../events/records/log.js'
import { ConfigError } from '../../setup/config.js'
import type { AgeingKind } from '../contract/log.js'
import { answersTable, prepareAnswers } from './kept-replies-table.js'

export type LogConnection = Database.Database

/**
 * The log's own file. An event is its text and the chain up to it. The columns are computed from the text, so they always agree with the
 * hashed text. `resources` and `links` follow from the events and can be rebuilt from them.
 */
const schema = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    text     TEXT NOT NULL,
    chain    BLOB NOT NULL CHECK (length(chain) = 32),
    stream   TEXT    GENERATED ALWAYS AS (text ->> '$.stream')  VIRTUAL,
    version  INTEGER GENERATED ALWAYS AS (text ->> '$.version') VIRTUAL,
    type     TEXT    GENERATED ALWAYS AS (text ->> '$.type')    VIRTUAL
  ) STRICT;
  CREATE UNIQUE INDEX events_by_stream ON events (stream, version);
  CREATE TRIGGER events_stay_as_they_are BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
  CREATE TRIGGER events_stay BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;

  CREATE TABLE resources (
    stream     TEXT PRIMARY KEY,
    kind       TEXT NOT NULL,
    project    TEXT NOT NULL,
    name       TEXT NOT NULL,
    id         INTEGER NOT NULL UNIQUE,
    version    INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    state      TEXT NOT NULL,
    UNIQUE (kind, project, name)
  ) STRICT;
  CREATE TABLE links (source TEXT NOT NULL, target TEXT NOT NULL, PRIMARY KEY (source, target)) STRICT, WITHOUT ROWID;
  CREATE INDEX links_by_target ON links (target);
`

/** Complete tiles of the Merkle tree over the events: 126 hashes, a page, in each row (see proof/stored-tree.ts). */
const treeTable = `CREATE TABLE IF NOT EXISTS tree (id INTEGER PRIMARY KEY, nodes BLOB NOT NULL) STRICT`

/**
 * Rows are stored in order of insertion and never move, so an overwritten row has no copy elsewhere. In a table ordered by hash, SQLite
 * splits pages and leaves copies of rows in their unused parts, even under `secure_delete`.
 */
const payloadsTable = `
  CREATE TABLE payloads (
    id          INTEGER PRIMARY KEY,
    hash        TEXT NOT NULL UNIQUE,
    key_id      TEXT NOT NULL,
    wrapped     BLOB,
    body        BLOB NOT NULL,
    replaced_by TEXT
  ) STRICT;
`

/** The first release stored payloads in order of their hashes. Dropping that table removes all copies in its pages. */
const keepPayloadsInPlace = (db: LogConnection): void => {
  const ordered = db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'payloads' AND sql LIKE '%WITHOUT ROWID%'`)
  if (ordered.get() === undefined) return
  db.transaction(() =>
    db.exec(`
      ALTER TABLE payloads RENAME TO payloads_by_hash;
      ${payloadsTable}
      INSERT INTO payloads (hash, key_id, wrapped, body) SELECT hash, key_id, wrapped, body FROM payloads_by_hash;
      DROP TABLE payloads_by_hash;
    `),
  )()
}

/** Lists are read in the order of this index, one page at a time. */
const resourcesInOrder = `CREATE INDEX IF NOT EXISTS resources_in_order ON resources (kind, project, id)`

/** Opens the log's file for writing and creates missing tables. Each commit waits for the disk, unless the caller changes that. */
export const openForWriting = (file: string, freshLogId: () => string): LogConnection => {
  const db = new Database(file, { timeout: 5_000 })
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.pragma('recursive_triggers = ON') // so that REPLACE fires the triggers too
  db.pragma('foreign_keys = ON')
  db.pragma('wal_autocheckpoint = 4000')
  db.pragma('secure_delete = ON') // erased data is overwritten
  if (db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'meta'`).get() === undefined)
    db.transaction(() => {
      db.exec(schema + answersTable + payloadsTable)
      db.prepare(`INSERT INTO meta VALUES ('log_id', ?)`).run(freshLogId())
    })()
  // Logs of older releases do not have these tables. The tree is filled when the log is opened.
  db.exec(treeTable)
  db.exec(resourcesInOrder)
  prepareAnswers(db, readSharedBatch(db) !== undefined)
  keepPayloadsInPlace(db)
  return db
}

/** Opens the log's file for reading beside a server, or without one. */
export const openForReading = (file: string): LogConnection => {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: 5_000 })
  db.pragma('query_only = ON')
  return db
}

/** A note in the log's file, such as its id; undefined when there is none under this key. */
export const readMeta = (db: LogConnection, key: string): string | undefined =>
  db.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck().get(key)

/** Sets a note in the log's file, and replaces an earlier note under this key. */
export const writeMeta = (db: LogConnection, key: string, value: string): void =>
  void db.prepare('INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value').run(key, value)

/**
 * The notes about the newest batch of a shared log in this file: its number, its id, and the number of the newest batch that the shared log
 * had then. Only a node's copy of a shared log has them.
 */
const sharedSeqNote = 'shared_seq'
const sharedBatchNote = 'shared_batch'
const sharedNewestNote = 'shared_newest'
/** The note of the batch after which rows were appended again, or before their events, under numbers that other nodes do not know. */
export const reappendedNote = 'reappended'

/** A batch of a shared log: its number, and its id unless an older release wrote the file. */
export type SharedBatch = { seq: number; batch: string | undefined }

/** The newest batch of a shared log in this file; undefined when the file is no copy of a shared log. */
export const readSharedBatch = (db: LogConnection): SharedBatch | undefined => {
  const seq = readMeta(db, sharedSeqNote)
  if (seq === undefined) return undefined
  // An older release does not update this note, so the note may be about an earlier batch.
  const [of, batch] = readMeta(db, sharedBatchNote)?.split(' ') ?? []
  return { seq: Number(seq), batch: of === seq && batch !== '' ? batch : undefined }
}

/**
 * Whether this file is a copy of a shared log that had more batches when the copy ended: its payloads may be as a later batch left them. An
 * older release does not update the note of that, so the note may be about an earlier batch.
 */
export const isBehind = (db: LogConnection): boolean => {
  const seq = readSharedBatch(db)?.seq
  return seq !== undefined && Number(readMeta(db, sharedNewestNote) ?? seq) > seq
}

/** Prepares the statement that notes the newest batch of a shared log in this file; `newest` is the newest one of the shared log. */
export const prepareSharedBatch = (db: LogConnection): ((noted: SharedBatch, newest?: number) => void) => {
  const put = db.prepare<[string, string, string]>(
    `INSERT INTO meta VALUES ('${sharedSeqNote}', ?), ('${sharedBatchNote}', ?), ('${sharedNewestNote}', ?)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
  )
  return ({ seq, batch = '' }, newest = seq) => void put.run(String(seq), `${seq} ${batch}`, String(newest))
}

/** Makes the file an independent log. */
export const forgetSharedBatch = (db: LogConnection): void => {
  db.prepare('DELETE FROM meta WHERE key IN (?, ?, ?, ?)').run(sharedSeqNote, sharedBatchNote, sharedNewestNote, reappendedNote)
}

/**
 * @throws ConfigError when the file is a node's copy of a shared log: other nodes would not receive events that one node wrote only there
 */
export const refuseCopyOfShared = (db: LogConnection): void => {
  if (readSharedBatch(db) === undefined) return
  throw new ConfigError(
    'the data directory holds a copy of a log that nodes share: set LOG_URL to its PostgreSQL, and ask the running node for changes. To go on with the copy alone, back it up and restore the backup (docs/scale.md).',
  )
}

/** The public keys that signed this log's heads, as verifier keys, the newest first. Earlier keys stay, to check older heads. */
export const readHeadKeys = (db: LogConnection): string[] => readMeta(db, 'head_keys')?.split('\n') ?? []

/** Notes the key that signs this log's heads from now on. */
export const noteHeadKey = (db: LogConnection, vkey: string): void => {
  writeMeta(db, 'head_keys', [vkey, ...readHeadKeys(db).filter((key) => key !== vkey)].join('\n'))
}

/** Reads the position of the last erasure of one of these kinds; 0 when there was none. It reads the text of no earlier erasure. */
export const prepareErasedAt = (db: LogConnection, kinds: readonly ErasureKind[] = erasureKinds): (() => number) => {
  const last = db
    .prepare<[string], number>(
      `SELECT position FROM events
       WHERE stream = 'log' AND type = 'DataErased' AND text ->> '$.data.what' IN (SELECT value FROM json_each(?))
       ORDER BY version DESC LIMIT 1`,
    )
    .pluck()
  const chosen = JSON.stringify(kinds)
  return () => last.get(chosen) ?? 0
}

/** The keys of the notes about erasures by age. */
export const erasedByAgeNotes = { rows: 'erased_rows', answers: 'erased_answers' } as const satisfies Record<AgeingKind, string>

/** The position up to which all data of a kind was erased by its age; 0 at first. */
export const readErasedByAge = (db: LogConnection, what: AgeingKind): number => Number(readMeta(db, erasedByAgeNotes[what]) ?? 0)

/** Notes that all data of a kind up to a position was erased by its age. */
export const noteErasedByAge = (db: LogConnection, what: AgeingKind, position: number): void =>
  writeMeta(db, erasedByAgeNotes[what], String(position))

/** The random id of the log. Its chain begins with this id. @throws when the file holds no log */
export const readLogId = (db: LogConnection): string => {
  const id = readMeta(db, 'log_id')
  if (id === undefined) throw new Error('the log has no id')
  return id
}

/** The newest event's position; 0 when there is none. */
export const lastPosition = (db: LogConnection): number =>
  db.prepare<[], number | null>('SELECT max(position) FROM events').pluck().get() ?? 0
