import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { BucketStore } from '../../../src/archive/bucket-store.js'
import { limits } from '../../../src/basics/limits.js'
import { ConfigError } from '../../../src/setup/config.js'
import { startS3, type S3Server } from '../../support/files/s3-server.js'

let s3: S3Server
beforeAll(async () => {
  s3 = await startS3()
})
afterAll(() => s3.stop())

/** Whether a folder has a file with this text. Other tests have such folders as well, and may remove them at any moment. */
const holds = (folder: string, text: string): boolean => {
  try {
    return readFileSync(join(folder, '0.parquet'), 'utf8') === text
  } catch {
    return false
  }
}

/** Removes the temporary folder that has a file with this text. */
const removeFolderOf = (text: string): void => {
  const folders = readdirSync(tmpdir()).filter((name) => name.startsWith('mindledger-export-'))
  for (const folder of folders.map((name) => join(tmpdir(), name))) if (holds(folder, text)) rmSync(folder, { recursive: true })
}

test('an error names the bucket if the bucket fails, and this machine if its disk fails', async () => {
  const store = new BucketStore(s3.address)
  const place = `/${s3.address.bucket}/${s3.address.prefix}`
  const first = `the first file of process ${process.pid}`
  s3.objects.set(`${place}first`, Buffer.from(first)).set(`${place}second`, Buffer.from('second'))
  const named = (name: string) => ({ name, bytes: first.length })
  expect(await store.withFiles([named('first'), named('none')], async ([path = '', none]) => [readFileSync(path, 'utf8'), none])).toEqual([
    first,
    undefined,
  ])

  const get = s3.objects.get.bind(s3.objects)
  s3.objects.get = (path) => {
    if (path.endsWith('second')) removeFolderOf(first)
    return get(path)
  }
  const failed: unknown = await store.withFiles([named('first'), named('second')], async () => undefined).catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(ConfigError)
  expect((failed as Error).message).toMatch(/of this machine cannot keep a file of s3:\/\/.*ENOENT/)

  s3.failures.push(403)
  await expect(store.readText('first', 100)).rejects.toThrow(/^s3:\/\/\S+ cannot be reached: S3 answers 403/)
  await expect(store.readText('first', 3)).rejects.toThrow('has more than 3 bytes')
  await store.close()
})

test('a file that is longer than its manifest says is not read to its end', async () => {
  const store = new BucketStore(s3.address)
  s3.objects.set(`/${s3.address.bucket}/${s3.address.prefix}long`, Buffer.alloc(64 * 2 ** 20))
  const size = await store.withFiles([{ name: 'long', bytes: 1_000 }], async ([path = '']) => statSync(path).size)
  expect(size).toBeGreaterThan(1_000)
  expect(size).toBeLessThan(8 * 2 ** 20)
  await store.close()
})

const page = (entries: string, next = ''): string =>
  `<ListBucketResult><IsTruncated>true</IsTruncated>${entries}<NextContinuationToken>${next}</NextContinuationToken></ListBucketResult>`
const entry = '<Contents><Key>blobs/one</Key><Size>1</Size></Contents>'

test.each([
  ['has a page that is its own next page', [page(entry, 'a'), page(entry, 'a')], /a list of names that does not go on/],
  ['has a page without names', [page('', 'a')], /a list of names that does not go on/],
  ['has a page that names no next one', [page(entry).replace(/<Next.*Token>/, '')], /a list of names that does not go on/],
  ['is too long', ['<Contents>'.repeat(Math.ceil(limits.blobAnswerMaxBytes / 10) + 1)], /more than 8388608 bytes/],
])('a list that %s ends with an error', async (_, bodies, why) => {
  const store = new BucketStore(s3.address)
  s3.answers.push(...bodies.map((body) => ({ status: 200, body })))
  await expect(store.list('')).rejects.toThrow(why)
  expect(s3.answers).toEqual([])
  await store.close()
})

test('a list whose entries have no end is read once, and a refusal that is too long has only its status', async () => {
  const store = new BucketStore(s3.address)
  s3.answers.push({ status: 200, body: '<Contents>'.repeat(Math.floor(limits.blobAnswerMaxBytes / 10)) })
  expect(await store.list('')).toEqual(new Map())
  s3.answers.push({ status: 403, body: `${' '.repeat(limits.blobAnswerMaxBytes)}<Code>AccessDenied</Code>` })
  await expect(store.readText('first', 100)).rejects.toThrow(/S3 answers 403$/)
  await store.close()
})
