import { afterAll, beforeAll, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { verifyLog, type KeptHead, type Verification } from '../../src/log/verify/verify.js'
import { countOf } from '../support/counts.js'
import { blobHash, Random, writeHonestLog } from '../support/log/honest-log.js'
import { temporaryDirectory, testKey } from '../support/log/log.js'
import { contentOf, manipulations, type Manipulation, type Victim } from '../support/log/manipulations.js'

const count = countOf('MANIPULATIONS')
const honestLogs = countOf('HONEST_LOGS')

const { path: directory, remove } = temporaryDirectory()
afterAll(remove)

type Known = Victim & { kept: KeptHead; content: string | undefined }
const logs: Known[] = []

const check = (logFile: string, more: { kept?: KeptHead; threadFrom?: number } = {}) =>
  verifyLog({ logFile, blobHash, masterKeys: [testKey], ...more })

const contentIn = (file: string): string | undefined => {
  try {
    const db = new Database(file, { readonly: true })
    try {
      return contentOf(db)
    } finally {
      db.close()
    }
  } catch {
    return undefined
  }
}

/** A log, and copies of it from while it grew. */
const write = async (seed: number, commands: number): Promise<Known> => {
  const file = join(directory, `honest-${seed}.sqlite`)
  const older: string[] = []
  await writeHonestLog(file, seed, commands, async () => {
    const copy = join(directory, `older-${seed}-${older.length}.sqlite`)
    const db = new Database(file, { readonly: true })
    await db.backup(copy)
    db.close()
    older.push(copy)
  })
  const { head } = await check(file)
  // The last copy is no older than the log.
  return {
    file,
    older: older.slice(0, -1),
    kept: { logId: head.logId, position: head.position, root: head.root },
    content: contentIn(file),
  }
}

beforeAll(async () => {
  for (let seed = 1; seed <= 3; seed++) logs.push(await write(seed, 220))
})

test(`${honestLogs} honest logs verify, also in two threads, and are proven by their heads`, async () => {
  for (let seed = 100; seed < 100 + honestLogs; seed++) {
    const { file, kept } = await write(seed, 60 + ((seed * 37) % 120))
    const threadFrom = seed % 10 === 0 ? 0 : Infinity
    expect([seed, await check(file, { kept, threadFrom })]).toMatchObject([seed, { ok: true, findings: [], provenTo: kept.position }])
  }
})

/** What came of verifying; a file that cannot be read at all is found out, too. */
const outcome = async (verifying: Promise<Verification>): Promise<{ found: boolean; provenTo: number | null }> =>
  verifying.then(
    ({ ok, provenTo }) => ({ found: !ok, provenTo }),
    () => ({ found: true, provenTo: null }),
  )

const removeLog = (file: string): void => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
}

/** Applies a manipulation to a copy of a log. What changes nothing, as a byte of a free page, is drawn again. */
const changed = (i: number, apply: Manipulation['apply'], random: Random): Known => {
  for (let attempt = 0; attempt < 100; attempt++) {
    const log = logs[(i + attempt) % logs.length]!
    // Always another name: what SQLite left beside a damaged file would be taken for the next one's.
    const file = join(directory, `victim-${i}-${attempt}.sqlite`)
    copyFileSync(log.file, file)
    apply({ ...log, file }, random)
    if (contentIn(file) !== log.content) return { ...log, file }
    removeLog(file)
  }
  throw new Error('changed nothing')
}

test(`each of ${count} manipulations is found with a head kept elsewhere, and without one whatever does not fit`, async () => {
  const random = new Random(7)
  const missed: string[] = []
  for (let i = 0; i < count; i++) {
    const { name, isWhole, apply } = manipulations[i % manipulations.length]!
    const { file, kept } = changed(i, apply, random)
    const threadFrom = i % 20 === 0 ? 0 : Infinity
    if (!(await outcome(check(file, { kept, threadFrom }))).found) missed.push(`${i} ${name}, with a head`)
    const alone = await outcome(check(file, { threadFrom }))
    if (!alone.found && !isWhole) missed.push(`${i} ${name}, without a head`)
    expect(alone.provenTo).toBeNull()
    removeLog(file)
  }
  expect(missed).toEqual([])
})
