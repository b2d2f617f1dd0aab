import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dataPaths } from '../../../src/setup/data-directory.js'
import { SqlProcess } from '../../../src/sql-process/sql-process.js'
import { whereConfined, whereWritesEnd } from '../../support/confined.js'
import { serveReady, type Ready } from '../../support/observe/ready.js'
import { Bench, skill } from '../../support/sql-process/bench.js'

const outside = mkdtempSync(join(tmpdir(), 'outside-'))
let bench: Bench
let blobs: string
beforeAll(async () => {
  bench = await Bench.open({}, ({ directory }) => {
    const { vaultKey, headKey } = dataPaths(directory)
    blobs = join(directory, 'blobs')
    mkdirSync(blobs, { recursive: true })
    writeFileSync(join(blobs, 'rows'), 'what an event names')
    for (const file of [vaultKey, headKey, join(outside, 'file')]) writeFileSync(file, 'as it was')
  })
})
afterAll(async () => {
  await bench.close()
  rmSync(outside, { recursive: true })
})

whereWritesEnd('a statement that escaped every check cannot write a blob, nor beside it', async () => {
  const statements = [
    `COPY (SELECT 666 AS x) TO '${blobs}/rows' (FORMAT parquet)`,
    `COPY (SELECT 666 AS x) TO '${blobs}/new.csv'`,
    `ATTACH '${blobs}/new.duckdb' AS fresh`,
  ]
  for (const sql of statements) expect((await bench.refusal(sql)).detail).toMatch(/permission denied/i)
  expect(readdirSync(blobs)).toEqual(['rows'])
  expect(readFileSync(join(blobs, 'rows'), 'utf8')).toBe('what an event names')
})

whereConfined('one that escaped DuckDB as well cannot change the log, a key or a file outside', async () => {
  bench.log.append(skill(9))
  const { log, vaultKey, headKey } = dataPaths(bench.directory)
  const files = [log, `${log}-wal`, vaultKey, headKey, join(blobs, 'rows'), join(outside, 'file')]
  const bytes = () => files.map((file) => readFileSync(file, 'latin1'))
  const before = bytes()
  for (const file of files) {
    await bench.refusal(`COPY (SELECT 666 AS x) TO '${file}'`)
    for (const what of ['write', 'remove']) expect((await bench.refusal(`test: ${what} ${file}`)).detail).toMatch(/EACCES/)
  }
  for (const folder of [bench.directory, outside])
    expect((await bench.refusal(`test: write ${join(folder, 'new')}`)).detail).toMatch(/EACCES/)
  expect(bytes()).toEqual(before)
  expect(readdirSync(outside)).toEqual(['file'])
})

whereConfined('it can open no TCP connection', async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expect((await bench.refusal(`test: connect ${port}`)).detail).toMatch(/EACCES/)
  } finally {
    server.close()
  }
})

whereWritesEnd('it can write where tables are made, and spill', async () => {
  const made = join(bench.directory, 'tmp/tables/made.csv')
  await bench.ask(`COPY (SELECT 42 AS x) TO '${made}'`)
  expect(readFileSync(made, 'utf8')).toBe('x\n42\n')
})

test('it reads the log that it may not write, while that grows', async () => {
  for (const n of [1, 2, 3]) {
    bench.log.append(skill(n))
    expect(await bench.ask('SELECT count(*)::INTEGER FROM ledger.events')).toEqual([[bench.log.log.head()]])
  }
})

/** What `GET /ready` answers of an SQL process. */
const readyOf = async (sqlProcess: SqlProcess): Promise<Ready> => {
  const { ready, stop } = await serveReady({ sqlProcess })
  try {
    return await ready()
  } finally {
    await stop()
  }
}

whereConfined('a process that gave up its rights is no warning', async () => {
  expect((await readyOf(bench.sqlProcess)).body).not.toHaveProperty('warnings')
})

/** A stand-in for a process where Landlock is missing: it says what such a process says, and answers no query. */
const unconfined = `
  process.on('message', ({ kind }) => {
    if (kind !== 'settings') return process.send({ kind: 'alive' })
    process.send({ kind: 'opened', rebuilds: { count: 0, last: null }, confinement: 'this kernel has no Landlock' })
    process.send({ kind: 'ready' })
  })
  process.on('disconnect', () => process.exit())`

test('a process that could not give up its rights is a warning, and SQL stays ready', async () => {
  const entry = join(outside, 'unconfined.cjs')
  writeFileSync(entry, unconfined)
  const sqlProcess = await SqlProcess.start({ dataDirectory: join(outside, 'data'), entry, limits: { startWaitMs: 20 * 60_000 } })
  try {
    const warnings = ['the process that answers SQL keeps rights that it should have given up: see the log of the service']
    expect(await readyOf(sqlProcess)).toMatchObject({ status: 200, body: { sql: { ready: true }, warnings } })
  } finally {
    await sqlProcess.stop()
  }
})
