import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { parseEnvelope } from '../../events/stored/envelope.js'
import { erasedPayloadsOf, payloadsOf } from '../../events/catalogue/references.js'
import { Blobs } from '../../src/files/blobs.js'
import { dataPaths } from '../../src/setup/data-directory.js'
import { openLogReader, type LogReader } from '../../src/log/sqlite/log-reader.js'
import { countOf } from '../support/counts.js'
import { trainRent } from '../support/models/rentals.js'
import { until } from '../support/until.js'
import { startLoad } from '../support/log/backup-load.js'
import { cliFile, mindledger } from '../support/cli.js'
import { send, spawnService, sql, temporaryDirectory, type SqlReply } from '../support/service.js'

const rounds = countOf('BACKUPS')
let place: ReturnType<typeof temporaryDirectory>
let data: string
beforeEach(() => {
  place = temporaryDirectory()
  data = join(place.path, 'data')
})
/** Services that a test which fails has left. */
const started: ChildProcess[] = []
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
  place.remove()
})

const start = async (directory: string): ReturnType<typeof spawnService> => {
  const service = await spawnService(directory)
  started.push(service.child)
  return service
}

/** An answer of SQL's, once the tables of a log that is new to the directory are built. */
const table = async (url: string, query: string): Promise<SqlReply> => {
  for (let waited = 0; ; waited += 100) {
    const answer = await sql(url, query)
    if (answer.type === 'table' || waited > 60_000) return answer
    await sleep(100)
  }
}

const at = (directory: string) => ({ DATA_DIR: directory, PORT: '0' })

const textsOf = (reader: LogReader, until: number): string[] => {
  const texts: string[] = []
  while (texts.length < until) texts.push(...reader.read(texts.length, until - texts.length).map(({ text }) => text))
  return texts
}

/** Whether a text or its bytes stand in any file below a directory. */
const standsIn = (directory: string, secret: string): boolean =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((file) => statSync(file).isFile())
    .some((file) => [Buffer.from(secret), Buffer.from(secret, 'hex')].some((bytes) => readFileSync(file).includes(bytes)))

const copyKeys = (to: string): void => {
  mkdirSync(to, { recursive: true })
  for (const name of ['vault.key', 'head.key']) cpSync(join(data, name), join(to, name))
}

/** The payloads that were erased after a position. */
const erasedAfter = (live: LogReader, position: number): Set<string> =>
  new Set(
    textsOf(live, live.head())
      .slice(position)
      .map(parseEnvelope)
      .flatMap(({ type, data: erased }) => erasedPayloadsOf(type, erased).map(({ hash }) => hash)),
  )

/** The events of a restored log equal those of the live one, and so does what they name, if it was not erased since. */
const expectSame = (restored: string, live: LogReader): void => {
  const reader = openLogReader(restored)
  const head = reader.head()
  const texts = textsOf(reader, head)
  expect(texts).toEqual(textsOf(live, head))
  const erased = erasedAfter(live, head)
  for (const { type, data: named } of texts.map(parseEnvelope))
    for (const hash of payloadsOf(type, named)) if (!erased.has(hash)) expect(reader.payload(hash)).toEqual(live.payload(hash))
  reader.close()
}

test('a backup under write load is the log at one position, and can be served', async () => {
  const { child, url, ended } = await start(data)
  await trainRent(url)
  let last: string | undefined
  for (let round = 0; round < rounds; round++) {
    const load = startLoad(url, `r${round}`)
    await until(() => load.uploads() > 0)
    const before = load.writes()
    const backup = join(place.path, `backup-${round}`)
    const taken = await mindledger(['backup', '--into', backup, ...(last === undefined ? [] : ['--like', last])], at(data))
    expect(taken).toMatchObject({ code: 0, err: '' })
    expect(load.writes()).toBeGreaterThan(before)
    // A slow machine may not have come to one yet: what was erased since is to be told apart below.
    await until(() => load.erasures() > 0)
    await load.stop()
    for (const key of ['vault.key', 'head.key']) expect(standsIn(backup, readFileSync(join(data, key), 'utf8').trim())).toBe(false)
    expect(readdirSync(backup).sort()).toEqual(['FORMAT', 'blobs', 'head', 'log.sqlite', 'manifest.json'])
    // Nothing changes a backup, not even by what it leaves beside its files.
    const keys = { VAULT_KEY: readFileSync(join(data, 'vault.key'), 'utf8').trim(), NEW_VAULT_KEY: 'ab'.repeat(32) }
    for (const command of ['serve', 'diff', 'rebuild', 'rotate-key'])
      expect(await mindledger([command], { ...at(backup), ...keys })).toMatchObject({
        code: 2,
        err: expect.stringContaining('is a backup'),
      })
    expect(readdirSync(backup).sort()).toEqual(['FORMAT', 'blobs', 'head', 'log.sqlite', 'manifest.json'])

    const restored = join(place.path, `restored-${round}`)
    const ran = await mindledger(['restore', backup, '--into', restored], at(data))
    expect(ran).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Bring the master key') })
    copyKeys(restored)
    const live = openLogReader(data)
    expectSame(restored, live)
    live.close()
    expect(await mindledger(['verify', '--head', join(backup, 'head')], at(restored))).toMatchObject({ code: 0 })
    const manifest = JSON.parse(readFileSync(join(backup, 'manifest.json'), 'utf8')) as { blobs: { sha256: string }[] }
    const blobs = new Blobs(dataPaths(restored).blobs)
    expect(await blobs.list()).toEqual(manifest.blobs.map(({ sha256 }) => sha256))

    const again = await start(restored)
    const counted = await table(again.url, 'SELECT count(*) AS n FROM skills')
    const listed = (await send(again.url, 'GET', '/api/projects/mindsdb/skills')).body as unknown[]
    expect(counted.data).toEqual([[listed.length]])
    again.child.kill('SIGTERM')
    expect(await again.ended).toEqual([0, null])
    rmSync(restored, { recursive: true })
    last = backup
  }
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})

