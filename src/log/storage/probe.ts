import type { Connection } from './schema.js'

// More than the pages that the file has free are likely to hold.
const probeBytes = 64 * 1024

/**
 * Writes a little and takes it away again, in one transaction that reaches the disk, so that a full one is seen as a command
 * would see it.
 * @throws the error of SQLite's when that fails
 */
export const tryToWrite = (db: Connection): void => {
  db.transaction(() => {
    db.prepare(`INSERT INTO meta VALUES ('probe', ?)`).run('x'.repeat(probeBytes))
    db.prepare(`DELETE FROM meta WHERE key = 'probe'`).run()
  })()
}
