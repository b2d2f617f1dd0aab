import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { headSigner } from '../../../src/audit/head-key.js'
import { limits } from '../../../src/basics/limits.js'
import { Ledger } from '../../../src/commands/ledger.js'
import { SharedLogSession } from '../../../src/log/shared/postgres/shared-log-session.js'
import { Sequencer } from '../../../src/log/shared/sequencer.js'
import { SharedLog } from '../../../src/log/shared/shared-log.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { toDirectory } from '../../../src/migration/to-directory.js'
import { dataPaths, prepareDataDirectory } from '../../../src/setup/data-directory.js'
import { masterKeys } from '../../../src/vault/key-files.js'
import { Vault } from '../../../src/vault/vault.js'
import { cliFile, mindledger } from '../../support/cli.js'
import { startS3 } from '../../support/files/s3-server.js'
import { startCutProxy } from '../../support/log/cut-proxy.js'
import { logServer } from '../../support/log/each-log.js'
import { origin, stream, tamperWith, temporaryDirectory, writes } from '../../support/log/log.js'
import { newest, rowsIn, runSql } from '../../support/log/nodes.js'
import { send, spawnUntil } from '../../support/service.js'
import { until, whenReached } from '../../support/until.js'

const golden = fileURLToPath(new URL('../../../../test/golden/format-1', import.meta.url))
const { server } = logServer()
let place: ReturnType<typeof temporaryDirectory>
const undo: (() => unknown)[] = []
beforeEach(() => {
  place = temporaryDirectory()
})
afterEach(async () => {
  for (const step of undo.splice(0)) await step()
  place.remove()
})

const migrate = (directory: string, args: readonly string[], env: Record<string, string> = {}) =>
  mindledger(['migrate', ...args], { DATA_DIR: directory, ...env })

/** The keys of a log are brought by whoever runs it. */
const bringKeys = (from: string, to: string): void => {
  mkdirSync(to)
  for (const key of ['vault.key', 'head.key']) if (existsSync(join(from, key))) copyFileSync(join(from, key), join(to, key))
}

const openDirectory = (directory: string): SqliteLog => {
  const paths = prepareDataDirectory(directory)
  return new SqliteLog({ file: paths.log, vault: new Vault(...masterKeys(paths, [])) })
}

/** A directory of an earlier release, which this one has opened, and signs the heads of. */
const copyOfGolden = async (name: string): Promise<string> => {
  const directory = join(place.path, name)
  cpSync(golden, directory, { recursive: true })
  const log = openDirectory(directory)
  await headSigner(dataPaths(directory), undefined, log)
  await log.close()
  return directory
}

/** All that a directory says of its log, and the names of its blobs. */
const contentsOf = async (directory: string) => {
  const db = new Database(join(directory, 'log.sqlite'), { readonly: true })
  try {
    return {
      exported: (await mindledger(['export'], { DATA_DIR: directory })).out,
      rows: [
        ...db.prepare('SELECT position, text, hex(chain) FROM events ORDER BY position').raw().all(),
        ...db.prepare('SELECT hash, key_id, hex(wrapped), hex(body), replaced_by FROM payloads ORDER BY hash').raw().all(),
        ...db.prepare('SELECT * FROM answers ORDER BY actor, key').raw().all(),
        ...db.prepare('SELECT stream, kind, project, name, id, version, state FROM resources ORDER BY stream').raw().all(),
        ...db.prepare(`SELECT * FROM meta WHERE key NOT IN ('shared_seq', 'shared_batch') ORDER BY key`).raw().all(),
      ],
      blobs: readdirSync(join(directory, 'blobs'))
        .filter((name) => !name.includes('.'))
        .sort(),
    }
  } finally {
    db.close()
  }
}

