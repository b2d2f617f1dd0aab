import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import { checkArchive } from '../../../src/archive/check.js'
import { FolderStore } from '../../../src/archive/folder-store.js'
import { undoAll } from '../../../src/basics/undo.js'
import { cliFile, freePort, mindledger } from '../../support/cli.js'
import { logServer } from '../../support/log/each-log.js'
import { runSql } from '../../support/log/nodes.js'
import { settled, uploadRentals } from '../../support/models/rentals.js'
import { childrenRunning, isRunning } from '../../support/processes.js'
import { seeded } from '../../support/random.js'
import { answered, send, spawnUntil, sql, temporaryDirectory } from '../../support/service.js'
import { until } from '../../support/until.js'

type Exported = { directory: string; here: boolean; position: number | null; error: string | null }

const place = temporaryDirectory()
const at = (name: string): string => join(place.path, name)
const undo: (() => unknown)[] = [place.remove]
afterAll(() => undoAll(undo))

const settingsFor = (name: string, range = 20) => ({ EXPORT_DIR: at(name), EXPORT_INTERVAL: '1s', EXPORT_RANGE: String(range) })

const start = (name: string, settings: Record<string, string>) => spawnUntil(undo, at(name), settings)
/** Makes as many skills at once. PostgreSQL may keep some waiting for too long, and nothing is recorded of these. */
const write = async (url: string, prefix: string, count: number): Promise<void> => {
  await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const skill = { name: `${prefix}${n}`, type: 'sql', params: {} }
      const headers = { 'idempotency-key': `${prefix}${n}` }
      const reply = await answered(() => send(url, 'POST', '/api/projects/mindsdb/skills', { skill }, headers))
      expect(reply.status).toBe(201)
    }),
  )
}
const exported = async (url: string): Promise<Exported> => ((await send(url, 'GET', '/api/status')).body as { export: Exported }).export
const headOf = async (url: string): Promise<number> =>
  ((await send(url, 'GET', '/api/ready')).body as { log: { position: number } }).log.position
/** Waits until all ranges that are finished are exported, and returns where they end. `writer` is the service that wrote last. */
const allExported = async (url: string, range = 20, writer = url): Promise<number> => {
  const end = Math.floor((await headOf(writer)) / range) * range
  // The position of a try under way is told before the try has ended, and with it the error of the one before.
  await until(async () => {
    const { position, error } = await exported(url)
    return position === end && error === null
  })
  return end
}
/** Where the manifest says that the export ends; -1 when there is none yet. */
const sizeOf = (name: string): number => {
  const path = at(`${name}/manifest.json`)
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { size: number }).size : -1
}
const faultsOf = async (name: string, waitMs = 0): Promise<string[]> =>
  (await checkArchive({ store: new FolderStore(at(name)), heads: [], trusted: [], waitMs })).faults
const rowsOf = async (query: string): Promise<unknown[][]> => {
  const connection = await (await DuckDBInstance.create()).connect()
  try {
    return (await connection.runAndReadAll(query)).getRows()
  } finally {
    connection.closeSync()
  }
}