const kept = temporaryDirectory()
afterAll(() => kept.remove())

/** A data directory that a load has written to, and that nobody serves. It is made once. */
const written = async (): Promise<void> => {
  const made = join(kept.path, 'data')
  if (!existsSync(made)) {
    const { child, url, ended } = await start(made)
    const load = startLoad(url, 'k')
    await until(() => load.uploads() > 1)
    await load.stop()
    child.kill('SIGTERM')
    await ended
  }
  cpSync(made, data, { recursive: true })
}

/** When a path last changed, in nanoseconds; undefined if it is not there. */
const changedAt = (path: string): bigint | undefined => statSync(path, { bigint: true, throwIfNoEntry: false })?.ctimeNs

/** Runs a command and kills it soon after its work is there, which may also be that of a killed command before. */
const killedAtWork = async (args: readonly string[], directory: string, work: string): Promise<number | null> => {
  const before = changedAt(work)
  const child = spawn(process.execPath, [cliFile, ...args], { env: { ...process.env, ...at(directory) }, stdio: 'ignore' })
  const ended = once(child, 'exit') as Promise<[number | null]>
  const hasBegun = () => ![undefined, before].includes(changedAt(work))
  while (child.exitCode === null && !hasBegun()) await sleep(1)
  await sleep(Math.random() * 30)
  child.kill('SIGKILL')
  return (await ended)[0]
}

test('what a killed backup or restore leaves passes for no whole one, and neither is in the way of the next', async () => {
  await written()
  const [backup, restored] = [join(place.path, 'backup'), join(place.path, 'restored')]
  let cut = { backups: 0, restores: 0 }
  // A kill may come too late.
  for (let round = 0; round < rounds * 2 || cut.backups === 0; round++) {
    const code = await killedAtWork(['backup', '--into', backup], data, `${backup}.part`)
    if (code !== 0) cut = { ...cut, backups: cut.backups + 1 }
    expect(existsSync(backup)).toBe(existsSync(join(backup, 'manifest.json')))
    if (!existsSync(backup))
      expect(await mindledger(['restore', backup, '--into', restored], at(data))).toMatchObject({
        code: 2,
        err: expect.stringContaining('is not a backup'),
      })
    rmSync(backup, { recursive: true, force: true })
  }
  expect(await mindledger(['backup', '--into', backup], at(data))).toMatchObject({ code: 0 })
  expect(existsSync(`${backup}.part`)).toBe(false)
  expect(await mindledger(['backup', '--into', backup], at(data))).toMatchObject({
    code: 2,
    err: expect.stringContaining('exists already'),
  })

  copyKeys(restored)
  for (let round = 0; round < rounds * 2; round++) {
    const code = await killedAtWork(['restore', backup, '--into', restored], data, join(restored, 'restore.part'))
    const isWhole = existsSync(join(restored, 'FORMAT')) && !existsSync(join(restored, 'restore.part'))
    if (code !== 0 && !isWhole) cut = { ...cut, restores: cut.restores + 1 }
    const verified = await mindledger(['verify'], at(restored))
    expect(verified.code).toBe(isWhole ? 0 : 2)
    if (isWhole) for (const name of ['FORMAT', 'log.sqlite', 'blobs']) rmSync(join(restored, name), { recursive: true })
  }
  expect(await mindledger(['restore', backup, '--into', restored], at(data))).toMatchObject({ code: 0, err: '' })
  expect(await mindledger(['restore', backup, '--into', restored], at(data))).toMatchObject({
    code: 2,
    err: expect.stringContaining('holds a log already'),
  })
  const live = openLogReader(data)
  expectSame(restored, live)
  live.close()
  expect(cut.backups + cut.restores).toBeGreaterThan(0)
})

test('a backup that was changed is refused, whatever was changed in it', async () => {
  await written()
  const backup = join(place.path, 'backup')
  expect(await mindledger(['backup', '--into', backup], at(data))).toMatchObject({ code: 0 })
  const [blob = ''] = readdirSync(join(backup, 'blobs'))
  const changes: Record<string, (copy: string) => void> = {
    blob: (copy) => writeFileSync(join(copy, 'blobs', blob), 'other'),
    'lost blob': (copy) => rmSync(join(copy, 'blobs', blob)),
    log: (copy) => {
      const db = new Database(join(copy, 'log.sqlite'))
      db.exec('PRAGMA user_version = 7')
      db.close()
    },
    head: (copy) => writeFileSync(join(copy, 'head'), 'no head'),
    manifest: (copy) => writeFileSync(join(copy, 'manifest.json'), '{"mindledger_backup":1}'),
  }
  for (const [name, change] of Object.entries(changes)) {
    const copy = join(place.path, `copy of ${name}`)
    cpSync(backup, copy, { recursive: true })
    change(copy)
    const into = join(place.path, `from ${name}`)
    expect({ name, ...(await mindledger(['restore', copy, '--into', into], at(data))) }).toMatchObject({ name, code: 2 })
    expect([existsSync(join(into, 'FORMAT')), existsSync(join(into, 'restore.part'))]).toEqual([false, false])
  }
})
