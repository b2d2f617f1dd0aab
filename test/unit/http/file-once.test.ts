import { existsSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { fileOnce } from '../../../src/http/protocol/file-once.js'
import { temporaryDirectory } from '../../support/service.js'

const directory = temporaryDirectory()
afterAll(() => directory.remove())

/** The paths of open files below the directory, on Linux. */
const openFiles = (): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`)
      return path.startsWith(directory.path) ? [path] : []
    } catch {
      return []
    }
  })

test('a file that is sent is gone at once', async () => {
  const path = join(directory.path, 'rows')
  writeFileSync(path, 'rows')
  expect(await fileOnce('text/plain', path)).toMatchObject({ headers: { 'Content-Length': '4' } })
  expect(existsSync(path)).toBe(false)
})

const onLinux = existsSync('/proc/self/fd') ? test : test.skip
onLinux('what cannot be unlinked is not left open', async () => {
  const before = openFiles()
  // A folder can be opened, but not removed like a file.
  await expect(fileOnce('text/plain', directory.path)).rejects.toThrow()
  expect(openFiles()).toEqual(before)
})
