import { existsSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { fileOnce } from '../../../src/http/protocol/file-once.js'
import { textUpTo } from '../../../src/http/protocol/reply.js'
import { temporaryDirectory } from '../../support/service.js'
import { until } from '../../support/until.js'

const directory = temporaryDirectory()
afterAll(() => directory.remove())

/** Linux names the open files of a process here. */
const descriptors = '/proc/self/fd'

/** The paths of open files below the directory; none where they have no names. */
const openFiles = (): string[] =>
  (existsSync(descriptors) ? readdirSync(descriptors) : []).flatMap((fd) => {
    try {
      const path = readlinkSync(join(descriptors, fd))
      return path.startsWith(directory.path) ? [path] : []
    } catch {
      return []
    }
  })

test('a file that is sent is gone at once, and is closed when it was read', async () => {
  const path = join(directory.path, 'rows')
  writeFileSync(path, 'rows')
  const reply = await fileOnce('text/plain', path)
  expect(reply).toMatchObject({ headers: { 'Content-Length': '4' } })
  expect(existsSync(path)).toBe(false)
  expect(await textUpTo(reply, 100)).toBe('rows')
  await until(() => openFiles().length === 0)
})

const onLinux = existsSync(descriptors) ? test : test.skip
onLinux('what cannot be unlinked is not left open', async () => {
  const before = openFiles()
  // A folder can be opened, but not removed like a file.
  await expect(fileOnce('text/plain', directory.path)).rejects.toThrow()
  expect(openFiles()).toEqual(before)
})
