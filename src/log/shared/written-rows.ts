import { forgottenNote } from './postgres/statements.js'
import { replyKeyNote } from '../storage/keys.js'
import { erasedByAgeNotes, type LogConnection } from '../storage/schema.js'
import type { AnswerRow, EventRow, NoteRow, PayloadRow, Rows } from './postgres/rows.js'

/** The log's notes about itself that every node has to know. The rest of `meta` is about one file. */
export const sharedNotes = ['key_id', 'fingerprint_key', 'rotation', 'head_keys', replyKeyNote, ...Object.values(erasedByAgeNotes)] as const

/** The notes that say which master key is in use. */
export const keyNotes: ReadonlySet<string> = new Set(['key_id', 'fingerprint_key', 'rotation'])

type AnswerKey = Pick<AnswerRow, 'actor' | 'key' | 'answeredAt'>

const isShared = (row: 'new' | 'old') => `${row}.key IN (${sharedNotes.map((key) => `'${key}'`).join(', ')})`

/** Triggers of this connection alone note which rows a transaction writes, by whatever statement. */
const watch = `
  CREATE TEMP TABLE touched (what TEXT NOT NULL, a TEXT NOT NULL, b TEXT NOT NULL);
  CREATE TEMP TABLE forgotten (actor TEXT NOT NULL, key TEXT NOT NULL, answered_at TEXT NOT NULL);
  CREATE TEMP TRIGGER payload_added AFTER INSERT ON main.payloads BEGIN INSERT INTO touched VALUES ('payload', new.hash, ''); END;
  CREATE TEMP TRIGGER payload_changed AFTER UPDATE ON main.payloads BEGIN INSERT INTO touched VALUES ('payload', new.hash, ''); END;
  CREATE TEMP TRIGGER answer_added AFTER INSERT ON main.answers BEGIN INSERT INTO touched VALUES ('answer', new.actor, new.key); END;
  CREATE TEMP TRIGGER answer_changed AFTER UPDATE ON main.answers BEGIN INSERT INTO touched VALUES ('answer', new.actor, new.key); END;
  CREATE TEMP TRIGGER answer_forgotten AFTER DELETE ON main.answers BEGIN INSERT INTO forgotten VALUES (old.actor, old.key, old.answered_at); END;
  CREATE TEMP TRIGGER note_added AFTER INSERT ON main.meta WHEN ${isShared('new')} BEGIN INSERT INTO touched VALUES ('note', new.key, ''); END;
  CREATE TEMP TRIGGER note_changed AFTER UPDATE ON main.meta WHEN ${isShared('new')} BEGIN INSERT INTO touched VALUES ('note', new.key, ''); END;
  CREATE TEMP TRIGGER note_removed AFTER DELETE ON main.meta WHEN ${isShared('old')} BEGIN INSERT INTO touched VALUES ('note', old.key, ''); END;
`

/** The rows that the transaction of a connection wrote, and the rows of other nodes in one. */
export class WrittenRows {
  readonly #clear
  readonly #events
  readonly #payloads
  readonly #answers
  readonly #notes
  readonly #forgotten
  readonly #putPayload
  readonly #putAnswer
  readonly #putNote
  readonly #removeNote
  readonly #forget

  constructor(db: LogConnection) {
    // The notes about erased rows must reach no file.
    db.pragma('temp_store = MEMORY')
    db.exec(watch)
    this.#clear = [db.prepare('DELETE FROM touched'), db.prepare('DELETE FROM forgotten')]
    this.#events = db.prepare<[number], EventRow>('SELECT position, text, chain FROM events WHERE position > ? ORDER BY position')
    this.#payloads = db.prepare<[], PayloadRow>(
      `SELECT hash, key_id AS keyId, wrapped, body, replaced_by AS replacedBy FROM payloads
       WHERE hash IN (SELECT a FROM touched WHERE what = 'payload')`,
    )
    this.#answers = db.prepare<[], AnswerRow>(
      `SELECT actor, key, fingerprint, answer, answered_at AS answeredAt FROM answers
       WHERE (actor, key) IN (SELECT a, b FROM touched WHERE what = 'answer')`,
    )
    this.#notes = db.prepare<[], NoteRow>(
      `SELECT DISTINCT a AS key, (SELECT value FROM meta WHERE key = a) AS value FROM touched WHERE what = 'note'`,
    )
    // If a key was used again, the new answer replaces the forgotten one.
    this.#forgotten = db.prepare<[], AnswerKey>(
      'SELECT actor, key, answered_at AS answeredAt FROM forgotten WHERE (actor, key) NOT IN (SELECT actor, key FROM answers) ORDER BY answered_at',
    )
    this.#putPayload = db.prepare<[PayloadRow]>(
      `INSERT INTO payloads (hash, key_id, wrapped, body, replaced_by) VALUES (@hash, @keyId, @wrapped, @body, @replacedBy)
       ON CONFLICT (hash) DO UPDATE SET
         key_id = excluded.key_id, wrapped = excluded.wrapped, body = excluded.body, replaced_by = excluded.replaced_by`,
    )
    this.#putAnswer = db.prepare<[AnswerRow]>(
      `INSERT INTO answers VALUES (@actor, @key, @fingerprint, @answer, @answeredAt)
       ON CONFLICT (actor, key) DO UPDATE SET
         fingerprint = excluded.fingerprint, answer = excluded.answer, answered_at = excluded.answered_at`,
    )
    this.#putNote = db.prepare<[NoteRow]>('INSERT INTO meta VALUES (@key, @value) ON CONFLICT (key) DO UPDATE SET value = excluded.value')
    this.#removeNote = db.prepare<[string]>('DELETE FROM meta WHERE key = ?')
    this.#forget = db.prepare<[string]>('DELETE FROM answers WHERE answered_at <= ?')
  }

  /** Begins with a transaction. */
  begin(): void {
    for (const clear of this.#clear) clear.run()
  }

  /** The rows that the transaction wrote, after its first position. */
  since(position: number): Rows {
    const forgotten = this.#forgotten.all()
    const newest = forgotten.at(-1)
    return {
      events: this.#events.all(position),
      payloads: this.#payloads.all(),
      answers: this.#answers.all(),
      notes: [...this.#notes.all(), ...(newest ? [{ key: forgottenNote, value: newest.answeredAt }] : [])],
      forgotten,
    }
  }

  /**
   * Puts the rows of other nodes, except their events, and yields after each of those that may be many. Old answers go last: PostgreSQL may
   * still have some that were forgotten.
   */
  *put({ payloads, answers, notes }: Omit<Rows, 'events'>): Generator<void, void> {
    for (const payload of payloads) {
      this.#putPayload.run(payload)
      yield
    }
    for (const answer of answers) {
      this.#putAnswer.run(answer)
      yield
    }
    for (const note of notes)
      if (note.key === forgottenNote) this.#forget.run(note.value ?? '')
      else if (note.value === null) this.#removeNote.run(note.key)
      else this.#putNote.run(note)
  }
}
