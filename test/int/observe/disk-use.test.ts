import Database from 'better-sqlite3'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from '@jest/globals'
import { dataPaths } from '../../../src/setup/data-directory.js'
import { diskUse, keptDiskUse } from '../../../src/observe/disk-use.js'
import { freePort, mindledger } from '../../support/cli.js'
import { until } from '../../support/until.js'
import { rowsNow, send, spawnService, sql, startTestService, temporaryDirectory } from '../../support/service.js'
import { appendUnfitEvent } from '../../support/log/unfit-event.js'

let cleanUp: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanUp.reverse()) await clean()
  cleanUp = []
})

test('the room is told by kind, and all of it is what lies in the directory', async () => {
  const at = await startTestService()
  cleanUp.push(() => at.stop())
  const rows = Array.from({ length: 60 }, (_, i) => `${i},${i * 2 + (i % 3)}`)
  const upload = (name: string, more = '') =>
    send(at.url, 'PUT', `/api/files/${name}`, `x,y\n${rows.join('\n')}\n${more}`, { 'content-type': 'text/csv' })
  await upload('points')
  await upload('gone', '7,7\n')
  await send(at.url, 'DELETE', '/api/files/gone')
  await sql(at.url, 'CREATE MODEL line FROM files (SELECT * FROM points) PREDICT y')
  await until(async () => (await rowsNow(at.url, `SELECT status FROM models WHERE name = 'line'`))[0]?.[0] === 'complete')
  const { status, body } = await send(at.url, 'GET', '/api/log/storage')
  expect(status).toBe(200)
  const { bytes, total, free } = body as { bytes: Record<string, number>; total: number; free: number }
  const paths = dataPaths(at.directory)
  const size = (name: string) => statSync(join(paths.blobs, name)).size
  const file = (await send(at.url, 'GET', '/api/files/points')).body as { content: string }
  expect(bytes['files']).toBe(size(file.content))
  for (const kind of ['log', 'log_wal', 'matrices', 'artefacts', 'other_blobs', 'duckdb'])
    expect([kind, (bytes[kind] ?? 0) > 0]).toEqual([kind, true])
  expect(total).toBe(Object.values(bytes).reduce((sum, one) => sum + one))
  expect(free).toBeGreaterThan(0)
})

test('many payloads are estimated from a few of them, and few are counted', async () => {
  const place = temporaryDirectory()
  cleanUp.push(() => place.remove())
  const paths = dataPaths(place.path)
  mkdirSync(paths.blobs, { recursive: true })
  const db = new Database(paths.log)
  db.exec(`CREATE TABLE payloads (hash TEXT PRIMARY KEY, key_id TEXT NOT NULL, wrapped BLOB, body BLOB NOT NULL) STRICT, WITHOUT ROWID;
           CREATE TABLE resources (kind TEXT, state TEXT, updated_at TEXT)`)
  const insert = db.prepare('INSERT INTO payloads VALUES (?, ?, ?, ?)')
  let total = 0
  const add = (count: number) =>
    db.transaction(() => {
      for (let n = 0; n < count; n++) {
        const body = randomBytes(100 + (n % 200))
        insert.run(createHash('sha256').update(body).digest('hex'), 'k', null, body)
        total += 64 + 1 + body.length
      }
    })()
  add(500)
  expect((await diskUse(paths)).bytes.payloads).toBe(total)
  add(29_500)
  db.close()
  // Five standard deviations of such an estimate.
  expect(Math.abs((await diskUse(paths)).bytes.payloads / total - 1)).toBeLessThan(0.17)
})

test('those who ask at the same time share one measuring', async () => {
  const place = temporaryDirectory()
  cleanUp.push(() => place.remove())
  const paths = dataPaths(place.path)
  const measure = keptDiskUse(paths, 3_600_000)
  const first = measure()
  expect(measure()).toBe(first)
  expect((await first).bytes.temporary).toBe(0)
  mkdirSync(paths.temporary)
  writeFileSync(join(paths.temporary, 'upload'), 'xyz')
  expect((await measure()).bytes.temporary).toBe(0)
  expect((await keptDiskUse(paths, 0)()).bytes.temporary).toBe(3)
})

