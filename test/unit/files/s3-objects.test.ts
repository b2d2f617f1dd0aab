import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { S3Objects } from '../../../src/files/shared/s3-objects.js'
import { startS3, type S3Server } from '../../support/files/s3-server.js'

let s3: S3Server
beforeAll(async () => {
  s3 = await startS3()
})
afterAll(() => s3.stop())

test('an object that is longer than it was stored is damaged, and no byte behind its size is handed out', async () => {
  const objects = new S3Objects(s3.address)
  s3.objects.set(`/${s3.address.bucket}/${s3.address.prefix}long`, Buffer.alloc(64 * 2 ** 20))
  const bytes = 1_000_000
  let read = 0
  const reading = async () => {
    for await (const chunk of objects.read({ id: 'long', sha: 'of-the-test', bytes })) read += chunk.length
  }
  await expect(reading()).rejects.toMatchObject({ title: 'Blob damaged', detail: expect.stringContaining(`does not have ${bytes} bytes`) })
  expect(read).toBeLessThanOrEqual(bytes)
  await objects.close()
})
