import type { Connection } from './schema.js'

// More than the file's free pages are likely to hold.
const probeBytes = 64 * 1024

/**
 * Writes a little and removes it again, in one transaction that reaches the disk, so that a full disk shows as it would to a command.
 * @throws the error of SQLite when that fails
 */
export const tryToWrite = (db: Connection): void => {
  db.transaction(() => {
    db.prepare(`INSERT INTO meta VALUES ('probe', ?)`).run('x'.repeat(probeBytes))
    db.prepare(`DELETE FROM meta WHERE key = 'probe'`).run()
  })()
}