describe('a service with EXPORT_DIR', () => {
  let server: Awaited<ReturnType<typeof start>>
  beforeAll(async () => {
    server = await start('data', settingsFor('history'))
    await uploadRentals(server.url)
    const query = `CREATE MODEL mindsdb.rent FROM files (SELECT * FROM rentals) PREDICT rental_price USING engine = 'linear'`
    await sql(server.url, query)
    expect(await settled(server.url, 'rent')).toBe('complete')
  })

  test('exports finished ranges as the log grows, and says how far it is', async () => {
    await write(server.url, 'a', 20)
    const first = await allExported(server.url)
    await write(server.url, 'b', 20)
    const end = await allExported(server.url)
    expect(end).toBeGreaterThan(first)
    expect(sizeOf('history')).toBe(end)
    expect(await faultsOf('history', 3_000)).toEqual([])
    const metrics = (await send(server.url, 'GET', '/api/metrics')).body as string
    expect(metrics).toContain(`mindledger_export_position ${end}\n`)
    expect(metrics).toContain('mindledger_export_failing 0\n')
  })

  test('exports predictions and outcomes by their hashes alone: an erasure leaves nothing in the files, and they still hold', async () => {
    const predict = (request: string, location: string) =>
      send(server.url, 'POST', '/api/projects/mindsdb/models/rent/predict', [{ sqft: 700, location }], { 'x-request-id': request })
    expect((await predict('gone', 'a-place-to-forget')).status).toBe(200)
    expect((await predict('kept', 'a-place-to-keep')).status).toBe(200)
    const [[position] = []] = (await sql(server.url, `SELECT position FROM log.predictions WHERE request = 'gone'`)).data
    const outcomes = [{ position, request: 'gone', row: 0, truth: 987_654 }]
    expect((await send(server.url, 'POST', '/api/projects/mindsdb/models/rent/outcomes', { outcomes })).status).toBe(200)
    await write(server.url, 'c', 20)
    await allExported(server.url)
    const readAll = (table: string, columns: string) =>
      rowsOf(`SELECT ${columns} FROM '${at('history')}/${table}/*.parquet' ORDER BY position`)
    const predictions = await readAll('predictions', 'request, data')
    expect(predictions.map(([request]) => request)).toEqual(['gone', 'kept'])
    expect(await readAll('outcomes', 'position')).toHaveLength(1)
    const before = readFileSync(at('history/ranges/000000000001-000000000020.json'), 'utf8')

    const erased = await send(server.url, 'POST', '/api/log/erasures', { request: 'gone' })
    expect(erased).toMatchObject({ status: 200, body: { rows: 2 } })
    await write(server.url, 'd', 20)
    await allExported(server.url)
    const texts = await readAll('events', 'text')
    expect(texts.filter(([text]) => /a-place-to|987654/.test(String(text)))).toEqual([])
    expect(texts.some(([text]) => String(text).includes('"DataErased"'))).toBe(true)
    expect(await readAll('predictions', 'request, data')).toEqual(predictions)
    expect(readFileSync(at('history/ranges/000000000001-000000000020.json'), 'utf8')).toBe(before)
    expect(await faultsOf('history', 3_000)).toEqual([])
  })

  test('writes its folder alone: the command names another', async () => {
    const { code, err } = await mindledger(['export', '--parquet', at('history')], { DATA_DIR: at('data'), ...settingsFor('history') })
    expect([code, err]).toEqual([2, expect.stringContaining('is the place where the server writes')])
  })

  test('that finds another export there says so, and goes on when it is gone', async () => {
    const other = await start('other-data', settingsFor('history'))
    await until(async () => (await exported(other.url)).error !== null)
    // SQL may start late.
    await until(async () => (await send(other.url, 'GET', '/api/ready')).status === 200)
    expect((await exported(other.url)).error).toContain('is an export of another log')
    const { status, body } = await send(other.url, 'GET', '/api/ready')
    expect([status, (body as { warnings: string[] }).warnings.join()]).toEqual([200, expect.stringContaining('EXPORT_DIR')])
    expect(JSON.stringify(body)).not.toContain(place.path)
    expect(await faultsOf('history', 3_000)).toEqual([])
    await other.kill()
    await server.kill('SIGTERM')
  })
})

test('a service that is killed while it exports leaves what the manifest names whole, and the next start goes on', async () => {
  const random = seeded(7)
  const alone = await start('killed-data', {})
  await write(alone.url, 's', 240)
  await alone.kill('SIGTERM')
  const settings = settingsFor('killed', 10)
  let atKill = -1
  for (let round = 0; round < 2; round++) {
    const { child, kill, url } = await start('killed-data', settings)
    // The round before may have ended only after everything was exported.
    if ((await headOf(url)) < atKill + 10) await write(url, 't', 20)
    await until(() => sizeOf('killed') > atKill)
    await sleep(random() * 300)
    const exporting = childrenRunning(Number(child.pid), 'bin/export-process')
    await kill()
    await until(() => !exporting.some(isRunning))
    const faults = (await faultsOf('killed')).filter((fault) => !fault.endsWith('is not in the manifest'))
    expect(faults).toEqual([])
    expect(sizeOf('killed')).toBeGreaterThan(atKill)
    atKill = sizeOf('killed')
  }
  const last = await start('killed-data', settings)
  await allExported(last.url, 10)
  await last.kill('SIGTERM')
  expect(await faultsOf('killed')).toEqual([])
})

