import { expect, test } from '@jest/globals'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '../../../src/setup/config.js'
import { BlobCache } from '../../../src/files/shared/blob-cache.js'
import { temporaryDirectory } from '../../support/log/log.js'

const shaOf = (n: number): string => n.toString(16).padStart(64, '0')

/** Runs a test over a cache on a disk of 100 bytes, 20 of which it leaves free. `fill` gives bytes of the disk to others. */
const withCache = async (run: (cache: BlobCache, fill: (bytes: number) => void) => Promise<void>): Promise<void> => {
  const { path, remove } = temporaryDirectory()
  let others = 0
  const used = (): number => readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, others)
  try {
    const cache = await BlobCache.open(path, { maxBytes: 1_000, keepFree: 20, freeOnDisk: () => 100 - used() })
    await run(cache, (bytes) => (others += bytes))
  } finally {
    remove()
  }
}

/** Takes in a file of 10 bytes, and holds it. */
const takeOne = async (cache: BlobCache, n: number) => {
  const arrived = cache.reserve(10)
  const file = cache.temporary()
  writeFileSync(file, 'x'.repeat(10))
  arrived()
  return cache.take(file, shaOf(n))
}

test('a cache leaves the last part of the disk free: the files used longest ago go, also when others fill it', () =>
  withCache(async (cache, fill) => {
    for (let n = 1; n <= 8; n++) (await takeOne(cache, n)).release()
    expect(cache.bytes).toBe(80)
    ;(await takeOne(cache, 9)).release()
    expect(cache.names.toSorted()).toEqual([2, 3, 4, 5, 6, 7, 8, 9].map(shaOf))
    fill(15)
    cache.shrink()
    expect(cache.names.toSorted()).toEqual([4, 5, 6, 7, 8, 9].map(shaOf))
  }))

test('a cache whose files are all in use takes nothing for which the disk has no room, until one is released', () =>
  withCache(async (cache) => {
    const held = []
    for (let n = 1; n <= 8; n++) held.push(await takeOne(cache, n))
    expect(() => cache.reserve(10)).toThrow(expect.objectContaining({ code: 'disk_full', status: 507 }))
    expect(cache.names).toHaveLength(8)
    held[0]?.release()
    const arrived = cache.reserve(10)
    expect(cache.names).toHaveLength(7)
    // Two files on their way in need twice the room.
    expect(() => cache.reserve(10)).toThrow(expect.objectContaining({ code: 'disk_full' }))
    arrived()
    cache.reserve(10)()
  }))

test('BLOB_CACHE_MAX is a size with a unit', () => {
  expect(readConfig({ BLOB_CACHE_MAX: '2TiB' }).blobCacheMaxBytes).toBe(2 * 2 ** 40)
  for (const text of ['20', '20GB', '0GiB', '-1GiB', '1.5GiB', '1KiB'])
    expect(() => readConfig({ BLOB_CACHE_MAX: text })).toThrow('BLOB_CACHE_MAX: must be a size of at least 1MiB')
})
