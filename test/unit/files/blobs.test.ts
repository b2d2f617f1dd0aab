import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { holding } from '../../../src/files/blob-store.js'
import { Blobs } from '../../../src/files/blobs.js'
import { inDirectory, problemOf } from './tables.js'

const sha = (text: string) => createHash('sha256').update(text).digest('hex')

describe('blobs', () => {
  test('the same bytes are one blob, put as a file or as bytes', () =>
    inDirectory(async (directory) => {
      const blobs = new Blobs(join(directory, 'blobs'))
      const file = join(directory, 'file')
      for (let time = 0; time < 2; time++) {
        await writeFile(file, 'abc')
        expect(await blobs.put(file)).toBe(sha('abc'))
        await expect(stat(file)).rejects.toThrow('ENOENT')
        expect(await blobs.putBytes(Buffer.from('abc'))).toBe(sha('abc'))
      }
      expect(await blobs.list()).toEqual([sha('abc')])
      expect((await blobs.read(sha('abc'))).toString()).toBe('abc')
    }))

  test('a file of another disk is moved in whole', async () => {
    const elsewhere = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'blobs-'))
    try {
      await inDirectory(async (directory) => {
        const blobs = new Blobs(join(directory, 'blobs'))
        const file = join(elsewhere, 'file')
        await writeFile(file, 'abc')
        expect(await blobs.put(file)).toBe(sha('abc'))
        expect((await blobs.read(sha('abc'))).toString()).toBe('abc')
        expect(await readdir(elsewhere)).toEqual([])
        expect((await readdir(join(directory, 'blobs'))).sort()).toEqual([sha('abc'), `${sha('abc')}.unnamed`])
      })
    } finally {
      await rm(elsewhere, { recursive: true })
    }
  })

  test('many puts of the same bytes at once leave one blob, and a mark until an event names it', () =>
    inDirectory(async (directory) => {
      const blobs = new Blobs(directory)
      await Promise.all(Array.from({ length: 20 }, () => blobs.putBytes(Buffer.from('abc'))))
      expect((await readdir(directory)).sort()).toEqual([sha('abc'), `${sha('abc')}.unnamed`])
      blobs.named(sha('abc'))
      expect(await readdir(directory)).toEqual([sha('abc')])
    }))

  test('bytes that are erased while they are put leave no file', () =>
    inDirectory(async (directory) => {
      const place = join(directory, 'blobs')
      const blobs = new Blobs(place)
      const file = join(directory, 'file')
      await writeFile(file, 'abc')
      for (const put of [() => blobs.put(file), () => blobs.putBytes(Buffer.from('abc'))]) {
        const putting = problemOf(put())
        await blobs.drop([sha('abc')])
        expect((await putting).code).toBe('busy')
        expect(await readdir(place)).toEqual([])
      }
      expect(await blobs.put(file)).toBe(sha('abc'))
      expect(await blobs.list()).toEqual([sha('abc')])
    }))

  test('a blob that is given up goes, unless it was there before, an event names it, or somebody else puts it', () =>
    inDirectory(async (directory) => {
      const blobs = new Blobs(directory)
      const put = (by = blobs) => by.putBytes(Buffer.from('abc'))
      const abc = await put()
      await put()
      await blobs.giveUp(abc)
      expect(await blobs.list()).toEqual([abc])
      await blobs.giveUp(abc)
      expect(await readdir(directory)).toEqual([])
      await put()
      blobs.named(abc)
      await put()
      await blobs.giveUp(abc)
      const later = new Blobs(directory)
      await put(later)
      await later.giveUp(abc)
      expect(await readdir(directory)).toEqual([abc])
    }))

  test('a removed blob is gone, an unfinished one is not listed', () =>
    inDirectory(async (directory) => {
      const blobs = new Blobs(directory)
      await blobs.putBytes(Buffer.from('abc'))
      await writeFile(join(directory, '.x.part'), 'half')
      expect([await blobs.remove(sha('abc')), await blobs.remove(sha('abc')), await blobs.has(sha('abc'))]).toEqual([true, false, false])
      expect(await blobs.list()).toEqual([])
      expect((await problemOf(blobs.read(sha('abc')))).code).toBe('not_found')
    }))

  test('a held blob has its file, and one that is not there cannot be held', () =>
    inDirectory(async (directory) => {
      const blobs = new Blobs(directory)
      const abc = await blobs.putBytes(Buffer.from('abc'))
      const text = await holding(blobs, async (fileOf) => readFile(await fileOf(abc), 'utf8'))
      expect(text).toBe('abc')
      expect((await problemOf(holding(blobs, (fileOf) => fileOf(sha('abd'))))).code).toBe('not_found')
    }))

  test('a store that does not exist yet is empty', async () => {
    expect(await new Blobs('/nonexistent/blobs').list()).toEqual([])
  })

  test('bytes that changed on the disk are not handed out', () =>
    inDirectory(async (directory) => {
      const blobs = new Blobs(directory)
      await blobs.putBytes(Buffer.from('abc'))
      await writeFile(blobs.path(sha('abc')), 'abd')
      expect((await problemOf(blobs.read(sha('abc')))).code).toBe('storage_failed')
    }))

  test.each(['abd', 'ab', ''])('bytes that changed on the disk (%j) are stored again by the next put', (spoiled) =>
    inDirectory(async (directory) => {
      const blobs = new Blobs(join(directory, 'blobs'))
      const file = join(directory, 'file')
      await writeFile(file, 'abc')
      const puts = [() => blobs.put(file), () => blobs.putBytes(Buffer.from('abc'))]
      await blobs.putBytes(Buffer.from('abc'))
      for (const put of puts) {
        await writeFile(blobs.path(sha('abc')), spoiled)
        expect(await put()).toBe(sha('abc'))
        expect((await blobs.read(sha('abc'))).toString()).toBe('abc')
      }
      expect(await readdir(directory)).toEqual(['blobs'])
    }),
  )

  test.each(['', '..', `../${'a'.repeat(64)}`, 'A'.repeat(64), 'a'.repeat(63), `${'a'.repeat(64)}\n`, `${'a'.repeat(64)}/x`])(
    '%j names no blob',
    async (name) => {
      const blobs = new Blobs('/nonexistent')
      expect(() => blobs.path(name)).toThrow('64 hexadecimal digits')
      await expect(blobs.has(name)).rejects.toThrow('64 hexadecimal digits')
    },
  )
})