describe('a full disk', () => {
  const mounts = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0
  const onLinux = mounts ? test : test.skip

  onLinux('of EXPORT_DIR stops nothing else, and the export goes on when there is room', async () => {
    const [directory, flag, port] = [at('small'), at('room'), await freePort()]
    mkdirSync(directory)
    const fill = `mount -t tmpfs -o size=2m tmpfs ${directory} && mkdir ${directory}/history; dd if=/dev/zero of=${directory}/fill bs=1k 2>/dev/null`
    const free = `(while [ ! -e ${flag} ]; do sleep 0.1; done; rm ${directory}/fill) &`
    const env = { ...process.env, ...settingsFor('small/history'), DATA_DIR: at('full-data'), PORT: String(port), LOG_LEVEL: 'silent' }
    const child: ChildProcess = spawn('unshare', ['-rm', 'sh', '-c', `${fill}; ${free} exec ${process.execPath} ${cliFile} serve`], { env })
    const ended = once(child, 'exit')
    const url = `http://127.0.0.1:${port}`
    try {
      await until(async () => (await send(url, 'GET', '/health').catch(() => undefined))?.status === 200)
      await write(url, 's', 60)
      await until(async () => (await exported(url)).error !== null)
      await write(url, 't', 20)
      const { status, body } = await send(url, 'GET', '/api/ready?for=rest')
      expect([status, (body as { warnings: string[] }).warnings.join()]).toEqual([200, expect.stringContaining('no room on its disk')])
      expect((await send(url, 'GET', '/api/metrics')).body).toContain('mindledger_export_failing 1\n')
      writeFileSync(flag, '')
      await allExported(url)
      expect((await exported(url)).error).toBeNull()
      expect((await send(url, 'GET', '/api/ready')).body).not.toHaveProperty('warnings')
    } finally {
      writeFileSync(flag, '')
      child.kill('SIGTERM')
      await ended
      rmSync(flag)
    }
  })
})

describe('two nodes of one log', () => {
  const { server } = logServer()

  test('export to one folder: one of them writes, and the other goes on when that one is gone', async () => {
    const logUrl = await server().newUrl()
    const settings = { ...settingsFor('shared'), LOG_URL: logUrl, VAULT_KEY: 'ab'.repeat(32), HEAD_KEY: 'cd'.repeat(32) }
    const a = await start('node-a', settings)
    // Otherwise the other node could be the first.
    await until(async () => (await exported(a.url)).here)
    const b = await start('node-b', settings)
    await write(b.url, 's', 40)
    const end = await allExported(a.url, 20, b.url)
    expect(await exported(b.url)).toMatchObject({ here: false, position: null })
    expect((await send(b.url, 'GET', '/api/metrics')).body).not.toMatch(/^mindledger_export/m)
    await a.kill()
    // As if the lease had run out.
    await runSql(logUrl, `DELETE FROM mindledger.leases WHERE name = 'export'`)
    await write(b.url, 't', 40)
    await until(async () => (await exported(b.url)).here)
    expect(await allExported(b.url)).toBeGreaterThan(end)
    expect(await faultsOf('shared', 3_000)).toEqual([])
    await b.kill()
  })

  test('leave the export to each other where it fails: a folder that one of them cannot write stops nothing', async () => {
    const keys = { LOG_URL: await server().newUrl(), VAULT_KEY: 'ab'.repeat(32), HEAD_KEY: 'cd'.repeat(32) }
    writeFileSync(at('in-the-way'), '')
    const a = await start('failing-node', { ...settingsFor('in-the-way/history'), ...keys })
    const b = await start('able-node', { ...settingsFor('passed-on'), ...keys })
    await write(b.url, 's', 40)
    await until(async () => (await exported(b.url)).here, 5 * 60_000)
    await allExported(b.url)
    expect((await exported(a.url)).here).toBe(false)
    for (const node of [a, b]) await node.kill()
  })
})
