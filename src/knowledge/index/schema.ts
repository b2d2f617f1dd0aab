import { rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { IndexState } from './messages.js'

export type IndexConnection = Database.Database

/** Raised whenever the same documents would give another index: other chunks, words or tables. Files with another number are rebuilt. */
const indexFormat = 3

/** The identity of an index: its log, its code and its knowledge base. */
export type Identity = { logId: string; base: string; code: string }

const tokenizer = 'porter unicode61 remove_diacritics 2'

/**
 * Texts of chunks are stored once; the two indexes of words refer to them. `words` has the valid chunks, `past` those that a later insert
 * or removal has ended, so that history does not slow down current searches. Vectors are stored apart from the texts, and their codes in
 * blocks: a starting process reads 40 MB for 100,000 chunks, and not the whole file.
 */
const tables = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE inserts (position INTEGER PRIMARY KEY, payload TEXT NOT NULL);
  CREATE INDEX inserts_payload ON inserts (payload);
  CREATE TABLE documents (
    key INTEGER PRIMARY KEY, position INTEGER NOT NULL, row INTEGER NOT NULL, id TEXT NOT NULL, metadata TEXT NOT NULL, valid_to INTEGER
  );
  CREATE UNIQUE INDEX documents_place ON documents (position, row);
  CREATE INDEX documents_id ON documents (id) WHERE valid_to IS NULL;
  CREATE TABLE chunks (
    key INTEGER PRIMARY KEY, document INTEGER NOT NULL, number INTEGER NOT NULL, total INTEGER NOT NULL, start INTEGER NOT NULL,
    finish INTEGER NOT NULL, content TEXT NOT NULL
  );
  CREATE INDEX chunks_document ON chunks (document);
  CREATE TABLE vectors (chunk INTEGER PRIMARY KEY, vector BLOB NOT NULL);
  CREATE TABLE vector_places (block INTEGER PRIMARY KEY, places BLOB NOT NULL);
  CREATE TABLE vector_codes (block INTEGER PRIMARY KEY, codes BLOB NOT NULL);
  CREATE TABLE columns (name TEXT NOT NULL, type TEXT NOT NULL, PRIMARY KEY (name, type));
  CREATE VIRTUAL TABLE words USING fts5(content, content='', tokenize='${tokenizer}');
  CREATE VIRTUAL TABLE past USING fts5(content, content='', tokenize='${tokenizer}');
  CREATE VIRTUAL TABLE words_terms USING fts5vocab(words, row);
  CREATE VIRTUAL TABLE past_terms USING fts5vocab(past, row)`

/** The words of a question, one per row, so that they are tokenised exactly like the words of chunks. */
const asked = `
  CREATE VIRTUAL TABLE temp.asked USING fts5(word, tokenize='${tokenizer}');
  CREATE VIRTUAL TABLE temp.asked_terms USING fts5vocab(temp, asked, instance)`

/** A value in the key-value table of an index file; undefined when the key is absent. */
export const readMeta = (db: IndexConnection, key: string): string | undefined =>
  db.prepare<[string], { value: string }>('SELECT value FROM meta WHERE key = ?').get(key)?.value

/** Sets a value in the key-value table of an index file. */
export const writeMeta = (db: IndexConnection, key: string, value: string | number): void =>
  void db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(key, String(value))

const identityText = ({ logId, base, code }: Identity): string => JSON.stringify([indexFormat, logId, base, code])

const connect = (file: string): IndexConnection => {
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = NORMAL')
  // Deleted data is overwritten.
  db.pragma('secure_delete = ON')
  db.pragma('case_sensitive_like = ON')
  db.pragma('cache_size = -32768')
  return db
}

/** Removes an index with all files that SQLite writes beside it. */
export const removeIndex = (file: string): void => {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(file + suffix, { force: true })
}

const isBeyond = (db: IndexConnection, { version, erasedAt }: IndexState): boolean =>
  Number(readMeta(db, 'version') ?? 0) > version || Number(readMeta(db, 'erased_at') ?? 0) > erasedAt

const openExisting = (file: string, identity: Identity, ofLog: IndexState): IndexConnection | undefined => {
  let db: IndexConnection | undefined
  try {
    db = connect(file)
    // The file is not checked for damage here, because that takes seconds: a search that finds damage removes the file.
    if (readMeta(db, 'identity') === identityText(identity) && !isBeyond(db, ofLog)) {
      // A process that ended right after an erasure may have left erased data in a file beside the index.
      db.pragma('wal_checkpoint(TRUNCATE)')
      db.exec(asked)
      return db
    }
  } catch {
    // The file can be removed, because the log has all its data.
  }
  db?.close()
  return undefined
}

/**
 * Opens the index of a knowledge base. If it is missing, damaged, belongs to another log or other code, or knows more than the log (an older
 * copy of it), it starts empty: it then follows the log from its start.
 *
 * @example openIndex('/data/knowledge/0198….sqlite', { logId, base, code }, { version: 7, erasedAt: 0 })
 */
export const openIndex = (file: string, identity: Identity, ofLog: IndexState): IndexConnection => {
  const existing = openExisting(file, identity, ofLog)
  if (existing) return existing
  removeIndex(file)
  const db = connect(file)
  db.transaction(() => {
    db.exec(tables)
    writeMeta(db, 'identity', identityText(identity))
  })()
  db.exec(asked)
  return db
}
