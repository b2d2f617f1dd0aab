import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { leafHash } from '../../../events/stored/chain.js'
import type { Log } from '../../../src/log/contract/log.js'
import { rebuildTree, TreeCheck } from '../../../src/log/proof/stored-tree.js'
import { openLogReader } from '../../../src/log/sqlite/log-reader.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { openForReading } from '../../../src/log/storage/schema.js'
import { eachLog } from '../../support/log/each-log.js'
import { projectCreated, refusal, tamperWith, withLog, writes } from '../../support/log/log.js'
import { extendsTree, includes, mth } from '../../support/log/rfc9162.js'

const leavesOf = async (log: Log): Promise<Buffer[]> => (await log.readAll(0, 1_000_000)).map(({ text }) => leafHash(text))

/** Writes `count` events, a few hundred in a command. */
const fill = async (log: Log, count: number, from = 0): Promise<void> => {
  for (let done = 0; done < count; done += 300) {
    const batch = Array.from({ length: Math.min(300, count - done) }, (_, i) => projectCreated(from + done + i))
    await log.submit(writes(...batch))
  }
}

const expectWhole = async (log: Log): Promise<void> => {
  const leaves = await leavesOf(log)
  expect(await log.rootAt(leaves.length)).toEqual(mth(leaves))
}

const edit = (file: string, change: (db: Database.Database) => unknown): void => {
  const db = new Database(file)
  change(db)
  db.close()
}

/** What a walk over the events up to a position finds wrong with the tree that is stored. */
const check = (file: string, until = Infinity) => {
  const db = openForReading(file)
  const found: { position: number | null; what: string }[] = []
  const tree = new TreeCheck(db, (position, what) => found.push({ position, what }))
  const texts = db.prepare<[], Buffer>('SELECT CAST(text AS BLOB) FROM events ORDER BY position').pluck().all()
  for (const text of texts.slice(0, until)) tree.step(leafHash(text))
  tree.finish()
  const root = tree.root()
  db.close()
  return { found, root }
}

