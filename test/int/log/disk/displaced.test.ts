import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { commandHere } from '../../../support/command-here.js'
import { until } from '../../../support/until.js'
import { dataPaths } from '../../../../src/setup/data-directory.js'
import { verifyLog } from '../../../../src/log/verify/verify.js'
import { ConfigError } from '../../../../src/setup/config.js'
import { restartable, rowsNow, send, temporaryDirectory } from '../../../support/service.js'

let place: ReturnType<typeof restartable>
let outside: ReturnType<typeof temporaryDirectory>
let data = ''
beforeEach(() => {
  place = restartable()
  outside = temporaryDirectory()
  data = place.path
})
afterEach(async () => {
  await place.remove()
  outside.remove()
})

const start = (environment?: Record<string, string>) => place.start(environment)
const stop = () => place.stop()

const skills = '/api/projects/mindsdb/skills'
const create = (url: string, name: string) => send(url, 'POST', skills, { skill: { name, type: 'sql', params: {} } })
const createAll = async (url: string, ...names: string[]): Promise<void> => {
  for (const name of names) expect((await create(url, name)).status).toBe(201)
}
const names = async (url: string): Promise<string[]> =>
  ((await send(url, 'GET', skills)).body as { name: string }[]).map(({ name }) => name)

/** Writes are refused and told, reads go on. */
const expectRefused = async (url: string, cause: RegExp): Promise<void> => {
  expect(await create(url, 'refused')).toMatchObject({
    status: 503,
    body: { code: 'storage_failed', detail: expect.stringMatching(cause), hint: expect.stringContaining('Nothing more is written') },
  })
  expect(await send(url, 'GET', '/ready')).toMatchObject({
    status: 503,
    body: { rest: { ready: false, reason: expect.stringMatching(cause) }, log: { writable: false } },
  })
  expect((await send(url, 'GET', '/health')).status).toBe(200)
  expect(await names(url)).toEqual(['one', 'two'])
}

test('a write-ahead log that is deleted under the service ends writing at once, and a stop loses nothing', async () => {
  const url = await start()
  await createAll(url, 'one', 'two')
  const { log } = dataPaths(data)
  for (const suffix of ['-wal', '-shm']) rmSync(log + suffix)
  await expectRefused(url, /write-ahead log .* was deleted/)
  await stop()
  const again = await start()
  expect(await names(again)).toEqual(['one', 'two'])
  await createAll(again, 'three')
  await stop()
  expect((await verifyLog({ logFile: log })).findings).toEqual([])
})

test('a directory that is deleted under the service ends writing at once, and what was recorded can still be saved', async () => {
  const url = await start()
  await createAll(url, 'one', 'two')
  rmSync(data, { recursive: true })
  await expectRefused(url, /file of the log was deleted/)
  const lines = String((await send(url, 'GET', '/api/events', undefined, { accept: 'application/x-ndjson' })).body)
  expect(lines).toContain('"name":"two"')
  expect(existsSync(dataPaths(data).log)).toBe(false)
  await stop()
  expect(existsSync(dataPaths(data).log)).toBe(false)
})

test('another file in the place of the log is never written to', async () => {
  const url = await start()
  await createAll(url, 'one', 'two')
  const { log } = dataPaths(data)
  renameSync(log, `${log}.moved`)
  copyFileSync(`${log}.moved`, log)
  const before = readFileSync(log)
  await expectRefused(url, /moved or replaced/)
  expect(readFileSync(log).equals(before)).toBe(true)
  renameSync(`${log}.moved`, log)
  await createAll(url, 'back in its place')
  await stop()
})

/** What the service says instead of starting. */
const refusal = async (environment: Record<string, string> = {}): Promise<string> => {
  const started: unknown = await place.start(environment).catch((reason: unknown) => reason)
  if (started instanceof ConfigError) {
    expect(started.message).not.toContain('\n')
    return started.message
  }
  // Tables that take long to be opened are no reason to keep everybody waiting: then writes are refused as soon as it is known.
  if (typeof started !== 'string') throw started
  await until(async () => (await send(started, 'GET', '/ready?for=rest')).status === 503)
  const { status, body } = await create(started, 'refused')
  expect(status).toBe(503)
  await stop()
  return (body as { hint: string }).hint
}