test.each(['postgres', 's3'])('a log that goes to PostgreSQL, with blobs in %s, and back is the same to the byte', async (kind) => {
  const s3 = kind === 's3' ? await startS3() : undefined
  const env: Record<string, string> = s3
    ? {
        BLOBS_URL: `s3://ledger/moved?endpoint=${s3.address.endpoint?.href ?? ''}&region=${s3.address.region}`,
        AWS_ACCESS_KEY_ID: s3.address.keys.accessKeyId,
        AWS_SECRET_ACCESS_KEY: s3.address.keys.secretAccessKey,
      }
    : {}
  try {
    const [there, back] = [await copyOfGolden('there'), join(place.path, 'back')]
    const heads = join(place.path, 'heads')
    writeFileSync(heads, (await mindledger(['head'], { DATA_DIR: there })).out)
    const before = await contentsOf(there)
    expect(before.exported.split('\n').length).toBeGreaterThan(50)
    const url = await server().newUrl()

    const moved = await migrate(there, ['--to', url], env)
    expect(moved).toMatchObject({ code: 0, err: '' })
    expect(moved.out).toMatch(/^PostgreSQL has the log up to position \d+, and \d+ blobs\n$/)
    const again = await migrate(there, ['--to', url], env)
    expect(again.code).toBe(2)
    expect(again.err).toContain('PostgreSQL has a log already')

    bringKeys(there, back)
    expect(await migrate(there, ['--from', url, '--to', back], env)).toMatchObject({ code: 0, err: '' })
    expect(await contentsOf(back)).toEqual(before)
    const verified = await mindledger(['verify', '--head', heads], { DATA_DIR: back })
    expect(verified).toMatchObject({ code: 0, err: '' })
    // It has a log of its own now.
    const once = await migrate(there, ['--from', url, '--to', back], env)
    expect(once).toMatchObject({ code: 2, err: expect.stringContaining('a log of its own') })
  } finally {
    await s3?.stop()
  }
})

test('the directory that was moved is that of a node, and another node joins', async () => {
  const [there, other] = [join(place.path, 'there'), join(place.path, 'other')]
  // As an earlier release left it.
  cpSync(golden, there, { recursive: true })
  const url = await server().newUrl()
  expect((await migrate(there, ['--to', url])).code).toBe(0)
  bringKeys(there, other)
  const asNode = async (directory: string) => {
    const paths = prepareDataDirectory(directory)
    const vault = new Vault(...masterKeys(paths, []))
    return { vault, log: await whenReached(() => SharedLog.open({ url, file: paths.log, vault, writePatienceMs: 120_000 })) }
  }
  const [a, b] = [await asNode(there), await asNode(other)]
  try {
    expect(await b.log.head()).toEqual(await a.log.head())
    await new Ledger(a.log, a.vault).execute({ type: 'CreateProject', data: { project: 'after_the_move' } }, origin)
    await newest(b.log)
    expect(await b.log.head()).toEqual(await a.log.head())
    expect(await b.log.resources.one('project', 'after_the_move')).toBeDefined()
  } finally {
    await a.log.close()
    await b.log.close()
  }
})

const bytesIn = (rows: readonly Record<string, unknown>[]): number =>
  rows.flatMap((row) => Object.values(row)).reduce<number>((sum, value) => sum + (Buffer.isBuffer(value) ? value.length : 0), 0)