test('a blob is measured once, and files and models are read again only after one of them has changed', async () => {
  const place = temporaryDirectory()
  cleanUp.push(() => place.remove())
  const paths = dataPaths(place.path)
  mkdirSync(paths.blobs, { recursive: true })
  const db = new Database(paths.log)
  cleanUp.push(() => db.close())
  db.exec(`CREATE TABLE payloads (hash TEXT PRIMARY KEY, key_id TEXT NOT NULL, wrapped BLOB, body BLOB NOT NULL) STRICT, WITHOUT ROWID;
           CREATE TABLE resources (kind TEXT, state TEXT, updated_at TEXT)`)
  const [one, two] = ['a'.repeat(64), 'b'.repeat(64)]
  const stateOf = (content: string) => JSON.stringify({ content })
  const measure = keptDiskUse(paths, -1)
  db.prepare('INSERT INTO resources VALUES (?, ?, ?)').run('file', stateOf(one), '2026-01-01')
  writeFileSync(join(paths.blobs, one), 'xyz')
  expect((await measure()).bytes).toMatchObject({ files: 3, other_blobs: 0 })
  writeFileSync(join(paths.blobs, one), 'longer')
  db.prepare('UPDATE resources SET state = ?').run(stateOf(two))
  expect((await measure()).bytes).toMatchObject({ files: 3, other_blobs: 0 })
  writeFileSync(join(paths.blobs, two), 'wxyz')
  db.prepare('UPDATE resources SET updated_at = ?').run('2026-01-02')
  expect((await measure()).bytes).toMatchObject({ files: 4, other_blobs: 3 })
  rmSync(join(paths.blobs, one))
  expect((await measure()).bytes).toMatchObject({ files: 4, other_blobs: 0 })
  db.prepare('DELETE FROM resources').run()
  expect((await measure()).bytes).toMatchObject({ files: 0, other_blobs: 4 })
})

test('directories that come and go while they are listed take nothing else from the count', async () => {
  const place = temporaryDirectory()
  cleanUp.push(() => place.remove())
  const paths = dataPaths(place.path)
  mkdirSync(paths.temporary)
  writeFileSync(join(paths.temporary, 'spilled'), 'xyz')
  const uploads = Array.from({ length: 400 }, (_, n) => join(paths.temporary, `upload-${n}`))
  for (const upload of uploads) mkdirSync(upload)
  let isOver = false
  const churn = async () => {
    for (let n = 0; !isOver; n++) {
      const here = uploads.filter((_, i) => i % 20 === n % 20)
      for (const upload of here) rmdirSync(upload)
      await new Promise((resolve) => setImmediate(resolve))
      for (const upload of here) mkdirSync(upload)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const churning = churn()
  const counted: number[] = []
  for (let n = 0; n < 10; n++) counted.push((await diskUse(paths)).bytes.temporary)
  isOver = true
  await churning
  expect(counted).toEqual(Array(10).fill(3))
})

test('mindledger status tells the same beside a server and without one, and its exit status whether all is ready', async () => {
  const place = temporaryDirectory()
  cleanUp.push(() => place.remove())
  const environment = { DATA_DIR: place.path, PORT: String(await freePort()) }
  const status = () => mindledger(['status'], environment)
  const begin = async () => {
    const server = await spawnService(place.path, environment)
    const end = async () => {
      server.child.kill('SIGTERM')
      await server.ended
    }
    cleanUp.push(end)
    return { ...server, end }
  }
  expect(await status()).toMatchObject({ code: 2, err: expect.stringContaining('is not a data directory') })
  const server = await begin()
  expect((await sql(server.url, 'SELECT 1')).type).toBe('table')
  const beside = await status()
  expect(beside).toMatchObject({ code: 0, err: '' })
  expect(beside.out).toMatch(
    /^data +\/.*\nserver +running at http:.*\nlog +position 1, writable\nREST +ready\nSQL +position 1, at the head of the log, ready\ntables +following, never built anew\ndisk +/,
  )
  await server.end()
  const without = await status()
  expect(without).toMatchObject({ code: 0, err: '' })
  expect(without.out).toMatch(
    /^data +\/.*\nserver +none\nlog +position 1\ntables +position 1, at the head of the log, never built anew\ndisk +.* free\n {2}log +/,
  )
  appendUnfitEvent(dataPaths(place.path).log)
  const again = await begin()
  await until(async () => JSON.stringify((await send(again.url, 'GET', '/ready')).body).includes('cannot be projected'))
  const stopped = await status()
  expect(stopped.code).toBe(1)
  expect(stopped.out).toMatch(/SQL +position 1, 1 events behind the log, NOT READY: The event at position 2 cannot be projected/)
})
