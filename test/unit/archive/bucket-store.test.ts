import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { BucketStore } from '../../../src/archive/bucket-store.js'
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
  expect(await store.withFiles(['first', 'none'], async ([path = '', none]) => [readFileSync(path, 'utf8'), none])).toEqual([
    first,
    undefined,
  ])

  const get = s3.objects.get.bind(s3.objects)
  s3.objects.get = (path) => {
    if (path.endsWith('second')) removeFolderOf(first)
    return get(path)
  }
  const failed: unknown = await store.withFiles(['first', 'second'], async () => undefined).catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(ConfigError)
  expect((failed as Error).message).toMatch(/of this machine cannot keep a file of s3:\/\/.*ENOENT/)

  s3.failures.push(403)
  await expect(store.readText('first', 100)).rejects.toThrow(/^s3:\/\/\S+ cannot be reached: S3 answers 403/)
  await expect(store.readText('first', 3)).rejects.toThrow('has more than 3 bytes')
  await store.close()
})
