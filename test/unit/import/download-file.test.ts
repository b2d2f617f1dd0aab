import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import type { Transport } from '../../../src/basics/fetch-from.js'
import { limits } from '../../../src/basics/limits.js'
import { Client } from '../../../src/import/client.js'
import { downloadFile } from '../../../src/import/download-file.js'
import { temporaryDirectory } from '../../support/service.js'

const directory = temporaryDirectory()
afterAll(() => directory.remove())

const count = 12_000

const table = (column: string, data: readonly (readonly number[])[]): Response =>
  new Response(JSON.stringify({ type: 'table', column_names: [column], data }))

test.each<[how: string, tooMuch: () => Response]>([
  ['too large', () => new Response('x'.repeat(limits.importAnswerMaxBytes + 1))],
  [
    'too late',
    () => {
      throw Object.assign(new Error('The operation timed out'), { name: 'TimeoutError' })
    },
  ],
])('a page that would be %s is asked for fewer rows, and so are the pages behind it', async (_, tooMuch) => {
  const asked: number[] = []
  const old: Transport = async (_path, { body }) => {
    const { query } = JSON.parse(body as string) as { query: string }
    const [, limit, offset] = /LIMIT (\d+) OFFSET (\d+)/.exec(query) ?? []
    if (limit === undefined) return table('n', [[count]])
    const [most, from] = [Number(limit), Number(offset)]
    asked.push(most)
    if (most > 5_000) return tooMuch()
    return table(
      'id',
      Array.from({ length: Math.min(most, count - from) }, (_, i) => [from + i]),
    )
  }
  const path = join(directory.path, 'rows')
  expect(await downloadFile(new Client('http://old.example', old), 'homes', path, () => undefined)).toMatchObject({ rows: count })
  const ids = readFileSync(path, 'utf8').trimEnd().split('\n')
  expect(ids).toEqual(Array.from({ length: count }, (_, id) => `{"id":${id}}`))
  expect(asked.filter((most) => most > 5_000)).toEqual([limits.importPageRows])
  // The next rows may be short.
  expect(asked.at(-1)).toBeGreaterThan(asked[1] ?? Infinity)
})