eachLog(({ withLog }) =>
  describe('the tree of a log', () => {
    test('proves each event in each of many sizes, and that the log only grew', () =>
      withLog(async ({ log }) => {
        await fill(log, 4_200)
        const leaves = await leavesOf(log)
        for (const size of [1, 2, 63, 64, 65, 128, 4_095, 4_096, 4_097, 4_200]) {
          const root = await log.rootAt(size)
          expect(root).toEqual(mth(leaves.slice(0, size)))
          for (const position of [1, Math.ceil(size / 2), size]) {
            const { leaf, hashes } = await log.inclusionProof(position, size)
            expect(leaf).toEqual(leaves[position - 1])
            expect(includes(position - 1, size, leaf, hashes, root)).toBe(true)
          }
          const proof = await log.consistencyProof(size, 4_200)
          expect(extendsTree(size, 4_200, proof, root, await log.rootAt(4_200))).toBe(true)
        }
        expect(await log.subtrees(64, 128)).toEqual([mth(leaves.slice(64, 128))])
      }))

    test('refuses sizes and positions that the log does not have, by name', () =>
      withLog(async ({ log }) => {
        await fill(log, 3)
        await expect(log.rootAt(4)).rejects.toThrow('size must be a whole number from 0 to 3')
        await expect(log.inclusionProof(3, 2)).rejects.toThrow('position must be a whole number from 1 to 2')
        await expect(log.consistencyProof(3, 2)).rejects.toThrow('from must be a whole number from 0 to 2')
        for (const asked of [
          () => log.inclusionProof(0, 1),
          () => log.inclusionProof(1, 0),
          () => log.subtrees(0, 4),
          () => log.rootAt(NaN),
        ])
          expect(await refusal(asked())).toBe('wrong_arguments')
        expect(await log.consistencyProof(0, 3)).toEqual([])
      }))

    test('loses nothing and keeps nothing of a command that is refused after it wrote, also one that completed a tile', () =>
      withLog(async ({ log }) => {
        await fill(log, 60)
        const refused = Array.from({ length: 10 }, (_, i) => projectCreated(100 + i))
        const invalid = { stream: 'with"quote', event: { type: 'ProjectCreated', data: { name: 'x' } } } as const
        const [kept, gone, after] = await Promise.allSettled([
          log.submit(writes(projectCreated(60))),
          log.submit(writes(...refused, invalid)),
          log.submit(writes(...Array.from({ length: 80 }, (_, i) => projectCreated(200 + i)))),
        ])
        expect([kept.status, gone.status, after.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
        expect((await log.head()).position).toBe(141)
        await expectWhole(log)
      }))

    test('is read from the file again when the log is opened', () =>
      withLog(async ({ log, reopen }) => {
        await fill(log, 4_097)
        const root = await log.rootAt(4_097)
        await log.close()
        const again = await reopen()
        expect(await again.rootAt(4_097)).toEqual(root)
        await fill(again, 70, 10_000)
        await expectWhole(again)
        await again.close()
      }))
  }),
)

describe('the tree in the file of a log', () => {
  test('is what it was after a batch whose COMMIT failed, though it completed tiles', () =>
    withLog(async ({ log, file }) => {
      await fill(log, 100)
      const before = await log.rootAt(100)
      edit(file, (db) =>
        db.exec(`CREATE TABLE absent (id INTEGER PRIMARY KEY);
          CREATE TABLE broken (id INTEGER REFERENCES absent DEFERRABLE INITIALLY DEFERRED);
          CREATE TRIGGER poison AFTER INSERT ON events BEGIN INSERT INTO broken VALUES (new.position); END`),
      )
      expect(await refusal(fill(log, 150, 1_000))).toBe('storage_failed')
      expect(await log.rootAt(100)).toEqual(before)
      expect(await refusal(log.rootAt(101))).toBe('wrong_arguments')
      edit(file, (db) => db.exec('DROP TRIGGER poison; DROP TABLE broken; DROP TABLE absent'))
      await fill(log, 150, 2_000)
      await expectWhole(log)
      expect(check(file).found).toEqual([])
    }))

  test.each([
    ['of an older release, which has none', 'DROP TABLE tree'],
    ['that an older release went on writing', 'DELETE FROM tree WHERE id >= 10'],
  ])('of a log %s is built when the log is opened', (_, change) =>
    withLog(async ({ log, file, vault }) => {
      await fill(log, 5_000)
      const roots = [await log.rootAt(5_000), await log.rootAt(4_999)]
      await log.close()
      edit(file, (db) => db.exec(change))
      const again = new SqliteLog({ file, vault })
      expect([await again.rootAt(5_000), await again.rootAt(4_999)]).toEqual(roots)
      await again.close()
      expect(check(file)).toEqual({ found: [], root: roots[0] })
    }),
  )

  test('with more events than the log keeps the log from opening: its end was taken away', () =>
    withLog(async ({ log, file, vault }) => {
      await fill(log, 130)
      await log.close()
      tamperWith(file, (db) => db.exec('DELETE FROM events WHERE position > 120'))
      expect(() => new SqliteLog({ file, vault })).toThrow('its tree has 128 events, and it ends at position 120')
    }))

  test('that lacks a tile in its middle is not opened, until it is built anew', () =>
    withLog(async ({ log, file, vault }) => {
      await fill(log, 300)
      const root = await log.rootAt(300)
      await log.close()
      edit(file, (db) => db.exec('DELETE FROM tree WHERE id = 1'))
      expect(() => new SqliteLog({ file, vault })).toThrow('lacks tile 1 of level 0; "mindledger rebuild" builds it anew')
      edit(file, (db) => expect(rebuildTree(db)).toBe(300))
      const again = new SqliteLog({ file, vault })
      expect(await again.rootAt(300)).toEqual(root)
      await again.close()
    }))

  test.each([
    ['', undefined],
    [', and makes what is not stored', 'DROP TABLE tree'],
  ])('a reader of the file gives the same proofs%s', (_, change) =>
    withLog(async ({ log, file, directory }) => {
      await fill(log, 700)
      const expected = [await log.rootAt(650), await log.inclusionProof(3, 700), await log.consistencyProof(65, 690)]
      await log.close()
      if (change !== undefined) edit(file, (db) => db.exec(change))
      writeFileSync(join(directory, 'FORMAT'), '1\n')
      const reader = openLogReader(directory)
      const proofs = reader.proofs()
      expect([proofs.rootAt(650), proofs.inclusionProof(3, 700), proofs.consistencyProof(65, 690)]).toEqual(expected)
      reader.close()
    }),
  )
})

describe('a walk over the events finds in the tree that is stored', () => {
  const changed = (change: string) =>
    withLog(async ({ log, file }) => {
      await fill(log, 4_200)
      const root = await log.rootAt(4_200)
      await log.close()
      edit(file, (db) => db.exec(change))
      const result = check(file)
      expect(result.root).toEqual(root)
      found = result.found
    })
  let found: { position: number | null; what: string }[] = []

  test('nothing in an honest log, nor in one that has none', async () => {
    await changed('SELECT 1')
    expect(found).toEqual([])
    await changed('DROP TABLE tree')
    expect(found).toEqual([])
  })

  test('nothing in the tiles of events that a server writes while an earlier part is walked', () =>
    withLog(async ({ log, file }) => {
      await fill(log, 4_200)
      for (const until of [0, 63, 4_095, 4_136]) expect(check(file, until).found).toEqual([])
    }))

  test.each([
    ['a byte', `UPDATE tree SET nodes = CAST(substr(nodes, 1, 4031) || 'x' AS BLOB) WHERE id = 7`, 449, 'does not match these events'],
    ['a tile cut short', 'UPDATE tree SET nodes = substr(nodes, 1, 10) WHERE id = 0', 1, 'does not match these events'],
    ['a tile of an upper level', `UPDATE tree SET nodes = zeroblob(4032) WHERE id > 1000`, 1, 'does not match these events'],
    ['a tile that is gone', 'DELETE FROM tree WHERE id = 64', 4_097, 'lacks these events'],
    ['a tile of no event', 'INSERT INTO tree VALUES (66, zeroblob(4032))', null, '1 tiles that belong to no event'],
    ['two tiles swapped', 'UPDATE tree SET id = 9999 WHERE id = 3; UPDATE tree SET id = 3 WHERE id = 4; UPDATE tree SET id = 4 WHERE id = 9999', 193, 'does not match these events'], // prettier-ignore
  ])('%s', async (_, change, position, what) => {
    await changed(change)
    expect(found).toEqual([{ position, what: expect.stringContaining(what) as unknown }])
  })
})