/** Keeps a copy of the log, goes on, and puts the older one back. Other skills are written after it when there is a fork. */
const putOlderLogBack = async (environment: Record<string, string>, fork: readonly string[] = []): Promise<void> => {
  const { log } = dataPaths(data)
  const older = join(outside.path, 'older.sqlite')
  await createAll(await start(environment), 'one', 'two')
  await stop()
  copyFileSync(log, older)
  const url = await start(environment)
  await createAll(url, 'three', 'four')
  await until(async () => (await rowsNow(url, 'SELECT count(*) AS n FROM skills'))[0]?.[0] === 4)
  await stop()
  if (fork.length > 0) {
    const { tablesFile } = dataPaths(data)
    const newer = [tablesFile, `${tablesFile}.wal`].filter(existsSync)
    for (const file of newer) renameSync(file, `${file}.newer`)
    copyFileSync(older, log)
    await createAll(await start(), ...fork)
    await stop()
    for (const file of [tablesFile, `${tablesFile}.wal`]) rmSync(file, { force: true })
    for (const file of newer) renameSync(`${file}.newer`, file)
  } else copyFileSync(older, log)
}

test('an older log beside newer tables is not started on, and not written to, until the tables are deleted', async () => {
  await putOlderLogBack({})
  const { log, tablesFile } = dataPaths(data)
  const before = readFileSync(log)
  const said = await refusal()
  expect(said).toMatch(/older copy.*the tables stand at position 5, and the log ends at 3.*delete .*analytics\.duckdb/)
  expect(readFileSync(log).equals(before)).toBe(true)
  const status = await commandHere(['status'], { DATA_DIR: data })
  expect(status).toMatchObject({ code: 1, err: '' })
  expect(status.out).toMatch(/^tables +position 5, AHEAD: 2 events are missing in the log/m)
  rmSync(tablesFile)
  expect(await names(await start())).toEqual(['one', 'two'])
  await stop()
})

test('an older log beside a newer kept head is not started on, and its file gets no further head', async () => {
  const HEAD_FILE = join(outside.path, 'heads.txt')
  await putOlderLogBack({ HEAD_FILE })
  rmSync(dataPaths(data).tablesFile)
  const heads = readFileSync(HEAD_FILE, 'utf8')
  expect(await refusal({ HEAD_FILE })).toMatch(/heads\.txt .*position 5, and the log ends at 3.*set HEAD_FILE to a new one/)
  expect(readFileSync(HEAD_FILE, 'utf8')).toBe(heads)
  const url = await start({ HEAD_FILE: `${HEAD_FILE}.new` })
  expect(await names(url)).toEqual(['one', 'two'])
  await stop()
})

test('another history of the same length is told from the one that tables and kept heads know', async () => {
  const HEAD_FILE = join(outside.path, 'heads.txt')
  await putOlderLogBack({ HEAD_FILE }, ['drei', 'vier', 'fünf'])
  expect(await refusal()).toContain('the event at position 5 is not the last event that the tables followed')
  rmSync(dataPaths(data).tablesFile)
  expect(await refusal({ HEAD_FILE })).toContain('its head of position 5 is one of another history of this log')
})

test('what is left of a head that was cut off, and heads of other logs, keep nobody from starting', async () => {
  const HEAD_FILE = join(outside.path, 'heads.txt')
  await createAll(await start({ HEAD_FILE }), 'one')
  await stop()
  rmSync(data, { recursive: true })
  // The file now has heads of a log that is gone, the last one without its end.
  const torn = readFileSync(HEAD_FILE, 'utf8').slice(0, -20)
  writeFileSync(HEAD_FILE, torn)
  await start({ HEAD_FILE })
  await stop()
})
