import Database from 'better-sqlite3'
import { rmSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { SqlProcessStatus } from '../../../src/sql-process/sql-process.js'
import { limits } from '../../../src/basics/limits.js'
import { readiness } from '../../../src/observe/readiness.js'
import { Ledger } from '../../../src/commands/ledger.js'
import { dataPaths } from '../../../src/setup/data-directory.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { readVersion } from '../../../src/setup/version.js'
import { Vault } from '../../../src/vault/vault.js'
import { until } from '../../support/until.js'
import { projectCreated, testKey, writes } from '../../support/log/log.js'
import { restartable, send } from '../../support/service.js'
import { appendUnfitEvent } from '../../support/log/unfit-event.js'

let place: ReturnType<typeof restartable>
beforeEach(() => {
  place = restartable()
})
afterEach(() => place.remove())
const logFile = () => dataPaths(place.path).log
const skill = async (url: string, name: string) =>
  (await send(url, 'POST', '/api/projects/mindsdb/skills', { skill: { name, type: 'sql', params: {} } })).status
/** Waits until the service says something of itself. Bodies of several requests differ while the tables still follow. */
const said = (url: string, text: string) => until(async () => JSON.stringify((await send(url, 'GET', '/ready')).body).includes(text))
/** Waits until SQL is ready, and the tables have all events: on a busy machine one comes some time after the other. */
const following = async (url: string) => {
  await said(url, '"state":"following"')
  await said(url, '"lag":0')
}

/** Status and body of each way to ask, of a service that does not change meanwhile. */
const ready = async (url: string) => {
  const [all, rest, sql] = await Promise.all(['', '?for=rest', '?for=sql'].map((query) => send(url, 'GET', `/ready${query}`)))
  expect([rest?.body, sql?.body]).toEqual([all?.body, all?.body])
  return { statuses: [all, rest, sql].map((reply) => reply?.status), body: all?.body }
}

test('a service that is well is alive and ready for all, and says so without a login', async () => {
  const url = await place.start({ AUTH: 'session', AUTH_PASSWORD: 'x' })
  expect(await send(url, 'GET', '/api/health')).toMatchObject({
    status: 200,
    body: { status: 'ok', service: 'mindledger', version: readVersion() },
  })
  const { position } = await place.running()!.head()
  await following(url)
  expect(await ready(url)).toEqual({
    statuses: [200, 200, 200],
    body: {
      rest: { ready: true },
      sql: { ready: true, state: 'following', position, lag: 0, other_rows: 0 },
      reads: { ready: true },
      log: { position, writable: true },
    },
  })
  expect((await send(url, 'GET', '/ready?for=tea')).status).toBe(400)
  expect((await send(url, 'HEAD', '/ready')).status).toBe(200)
})

test('web pages under a name of their own learn nothing of a local service', async () => {
  const { port } = new URL(await place.start())
  for (const path of ['/health', '/ready', '/metrics']) {
    const status = await new Promise((resolve) => {
      request({ host: '127.0.0.1', port, path, headers: { host: 'evil.example' } }, (res) => resolve(res.resume().statusCode)).end()
    })
    expect([path, status]).toEqual([path, 421])
  }
})

test('a node that is far behind the others is not ready, and says so; READS=local goes on to read', async () => {
  const lag = { batches: limits.nodeLagMaxBatches, events: 7_000 }
  const at = (batches: number, readsLocally = false) =>
    readiness({
      log: {
        health: async () => ({ position: 5, queued: 0, unwritable: undefined, shared: { state: 'following', lag: { ...lag, batches } } }),
      },
      sqlProcess: {
        status: () => ({ state: 'following', stopped: undefined, position: 5, losses: { other_rows: 0 } }) as SqlProcessStatus,
      },
      ...{ warnings: () => [], readsLocally },
    })
  expect(await at(lag.batches)).toMatchObject({ rest: { ready: true }, reads: { ready: true } })
  const far = { ready: false, reason: 'this node is 1001 batches (7000 events) behind the others, and catches up (nodeLagMaxBatches)' }
  expect(await at(lag.batches + 1)).toMatchObject({ rest: far, reads: far, log: { writable: true } })
  expect(await at(lag.batches + 1, true)).toMatchObject({ rest: far, reads: { ready: true } })
})

test('a stopped projection is not ready for SQL, and says where; REST is', async () => {
  await place.start()
  await place.stop()
  const position = appendUnfitEvent(logFile())
  const url = await place.start()
  expect(await skill(url, 'one')).toBe(201)
  const reason = `The event at position ${position} cannot be projected: this release knows no events of type SkillExploded.`
  await said(url, 'projected')
  expect(await ready(url)).toEqual({
    statuses: [503, 200, 503],
    body: {
      rest: { ready: true },
      sql: { ready: false, reason, state: 'stopped', position: position - 1, lag: 2, other_rows: 0 },
      reads: { ready: true },
      log: { position: position + 1, writable: true },
      // The event was written for a time that is far ahead.
      warnings: [expect.stringContaining('ahead of the clock')],
    },
  })
  expect((await send(url, 'GET', '/health')).status).toBe(200)
  // Those that were there before say it as they did.
  expect(await send(url, 'GET', '/api/util/readiness')).toMatchObject({ status: 503, body: reason })
  expect(await send(url, 'GET', '/api/util/ping')).toMatchObject({ status: 200, body: { status: 'ok' } })
  expect(await send(url, 'GET', '/api/status')).toMatchObject({ body: { sql: { ready: false, reason } } })
})

test('a content that is missing is a warning, and REST and SQL stay ready', async () => {
  const before = await place.start()
  await send(before, 'PUT', '/api/files/lost', 'id\n1\n', { 'content-type': 'text/csv' })
  const { content } = (await send(before, 'GET', '/api/files/lost')).body as { content: string }
  await place.stop()
  rmSync(join(place.path, 'blobs', content))
  const url = await place.start()
  await following(url)
  await said(url, 'are missing')
  expect(await ready(url)).toMatchObject({
    statuses: [200, 200, 200],
    body: {
      ...{ rest: { ready: true }, sql: { ready: true, other_rows: 0 } },
      warnings: ['1 contents of files or models are missing in the data directory; "mindledger verify" names them'],
    },
  })
})

/**
 * A real failure of COMMIT: a deferred constraint that only the end of the transaction finds broken. The probe, which a busy machine may
 * come to make, fails by it as well.
 */
const poison = (on: boolean) => {
  const db = new Database(logFile())
  db.exec(
    on
      ? `CREATE TABLE absent (id INTEGER PRIMARY KEY);
         CREATE TABLE broken (id INTEGER REFERENCES absent DEFERRABLE INITIALLY DEFERRED);
         CREATE TRIGGER poison AFTER INSERT ON events BEGIN INSERT INTO broken VALUES (new.position); END;
         CREATE TRIGGER poison_probe AFTER INSERT ON meta BEGIN INSERT INTO broken VALUES (0); END`
      : `DROP TRIGGER poison; DROP TRIGGER poison_probe; DROP TABLE broken; DROP TABLE absent`,
  )
  db.close()
}

test('a log that could not be written is not ready for REST until a write succeeds; SQL is', async () => {
  const url = await place.start()
  await following(url)
  poison(true)
  expect(await skill(url, 'refused')).toBe(503)
  const { statuses, body } = await ready(url)
  expect(statuses).toEqual([503, 503, 200])
  expect(body).toMatchObject({
    rest: { ready: false, reason: expect.stringMatching(/^the log could not be written: /) },
    sql: { ready: true },
    log: { writable: false, position: 1 },
  })
  expect(JSON.stringify(body)).not.toContain(place.path)
  expect(String((await send(url, 'GET', '/metrics')).body)).toMatch(/^mindledger_log_writable 0$/m)
  poison(false)
  expect(await skill(url, 'taken')).toBe(201)
  expect((await send(url, 'GET', '/ready?for=rest')).status).toBe(200)
  await following(url)
  expect((await ready(url)).statuses).toEqual([200, 200, 200])
})

test('a full disk is seen, and found to have room again, without a command: by a probe', async () => {
  const pragmas: string[] = []
  const log = new SqliteLog({ file: logFile(), vault: new Vault(testKey), pragmas, probeIntervalMs: 0 })
  try {
    await log.submit(writes(projectCreated(1)))
    const db = new Database(logFile())
    pragmas.push(`max_page_count = ${String(db.pragma('page_count', { simple: true }))}`)
    db.close()
    // A failing commit makes the log open its file anew, with that limit.
    poison(true)
    await expect(log.submit(writes(projectCreated(2)))).rejects.toMatchObject({ code: 'storage_failed' })
    poison(false)
    const ledger = new Ledger(log, new Vault(testKey))
    const large = { project: 'project 1', skill: 'large', type: 'sql', params: { text: 'x'.repeat(500_000) } }
    const origin = { actor: 'test', source: 'rest', request: null, correlation: null, causation: null } as const
    await expect(ledger.execute({ type: 'CreateSkill', data: large }, origin)).rejects.toMatchObject({ code: 'storage_failed' })
    for (let n = 0; n < 3; n++)
      expect(await log.health()).toEqual({ position: 1, queued: 0, unwritable: 'the log could not be written: database or disk is full' })
    // A batch of nothing but refusals does not reach the disk, and proves nothing.
    await expect(ledger.execute({ type: 'CreateSkill', data: { ...large, project: 'nowhere' } }, origin)).rejects.toMatchObject({
      code: 'not_found',
    })
    expect((await log.health()).unwritable).toBeDefined()
    pragmas[0] = 'max_page_count = 1000000'
    await log.health() // Its probe fails, and has the file opened anew.
    expect(await log.health()).toEqual({ position: 1, queued: 0, unwritable: undefined })
    await log.submit(writes(projectCreated(3)))
    expect((await log.head()).position).toBe(2)
  } finally {
    await log.close()
  }
})
