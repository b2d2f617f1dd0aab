import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { undoAll } from '../../../src/basics/undo.js'
import { mindledger } from '../../support/cli.js'
import { startS3, type S3Server } from '../../support/files/s3-server.js'
import { send, spawnUntil, temporaryDirectory } from '../../support/service.js'
import { until } from '../../support/until.js'

type Exported = { directory: string; position: number | null; error: string | null }

const place = temporaryDirectory()
const undo: (() => unknown)[] = [place.remove]
let s3: S3Server
let keys: Record<string, string>
const addressOf = (prefix: string): string =>
  `s3://ledger/${prefix}?endpoint=${s3.address.endpoint?.origin ?? ''}&region=${s3.address.region}`
const settings = () => ({ ...keys, EXPORT_URL: addressOf('history'), EXPORT_INTERVAL: '1s', EXPORT_RANGE: '20' })

beforeAll(async () => {
  s3 = await startS3()
  undo.push(s3.stop)
  const { accessKeyId, secretAccessKey } = s3.address.keys
  keys = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey }
})
afterAll(() => undoAll(undo))

const start = (name: string, settings: Record<string, string>) => spawnUntil(undo, join(place.path, name), settings)
const write = async (url: string, prefix: string, count: number): Promise<void> => {
  for (let n = 0; n < count; n++) {
    const skill = { name: `${prefix}${n}`, type: 'sql', params: {} }
    expect((await send(url, 'POST', '/api/projects/mindsdb/skills', { skill })).status).toBe(201)
  }
}
const exported = async (url: string): Promise<Exported> => ((await send(url, 'GET', '/api/status')).body as { export: Exported }).export
const exportedTo = (url: string, position: number): Promise<void> =>
  until(async () => {
    const status = await exported(url)
    return status.position === position && status.error === null
  })
/** As an auditor runs it, who has the keys of the bucket and no data directory. */
const check = (prefix: string) => mindledger(['verify', '--parquet', addressOf(prefix)], { ...keys, DATA_DIR: join(place.path, 'nothing') })

test('a service writes its history into a bucket as it grows, and an auditor checks it there', async () => {
  const server = await start('data', settings())
  await write(server.url, 'a', 45)
  await exportedTo(server.url, 40)
  expect((await exported(server.url)).directory).toBe('s3://ledger/history')
  expect(s3.objects.has('/ledger/history/events/000000000021-000000000040.parquet')).toBe(true)
  expect(await check('history')).toMatchObject({ code: 0, out: expect.stringContaining('The export holds: 40 events') })
  const refused = await mindledger(['export', '--parquet', addressOf('history')], { ...settings(), DATA_DIR: join(place.path, 'data') })
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('is the place where the server writes') })

  // A bucket that is away stops nothing else, and what is missing follows.
  s3.failures.push(...Array.from({ length: 1_000 }, () => 503))
  await write(server.url, 'b', 20)
  await until(async () => (await exported(server.url)).error !== null)
  expect((await exported(server.url)).error).toContain('S3 answers 503')
  s3.failures.length = 0
  await exportedTo(server.url, 60)

  // A start looks at all ranges: one that is gone is written again.
  await server.kill()
  s3.objects.delete('/ledger/history/answers/000000000001-000000000020.parquet')
  expect(await check('history')).toMatchObject({ code: 1, out: expect.stringContaining('000000000020.parquet is missing') })
  const again = await start('data', settings())
  await exportedTo(again.url, 60)
  expect(await check('history')).toMatchObject({ code: 0 })
  // Its folder is removed after its last range was told.
  await until(() => !existsSync(join(place.path, 'data/tmp/export')))
  await again.kill('SIGTERM')
})

test('the command writes and continues an export in a bucket, whose changes are found, and takes no other', async () => {
  const data = join(place.path, 'data')
  const write = (prefix: string, until: number) =>
    mindledger(['export', '--parquet', addressOf(prefix), '--until', String(until)], { ...keys, DATA_DIR: data })
  expect(await write('copy', 30)).toMatchObject({ code: 0 })
  expect(await write('copy', 50)).toMatchObject({
    code: 0,
    out: expect.stringContaining('s3://ledger/copy holds the log up to position 50'),
  })
  const names = () => [...s3.objects.keys()].filter((path) => path.startsWith('/ledger/copy/events/'))
  expect(names()).toEqual(['/ledger/copy/events/000000000001-000000000050.parquet'])
  expect(await check('copy')).toMatchObject({ code: 0 })
  const [path = ''] = names()
  const whole = s3.objects.get(path) ?? Buffer.alloc(0)
  const changed = Buffer.from(whole)
  changed.writeUInt8((changed[100] ?? 0) ^ 1, 100)
  s3.objects.set(path, changed)
  expect(await check('copy')).toMatchObject({ code: 1, out: expect.stringContaining('was changed') })
  s3.objects.set('/ledger/taken/somebody/else.txt', Buffer.from('text'))
  expect(await write('taken', 10)).toMatchObject({
    code: 2,
    err: expect.stringContaining('is not empty and not an export (it has somebody)'),
  })
  expect(await check('nothing')).toMatchObject({ code: 2, err: expect.stringContaining('is not an export') })
  // That it cannot be reached is no fault of the export.
  s3.objects.set(path, whole)
  s3.failures.push(...Array.from({ length: 1_000 }, () => 503))
  expect(await check('copy')).toMatchObject({ code: 2, err: expect.stringContaining('s3://ledger/copy cannot be reached: S3 answers 503') })
  s3.failures.length = 0
  expect(await check('copy')).toMatchObject({ code: 0 })
})

test.each<[string, Record<string, string>, string]>([
  ['an address that is none', { EXPORT_URL: 's3://x' }, 'EXPORT_URL: must be s3://bucket/prefix'],
  ['no keys', { EXPORT_URL: 's3://ledger/history', AWS_ACCESS_KEY_ID: '' }, 'EXPORT_URL: needs the keys of the store'],
  ['another scheme', { EXPORT_URL: 'https://history' }, 'EXPORT_URL: must be s3://bucket/prefix'],
  ['a folder beside it', { EXPORT_URL: 's3://ledger/history', EXPORT_DIR: 'history' }, 'EXPORT_URL: names another place than EXPORT_DIR'],
  ['a bucket as a folder', { EXPORT_DIR: 's3://ledger/history' }, 'EXPORT_DIR: must be a folder; set EXPORT_URL for a bucket'],
])('%s is refused at the start', async (_, environment, says) => {
  const { code, err } = await mindledger(['serve'], { ...keys, DATA_DIR: join(place.path, 'refused'), PORT: '0', ...environment })
  expect([code, err]).toEqual([2, expect.stringContaining(says)])
})