test.each([
  ['each have a batch', 'SELECT 1', limits.sharedDeltaMaxBytes],
  [
    'share a batch, as an earlier release sent them',
    'UPDATE mindledger.batches SET (position, chain) = (SELECT position, chain FROM mindledger.head) WHERE position > 0',
    Infinity,
  ],
])('after a rotation a node joins a moved log in bounded steps, also if events with large payloads %s', async (_, merge, partMaxBytes) => {
  const there = join(place.path, 'there')
  const paths = prepareDataDirectory(there)
  const vault = new Vault(...masterKeys(paths, []))
  const own = new SqliteLog({ file: paths.log, vault })
  const bytes = 3 * 1024 * 1024
  const hashes: string[] = []
  for (let n = 1; n <= 7; n++) {
    const sealed = vault.seal(randomBytes(bytes))
    const data = { project: stream(100), name: `s${n}`, type: 'sql', params: { key: { $secret: sealed.hash } } }
    await own.submit({ ...writes({ stream: stream(n), event: { type: 'SkillCreated', data } }), payloads: [sealed] })
    hashes.push(sealed.hash)
  }
  await own.close()
  const url = await server().newUrl()
  expect(await migrate(there, ['--to', url])).toMatchObject({ code: 0, err: '' })
  expect(await rowsIn(url, 'SELECT DISTINCT position FROM mindledger.batches WHERE position > 0')).toHaveLength(hashes.length)
  await runSql(
    url,
    `${merge}; UPDATE mindledger.head SET seq = seq + 1;
     INSERT INTO mindledger.batches SELECT seq, gen_random_uuid(), position, chain, ${2 * limits.sharedDeltaMaxBytes} FROM mindledger.head;
     UPDATE mindledger.payloads SET seq = (SELECT seq FROM mindledger.head)`,
  )

  const [fetched, parts]: [number[], number[]] = [[], []]
  const { prototype } = SharedLogSession
  const query = Reflect.get(prototype, 'query')
  const asking = jest.spyOn(prototype, 'query').mockImplementation(async function (this: SharedLogSession, text, values, name) {
    const answer = await query.call(this, text, values, name)
    if (name === 'rewritten') fetched.push(bytesIn(answer.rows))
    return answer
  })
  const after = Reflect.get(Sequencer.prototype, 'after')
  const following = jest.spyOn(Sequencer.prototype, 'after').mockImplementation(async function (this: Sequencer, from) {
    const delta = await after.call(this, from)
    parts.push(bytesIn(delta.rows.payloads))
    return delta
  })
  try {
    const joined = await whenReached(() => SharedLog.open({ url, file: join(place.path, 'joined.sqlite'), vault }))
    for (const hash of hashes) expect((await joined.payload(hash))?.length).toBe(bytes)
    await joined.close()
  } finally {
    asking.mockRestore()
    following.mockRestore()
  }
  expect(Math.max(...fetched)).toBeLessThanOrEqual(limits.sharedDeltaMaxBytes)
  expect(fetched.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(hashes.length * bytes)
  // The last part is the batch of the rotation, which wrote all of them.
  expect(Math.max(...parts.slice(0, -1))).toBeLessThanOrEqual(partMaxBytes)
})

test('a move that is killed goes on where it was, and nobody opens the log before it is whole', async () => {
  const there = join(place.path, 'there')
  const paths = prepareDataDirectory(there)
  const vault = new Vault(...masterKeys(paths, []))
  const log = new SqliteLog({ file: paths.log, vault })
  const ledger = new Ledger(log, vault)
  await ledger.execute({ type: 'CreateProject', data: { project: 'shop' } }, origin)
  const params = { note: 'x'.repeat(1_000), api_key: 'a secret' }
  for (let n = 0; n < 6_000; n += 500)
    await Promise.all(
      Array.from({ length: 500 }, (_, i) =>
        ledger.execute({ type: 'CreateSkill', data: { project: 'shop', skill: `s${n + i}`, type: 'sql', params } }, origin),
      ),
    )
  await log.close()
  const before = await contentsOf(there)
  /** Kills the move of a copy in the middle. A kill may come too late: then another copy is moved. */
  const cutOff = async (n = 0): Promise<{ moving: string; url: string }> => {
    const [moving, url] = [join(place.path, `moving-${n}`), await server().newUrl()]
    cpSync(there, moving, { recursive: true })
    const child = spawn(process.execPath, [cliFile, 'migrate', '--to', url, '--quiet'], {
      env: { ...process.env, DATA_DIR: moving },
      stdio: 'ignore',
    })
    const ended = once(child, 'exit')
    const count = async () => {
      const [tables] = await rowsIn<{ there: boolean }>(url, `SELECT to_regclass('mindledger.events') IS NOT NULL AS there`)
      if (tables?.there !== true) return 0
      return Number((await rowsIn<{ n: string }>(url, 'SELECT count(*) AS n FROM mindledger.events'))[0]?.n)
    }
    await until(async () => (await count()) > 0)
    child.kill('SIGKILL')
    await ended
    return (await count()) < 6_001 ? { moving, url } : cutOff(n + 1)
  }
  const { moving, url } = await cutOff()
  const elsewhere = join(place.path, 'elsewhere.sqlite')
  await expect(SharedLog.open({ url, file: elsewhere, vault })).rejects.toThrow('the shared log has the format 0')
  expect(await migrate(moving, ['--to', url])).toMatchObject({ code: 0 })
  const back = join(place.path, 'back')
  mkdirSync(back)
  copyFileSync(join(there, 'vault.key'), join(back, 'vault.key'))
  expect(await migrate(moving, ['--from', url, '--to', back])).toMatchObject({ code: 0 })
  expect(await contentsOf(back)).toEqual(before)
})

test('a move into a directory that is killed between its contents goes on where it was', async () => {
  const [there, back] = [await copyOfGolden('there'), join(place.path, 'back')]
  const before = await contentsOf(there)
  const url = await server().newUrl()
  expect((await migrate(there, ['--to', url])).code).toBe(0)
  bringKeys(there, back)
  const proxy = await startCutProxy(server().postgres.port)
  try {
    const asked = proxy.holdAt(before.blobs[3] ?? '')
    const through = url.replace(/:\d+\//, `:${proxy.port}/`)
    const child = spawn(process.execPath, [cliFile, 'migrate', '--from', through, '--to', back, '--quiet'], {
      env: { ...process.env, DATA_DIR: there },
      stdio: 'ignore',
    })
    const ended = once(child, 'exit')
    await Promise.race([asked, ended])
    child.kill('SIGKILL')
    await ended
    expect(child.signalCode).toBe('SIGKILL')
  } finally {
    await proxy.stop()
  }
  // What is there is the copy of a node still, which nobody serves without the others.
  const alone = await mindledger(['serve'], { DATA_DIR: back, PORT: '0' })
  expect(alone).toMatchObject({ code: 2, err: expect.stringContaining('a copy of a log that nodes share') })
  expect(readdirSync(join(back, 'blobs'))).not.toEqual(expect.arrayContaining(before.blobs))
  expect(await migrate(there, ['--from', url, '--to', back])).toMatchObject({ code: 0, err: '' })
  expect(await contentsOf(back)).toEqual(before)
})

test('a damaged event, a missing blob, and another log are told', async () => {
  const there = await copyOfGolden('there')
  const [blob = ''] = readdirSync(join(there, 'blobs'))
  rmSync(join(there, 'blobs', blob))
  const url = await server().newUrl()
  const moved = await migrate(there, ['--to', url])
  expect(moved).toMatchObject({ code: 1 })
  expect(moved.out).toContain(`blob ${blob} is missing`)

  const damaged = await copyOfGolden('damaged')
  const db = new Database(join(damaged, 'log.sqlite'))
  db.exec(
    `DROP TRIGGER events_stay_as_they_are; UPDATE events SET text = replace(text, 'tester', 'TESTER'), chain = zeroblob(32) WHERE position = 3`,
  )
  db.close()
  expect(await migrate(damaged, ['--to', await server().newUrl()])).toMatchObject({
    code: 2,
    err: expect.stringContaining('the log is damaged at position 3'),
  })

  const another = join(place.path, 'another')
  await openDirectory(another).close()
  expect((await migrate(another, ['--to', url])).err).toContain('PostgreSQL has a log already')
  expect((await migrate(there, ['--to', join(place.path, 'x')])).err).toContain('migrate takes --to postgres://')
  expect(readFileSync(join(there, 'FORMAT'), 'utf8')).toBe('1\n')
})

test('a content that the disk of a node has spoiled is fetched again when its directory takes the log back', async () => {
  const there = await copyOfGolden('there')
  const url = await server().newUrl()
  expect((await migrate(there, ['--to', url])).code).toBe(0)
  const blobs = join(there, 'blobs')
  const file = join(
    blobs,
    readdirSync(blobs).find((name) => /^[0-9a-f]{64}$/.test(name))!,
  )
  const whole = readFileSync(file)
  writeFileSync(file, Buffer.alloc(whole.length))
  expect(await migrate(there, ['--from', url, '--to', there])).toMatchObject({ code: 0, err: '' })
  expect(readFileSync(file).equals(whole)).toBe(true)
})

test('a content that the disk has spoiled is named like a missing one, and the others are moved', async () => {
  const there = await copyOfGolden('there')
  const [spoiled = '', ...others] = (await contentsOf(there)).blobs
  writeFileSync(join(there, 'blobs', spoiled), 'rotten')
  const url = await server().newUrl()
  const { code, out, err } = await migrate(there, ['--to', url])
  expect([code, err]).toEqual([1, ''])
  expect(out).toContain(`blob ${spoiled} is missing or damaged here, and was not moved`)
  const back = join(place.path, 'back')
  bringKeys(there, back)
  expect((await migrate(there, ['--from', url, '--to', back])).code).toBe(1)
  expect((await contentsOf(back)).blobs).toEqual(others)
})

test('a refusal of PostgreSQL is told in one line', async () => {
  const there = await copyOfGolden('there')
  const url = new URL(await server().newUrl())
  await server().inDatabase(url.href, `CREATE ROLE outsider LOGIN PASSWORD 'p'`)
  ;[url.username, url.password] = ['outsider', 'p']
  const { code, err } = await migrate(there, ['--to', url.href])
  expect([code, err]).toEqual([2, expect.stringMatching(/^mindledger: PostgreSQL refuses: permission denied [^\n]*\n$/)])
})

test('a directory is made from a log that has ended alone, and no node opens this log again', async () => {
  const there = await copyOfGolden('there')
  const [empty, url] = [await server().newUrl(), await server().newUrl()]
  const back = join(place.path, 'back')
  bringKeys(there, back)

  const wrong = await migrate(there, ['--from', empty, '--to', back])
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('this database has no log') })
  expect(await rowsIn(empty, `SELECT FROM pg_namespace WHERE nspname = 'mindledger'`)).toEqual([])

  expect((await migrate(there, ['--to', url])).code).toBe(0)
  const paths = dataPaths(there)
  const open = () => whenReached(() => SharedLog.open({ url, file: paths.log, vault: new Vault(...masterKeys(paths, [])) }))
  const node = await open()
  const served = await migrate(there, ['--from', url, '--to', back])
  expect(served).toMatchObject({ code: 2, err: expect.stringContaining(`nodes serve this log: ${node.nodes.id}. End them`) })
  const copy = join(place.path, 'copy')
  bringKeys(there, copy)
  expect(await migrate(there, ['--from', url, '--to', copy, '--copy'])).toMatchObject({ code: 0, err: '' })
  const { position } = await node.head()
  await node.close()
  await (await open()).close()

  expect(await migrate(there, ['--from', url, '--to', back])).toMatchObject({ code: 0, err: '' })
  await expect(open()).rejects.toThrow('this log was moved to a data directory')
  const moved = openDirectory(back)
  expect((await moved.head()).position).toBe(position)
  await moved.close()
})

