import { expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { EventReads } from '../../../src/log/storage/events.js'

test('the version of a stream at a position is found by looking at few of its events', () => {
  const db = new Database(':memory:')
  let looked = 0
  db.function('counted', { deterministic: true }, (position: unknown) => {
    looked++
    return position
  })
  db.exec(`
    CREATE TABLE stored (position INTEGER PRIMARY KEY, text TEXT, stream TEXT, version INTEGER);
    CREATE UNIQUE INDEX stored_by_stream ON stored (stream, version);
    CREATE TEMP VIEW events AS SELECT counted(position) AS position, text, stream, version FROM stored;
    INSERT INTO stored WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 10000) SELECT 3 * n, '', 's', n FROM n`)
  const reads = new EventReads(db)
  expect([2, 3, 51, 52, 53, 54, 30_000, 99_999].map((position) => reads.versionAt('s', position))).toEqual([
    0, 1, 17, 17, 17, 18, 10_000, 10_000,
  ])
  expect(reads.versionAt('another', 51)).toBe(0)
  expect(looked).toBeLessThan(8 * 20)
  db.close()
})
