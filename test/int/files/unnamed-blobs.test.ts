import { expect, test } from '@jest/globals'
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino, type Logger } from 'pino'
import { readConfig } from '../../../src/setup/config.js'
import { Blobs } from '../../../src/files/blobs.js'
import { removeUnnamedBlobs } from '../../../src/files/unnamed-blobs.js'
import { startService, type Service } from '../../../src/main.js'
import { formOf, uploadRentals } from '../../support/models/rentals.js'
import { origin, withLog } from '../../support/log/log.js'
import { send, sql, temporaryDirectory } from '../../support/service.js'
import { until } from '../../support/until.js'

const { signal } = new AbortController()
test('blobs that an earlier process put and no event names go; those of any event and those just put stay', () =>
  withLog(async ({ log, ledger, directory }) => {
    const place = join(directory, 'blobs')
    mkdirSync(place)
    const before = new Blobs(place)
    const put = (text: string) => before.putBytes(Buffer.from(text))
    const [first, second, dropped, artefact, matrix] = [
      await put('first'),
      await put('second'),
      await put('dropped'),
      await put('artefact'),
      await put('matrix'),
    ]
    const [orphan, again] = [await put('orphan'), await put('again')]
    const execute = (command: Parameters<typeof ledger.execute>[0]) => ledger.execute(command, origin)
    const content = (hash: string) => ({ content: hash, bytes: 1, row_count: 1, columns: [], original_name: null })
    await execute({ type: 'CreateProject', data: { project: 'shop' } })
    await execute({ type: 'CreateFile', data: { file: 'a', content: content(first) } })
    await execute({ type: 'ReplaceFile', data: { file: 'a', content: content(second) } })
    await execute({ type: 'CreateFile', data: { file: 'b', content: content(dropped) } })
    await execute({ type: 'DeleteFile', data: { file: 'b' } })
    const request = {
      engine: 'lightwood',
      target: 'a',
      database: 'files',
      query: 'SELECT 1',
      using: {},
      seed: 1,
      activate: true,
      tag: null,
    }
    const { stream } = (await execute({ type: 'CreateModel', data: { project: 'shop', model: 'm', request } })).resource ?? fail()
    const result = { version: 1, artefact, matrix, read_at: 1, rows: 1, accuracy: null, report: {}, runtime: {}, seconds: 0 }
    await execute({ type: 'StartTraining', data: { stream, version: 1 } })
    await execute({ type: 'CompleteTraining', data: { stream, version: 1, result } })
    await execute({ type: 'DeleteModel', data: { project: 'shop', model: 'm' } })

    const blobs = new Blobs(place)
    expect(await blobs.putBytes(Buffer.from('again'))).toBe(again)
    expect(await removeUnnamedBlobs(log, blobs, signal)).toBe(1)
    expect(await blobs.list()).toEqual([first, second, dropped, artefact, matrix, again].sort())
    expect(await blobs.has(orphan)).toBe(false)
    expect(await removeUnnamedBlobs(log, blobs, signal)).toBe(0)
  }))

const fail = (): never => {
  throw new Error('nothing was made')
}

test('a start removes them and says how many', async () => {
  const { path, remove } = temporaryDirectory()
  const config = readConfig({ PORT: '0', DATA_DIR: path })
  const place = join(path, 'blobs')
  const services: Service[] = []
  const start = async (logger: Logger): Promise<Service> => {
    const service = await startService(config, logger)
    services.push(service)
    return service
  }
  try {
    const first = await start(pino({ level: 'silent' }))
    await uploadRentals(first.url)
    await send(first.url, 'DELETE', '/api/files/rentals')
    expect((await send(first.url, 'PUT', '/api/files/rentals', formOf('a,b\n1,2\n', 'x.csv'))).status).toBe(200)
    await first.close()
    const kept = await new Blobs(place).list()
    expect(kept).toHaveLength(2)
    const orphans = ['ab'.repeat(32), 'cd'.repeat(32)]
    for (const hash of orphans) for (const name of [hash, `${hash}.unnamed`]) writeFileSync(join(place, name), 'left')
    const lines: string[] = []
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
    const second = await start(logger)
    const told = () =>
      lines.map((line) => JSON.parse(line) as { msg: string; blobs?: number }).find(({ msg }) => msg === 'removed blobs that nobody needs')
    await until(() => told() !== undefined)
    expect(told()).toMatchObject({ blobs: 2 })
    expect(await new Blobs(place).list()).toEqual(kept)
    expect(await sql(second.url, 'SELECT a FROM files.rentals')).toMatchObject({ data: [[1]] })
  } finally {
    for (const service of services) await service.close()
    remove()
  }
})

test('an older log that is put beside newer blobs loses none of them', async () => {
  const { path, remove } = temporaryDirectory()
  const config = readConfig({ PORT: '0', DATA_DIR: path })
  const start = () => startService(config, pino({ level: 'silent' }))
  const upload = async (url: string, name: string) =>
    expect((await send(url, 'PUT', `/api/files/${name}`, formOf(`a,b\n1,${name}\n`, 'x.csv'))).status).toBe(200)
  try {
    const first = await start()
    await upload(first.url, 'older')
    await first.close()
    copyFileSync(join(path, 'log.sqlite'), join(path, 'older.sqlite'))
    const second = await start()
    await upload(second.url, 'newer')
    await second.close()
    const names = readdirSync(join(path, 'blobs'))
    expect(names).toHaveLength(2)
    copyFileSync(join(path, 'older.sqlite'), join(path, 'log.sqlite'))
    // They may have followed the newer log, and would say so.
    rmSync(join(path, 'tables'), { recursive: true, force: true })
    const third = await start()
    await upload(third.url, 'third')
    await third.close()
    await (await start()).close()
    expect(readdirSync(join(path, 'blobs'))).toEqual(expect.arrayContaining(names))
  } finally {
    remove()
  }
})