test('a copy of a log whose nodes go on is not made from a part of it, whose payloads are as later batches left them', async () => {
  const [there, back] = [await copyOfGolden('there'), join(place.path, 'back')]
  const url = await server().newUrl()
  expect((await migrate(there, ['--to', url])).code).toBe(0)
  const close = Reflect.get(SharedLog.prototype, 'close')
  const closing = jest.spyOn(SharedLog.prototype, 'close').mockImplementation(async function (this: SharedLog) {
    await close.call(this)
    // As if the last part that it followed were not the newest one.
    tamperWith(join(back, 'log.sqlite'), (db) =>
      db.exec(`UPDATE meta SET value = CAST(value + 1 AS TEXT) WHERE key = 'shared_newest';
        UPDATE payloads SET wrapped = NULL, body = x'' WHERE id = (SELECT min(id) FROM payloads WHERE wrapped IS NOT NULL)`),
    )
  })
  const vault = new Vault(...masterKeys(dataPaths(there), []))
  const asked = { from: { url, s3: undefined }, paths: prepareDataDirectory(back), vault, copy: true, onProgress: () => undefined }
  try {
    await expect(toDirectory(asked)).rejects.toThrow('nodes wrote to the log while it was copied: run it again')
  } finally {
    closing.mockRestore()
  }
})

