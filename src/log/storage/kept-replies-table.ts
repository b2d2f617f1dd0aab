import type Database from 'better-sqlite3'
import { problemCatalogue } from '../../basics/errors.js'
import type { Reply } from '../contract/log.js'

/** Answers to requests with a key. One that shows rows is sealed: pages that SQLite splits keep copies of their rows. */
export const answersTable = `
  CREATE TABLE answers (
    actor       TEXT NOT NULL,
    key         TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    answer      TEXT NOT NULL,
    answered_at TEXT NOT NULL,
    PRIMARY KEY (actor, key)
  ) STRICT;
`

/** Answers are forgotten in the order of this index, some at a time. */
const answersByAge = `CREATE INDEX IF NOT EXISTS answers_by_age ON answers (answered_at)`

/** The condition of a kept answer that has rows, in the words of the index. An erasure finds these answers without reading the others. */
const answerHasRows = `answer ->> '$.reply.rows'`

const answersWithRows = `CREATE INDEX IF NOT EXISTS answers_with_rows ON answers (actor, key) WHERE ${answerHasRows}`

/**
 * The stored answers that show rows: those of SQL that returned predictions, and the answers of agents. An answer to another command has
 * the command's stream and shows a resource.
 */
export const showsRows = `${answerHasRows} AND (answer ->> '$.stream' IS NULL OR answer ->> '$.stream' LIKE '%/answers')`

/** The beginning of the statement that replaces replies by another one, as JSON. */
export const replaceReplies = `UPDATE answers SET answer = json_set(answer, '$.reply', json(?))`

const problemReply = (code: 'erased' | 'busy', title: string, detail: string, hint: string): Reply => {
  const { status } = problemCatalogue[code]
  const body = JSON.stringify({ type: 'about:blank', title, status, detail, hint, code })
  return { status, type: 'application/problem+json; charset=utf-8', etag: null, body }
}

/** The answer to a request whose stored answer was erased. Executing the request again would have a second effect. */
export const erasedReply = problemReply(
  'erased',
  'Erased',
  'the answer that was kept for this Idempotency-Key was erased with the rows that it may have had',
  'Send the request with a new key.',
)

/** What a node gives instead of a sealed answer that it cannot open: its release is an earlier one, or it lacks the key. */
export const newerReply = problemReply(
  'busy',
  'Busy',
  'the answer that was kept for this Idempotency-Key cannot be read by this node',
  'Send the request again; another node may answer it.',
)

/**
 * Earlier releases kept answers with rows unsealed, in pages that were split. Dropping that table removes all copies in its pages. The
 * answers count as erased, except in a copy of a shared log, whose other nodes still give them until they are forgotten.
 */
const sealFromNowOn = (db: Database.Database, isCopy: boolean): void => {
  const ordered = db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'answers' AND sql LIKE '%WITHOUT ROWID%'`)
  if (ordered.get() === undefined) return
  db.transaction(() => {
    if (!isCopy) db.prepare<[string]>(`${replaceReplies} WHERE ${showsRows}`).run(JSON.stringify(erasedReply))
    db.exec(`
      ALTER TABLE answers RENAME TO answers_by_key;
      ${answersTable}
      INSERT INTO answers SELECT * FROM answers_by_key;
      DROP TABLE answers_by_key;
    `)
  })()
}

/** Brings the answers of a log's file to the form of this release. `isCopy` says that the file is a copy of a shared log. */
export const prepareAnswers = (db: Database.Database, isCopy: boolean): void => {
  sealFromNowOn(db, isCopy)
  db.exec(answersByAge)
  db.exec(answersWithRows)
}
