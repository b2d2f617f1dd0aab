import type { LogConnection } from './schema.js'

// This is probably more than the file's free pages can hold.
const probeBytes = 64 * 1024

/**
 * Writes a little and removes it again, in one transaction that reaches the file. So a full disk fails here as it would for a command.
 * @throws the error of SQLite when the write fails
 */
export const tryToWrite = (db: LogConnection): void => {
  db.transaction(() => {
    db.prepare(`INSERT INTO meta VALUES ('probe', ?)`).run('x'.repeat(probeBytes))
    db.prepare(`DELETE FROM meta WHERE key = 'probe'`).run()
  })()
}