test('a node that was cut off while its log moved to a directory writes nothing to PostgreSQL', async () => {
  const there = await copyOfGolden('there')
  const url = await server().newUrl()
  const back = join(place.path, 'back')
  bringKeys(there, back)
  expect((await migrate(there, ['--to', url])).code).toBe(0)
  const [VAULT_KEY = '', HEAD_KEY = ''] = ['vault.key', 'head.key'].map((key) => readFileSync(join(there, key), 'utf8').trim())
  const node = await spawnUntil(undo, there, { LOG_URL: url, VAULT_KEY, HEAD_KEY })
  node.child.kill('SIGSTOP')
  // PostgreSQL has not heard of it for long.
  await server().inDatabase(url, `UPDATE mindledger.nodes SET seen_at = seen_at - interval '1 hour'`)
  expect(await migrate(there, ['--from', url, '--to', back])).toMatchObject({ code: 0, err: '' })
  const ended = await rowsIn(url, 'SELECT seq, position FROM mindledger.head')

  node.child.kill('SIGCONT')
  expect((await send(node.url, 'GET', '/api/projects/mindsdb')).status).toBe(503)
  const late = () => send(node.url, 'POST', '/api/projects', { project: { name: 'late' } })
  let refused = await late()
  // While PostgreSQL is slow, that is the reason.
  await until(async () => JSON.stringify((refused = await late()).body).includes('moved'))
  const { status, body } = refused
  expect([status, body]).toEqual([503, expect.objectContaining({ detail: expect.stringContaining('moved to a data directory') })])
  expect((await send(node.url, 'GET', '/ready')).status).toBe(503)
  expect(await rowsIn(url, 'SELECT seq, position FROM mindledger.head')).toEqual(ended)
})
