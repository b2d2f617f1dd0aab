import Database from 'better-sqlite3'

type Row = Record<string, unknown>

/** What the files of nodes must agree on; the order of rows in a file, and the salt of wrapped keys, are each one's own. */
export const contentsOf = (file: string): Record<string, Row[]> => {
  const db = new Database(file, { readonly: true })
  const all = (sql: string) => db.prepare<[], Row>(sql).all()
  try {
    return {
      events: all('SELECT position, text, hex(chain) AS chain FROM events ORDER BY position'),
      resources: all('SELECT * FROM resources ORDER BY stream'),
      answers: all('SELECT * FROM answers ORDER BY actor, key'),
      payloads: all('SELECT hash, key_id, hex(wrapped) AS wrapped, hex(body) AS body, replaced_by FROM payloads ORDER BY hash'),
      notes: all(
        `SELECT * FROM meta WHERE key IN ('log_id', 'key_id', 'fingerprint_key', 'rotation', 'head_keys', 'shared_seq', 'shared_batch') ORDER BY key`,
      ),
    }
  } finally {
    db.close()
  }
}
