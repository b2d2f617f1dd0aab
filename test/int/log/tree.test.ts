import { describe, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { dirname } from 'node:path'
import { writeFileSync } from 'node:fs'
import { leafHash } from '../../../events/chain.js'
import { wrong } from '../../../src/errors.js'
import type { Log } from '../../../src/log/log.js'
import { openLogReader } from '../../../src/log/reader.js'
import { openForReading } from '../../../src/log/sqlite/schema.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { TreeCheck } from '../../../src/log/tree/check.js'
import { projectCreated, refusal, tamperWith, withLog, writes } from '../../support/log.js'
import { extendsTree, includes, mth } from '../../support/rfc9162.js'

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

/** What a walk over the events finds wrong with the tree that is stored. */
const check = (file: string) => {
  const db = openForReading(file)
  const found: { position: number | null; what: string }[] = []
  const tree = new TreeCheck(db, (position, what) => found.push({ position, what }))
  for (const text of db.prepare<[], Buffer>('SELECT CAST(text AS BLOB) FROM events ORDER BY position').pluck().all())
    tree.step(leafHash(text))
  tree.finish()
  const root = tree.root()
  db.close()
  return { found, root }
}

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
      for (const asked of [() => log.inclusionProof(0, 1), () => log.inclusionProof(1, 0), () => log.subtrees(0, 4), () => log.rootAt(NaN)])
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

  test('is what it was after a batch that the disk had no room for', async () => {
    await withLog(async ({ log, pragmas, file }) => {
      await fill(log, 100)
      pragmas.push('max_page_count = 1')
      await log.close()
      const full = new SqliteLog({ file, vault: (await import('../../support/log.js')).testVault, pragmas })
      expect(await refusal(fill(full, 3_000, 1_000))).toBe('storage_failed')
      pragmas.pop()
      await fill(full, 100, 5_000)
      await expectWhole(full)
      await full.close()
      expect(check(file).found).toEqual([])
    })
  })
})
