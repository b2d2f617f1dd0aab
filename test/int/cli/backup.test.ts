import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { logStream } from '../../../events/records/log.js'
import { takeBackup } from '../../../src/backup/backup.js'
import { Ledger } from '../../../src/commands/ledger.js'
import { Blobs } from '../../../src/files/blobs.js'
import { hashFile } from '../../../src/basics/disk.js'
import { dataPaths, prepareDataDirectory } from '../../../src/setup/data-directory.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { verifyLog } from '../../../src/log/verify/verify.js'
import { Vault } from '../../../src/vault/vault.js'
import { mindledger } from '../../support/cli.js'
import { origin, temporaryDirectory, testKey } from '../../support/log/log.js'

let place: ReturnType<typeof temporaryDirectory>
beforeEach(() => {
  place = temporaryDirectory()
})
afterEach(() => place.remove())

/** A log with files, whose blobs are there. */
const filled = async (count: number) => {
  const paths = prepareDataDirectory(join(place.path, 'data'))
  const vault = new Vault(testKey)
  const log = new SqliteLog({ file: paths.log, vault })
  const ledger = new Ledger(log, vault)
  const blobs = new Blobs(paths.blobs)
  const hashes: string[] = []
  for (let n = 0; n < count; n++) {
    const hash = await blobs.putBytes(Buffer.from(`content ${n}`))
    const content = { content: hash, bytes: 1, row_count: 1, columns: [], original_name: null }
    await ledger.execute({ type: 'CreateFile', data: { file: `f${n}`, content } }, origin)
    hashes.push(hash)
  }
  const erase = async (hash: string): Promise<void> => {
    const data = { what: 'file' as const, subject: 'files.f', reason: null, payloads: [], blobs: [hash] }
    await log.submit({ origin, lookups: {}, decide: () => [{ stream: logStream, event: { type: 'DataErased', data } }], payloads: [] })
    await blobs.remove(hash)
  }
  return { paths, log, blobs, hashes, erase }
}

const into = () => join(place.path, 'backup')
const options = (from: ReturnType<typeof dataPaths>) => ({
  from,
  store: new Blobs(from.blobs),
  into: into(),
  like: undefined,
  headOf: () => 'head\n',
  onProgress: () => undefined,
})

test('what is erased while blobs are copied is in no part of the backup, which then says so, too', async () => {
  const { paths, log, blobs, hashes, erase } = await filled(30)
  const gone = [hashes[2], hashes[27]].filter((hash) => hash !== undefined)
  let erasing: Promise<unknown> | undefined
  const onProgress = (text: string): void => {
    if (text.startsWith('5 of')) erasing ??= Promise.all(gone.map(erase))
  }
  /** The erasures are over before the next blob is copied, however slow the disk is. */
  const has = async (hash: string) => {
    await erasing
    return blobs.has(hash)
  }
  const manifest = await takeBackup({ ...options(paths), store: { has, hold: (hash) => blobs.hold(hash) }, onProgress })
  const kept = hashes.filter((hash) => !gone.includes(hash)).sort()
  const backup = dataPaths(into())
  // The first of the two had been copied already; it stays only where the copied log still names it.
  const isSeen = manifest.position === (await log.head()).position
  expect(isSeen).toBe(true)
  expect(readdirSync(backup.blobs).sort()).toEqual(kept)
  expect(manifest.blobs.map(({ sha256 }) => sha256)).toEqual(kept)
  const found = new Blobs(backup.blobs)
  const blobHash = async (hash: string) => ((await found.has(hash)) ? hashFile(found.path(hash)) : undefined)
  expect(await verifyLog({ logFile: backup.log, blobHash })).toMatchObject({ findings: [] })
  await log.close()
})

test('a blob that is erased while the log is verified is not missing, and a lost one is', async () => {
  const { paths, log, blobs, hashes, erase } = await filled(3)
  const [first = '', lost = '', last] = hashes
  rmSync(join(paths.blobs, lost))
  const blobHash = async (hash: string) => {
    if (hash === first) await erase(first)
    return (await blobs.has(hash)) ? hash : undefined
  }
  expect((await verifyLog({ logFile: paths.log, blobHash })).findings).toEqual([{ position: 2, what: `its blob ${lost} is missing` }])
  expect(await blobs.has(String(last))).toBe(true)
  await log.close()
})

test('a blob that was lost, not erased, is told, and no backup is made', async () => {
  const { paths, log, hashes } = await filled(3)
  rmSync(join(paths.blobs, hashes[1] ?? ''))
  await expect(takeBackup(options(paths))).rejects.toThrow(`the blob ${hashes[1]} is missing, and was not erased`)
  expect(readdirSync(place.path).sort()).toEqual(['backup.part', 'data'])
  await log.close()
})

test('a directory that is there is refused', async () => {
  const { paths, log } = await filled(1)
  mkdirSync(into())
  await expect(takeBackup(options(paths))).rejects.toThrow('exists already')
  await log.close()
})

test('a blob that the disk has spoiled in an earlier backup is not linked into the next one', async () => {
  const { paths, log, hashes } = await filled(3)
  await takeBackup(options(paths))
  const [spoiled = '', whole = ''] = hashes
  const [like, next] = [into(), join(place.path, 'next')]
  const blob = (backup: string, hash: string) => join(dataPaths(backup).blobs, hash)
  writeFileSync(blob(like, spoiled), 'rotten')
  await takeBackup({ ...options(paths), into: next, like })
  for (const hash of hashes) expect(await hashFile(blob(next, hash))).toBe(hash)
  expect(statSync(blob(next, whole)).ino).toBe(statSync(blob(like, whole)).ino)
  await log.close()
})

test('a restore refuses a missing file of heads or of erasures, or a missing key, before it copies anything', async () => {
  const { paths, log } = await filled(1)
  await takeBackup(options(paths))
  await log.close()
  const blobs = dataPaths(into()).blobs
  rmSync(join(blobs, readdirSync(blobs)[0] ?? ''))
  const [restored, list] = [join(place.path, 'restored'), join(place.path, 'list')]
  writeFileSync(list, '')
  for (const [option, file, said] of [
    ['--head', join(place.path, 'no such file'), 'no such file'],
    ['--erasures', join(place.path, 'no such file'), 'no such file'],
    ['--erasures', list, 'later erasures need the master key'],
  ] as const) {
    const { code, err } = await mindledger(['restore', into(), '--into', restored, option, file])
    expect([code, err]).toEqual([2, expect.stringContaining(said)])
  }
  expect(existsSync(restored)).toBe(false)
})

test.each(['-wal', '-shm', '-journal'])('a restore beside the %s of another log is refused, and changes nothing', async (suffix) => {
  const { paths, log } = await filled(1)
  await takeBackup(options(paths))
  await log.close()
  const restored = dataPaths(join(place.path, 'restored'))
  mkdirSync(restored.root)
  writeFileSync(`${restored.log}${suffix}`, 'of another log')
  const ended = await mindledger(['restore', into(), '--into', restored.root])
  expect(ended).toMatchObject({ code: 2, err: expect.stringContaining(`log.sqlite${suffix} belongs to a log that is not in`) })
  expect(readdirSync(restored.root)).toEqual([`log.sqlite${suffix}`])
})
