import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import { Ledger } from '../../../src/commands/ledger.js'
import { prepareDataDirectory } from '../../../src/setup/data-directory.js'
import type { Origin } from '../../../src/log/contract/log.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { masterKeys } from '../../../src/vault/key-files.js'
import { Vault } from '../../../src/vault/vault.js'
import { cliFile, mindledger, mindledgerWithoutRights } from '../../support/cli.js'
import { countOf } from '../../support/counts.js'
import { childrenRunning, isRunning, memoryOf, processTree, signalTo } from '../../support/processes.js'
import { until } from '../../support/until.js'
import { send, spawnService, sql, temporaryDirectory, type SqlReply } from '../../support/service.js'

// START_EVENTS=100000 measures a start on a long log; a shorter one shows the same rule.
const startEvents = countOf('START_EVENTS')
const report = (text: string) => {
  if (process.env['START_EVENTS'] !== undefined) console.log(text)
}
// Two seconds on an idle machine; the tests share theirs with others.
const startMaxMs = 60_000
const memoryMaxMebibytes = 350

let place: ReturnType<typeof temporaryDirectory>
let children: ChildProcess[] = []

beforeEach(() => {
  place = temporaryDirectory()
})
afterEach(async () => {
  for (const child of children) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  }
  children = []
  place.remove()
})

const start = async (directory = place.path, environment: Record<string, string> = {}) => {
  const service = await spawnService(directory, environment)
  children.push(service.child)
  return { ...service, pid: service.child.pid ?? 0 }
}

const stop = async ({ child, ended }: Awaited<ReturnType<typeof start>>): Promise<void> => {
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
}

const system: Origin = { actor: 'test', source: 'system', request: null, correlation: null, causation: null }

/** A data directory with as many events, most of them changes of a few skills. */
const longLog = async (count: number): Promise<void> => {
  const paths = prepareDataDirectory(place.path)
  const vault = new Vault(...masterKeys(paths))
  const log = new SqliteLog({ file: paths.log, vault, pragmas: ['synchronous = OFF'] })
  const ledger = new Ledger(log, vault)
  await ledger.execute({ type: 'CreateProject', data: { project: 'mindsdb' } }, system)
  for (let n = 0; n < 10; n++)
    await ledger.execute({ type: 'CreateSkill', data: { project: 'mindsdb', skill: `s${n}`, type: 'sql', params: {} } }, system)
  for (let n = 11; n < count; n += 1_000)
    await Promise.all(
      Array.from({ length: Math.min(1_000, count - n) }, (_, i) =>
        ledger.execute({ type: 'UpdateSkill', data: { project: 'mindsdb', skill: `s${i % 10}`, params: { n: n + i } } }, system),
      ),
    )
  await log.close()
}

/** Starts, and says how long that took and what the processes hold when nothing is asked of them. */
const measured = async () => {
  const from = performance.now()
  const service = await start()
  const ms = Math.round(performance.now() - from)
  await until(async () => (await sql(service.url, 'SELECT 1')).type === 'table')
  await sleep(1_000)
  return { service, ms, ...memoryOf(processTree(service.pid)) }
}

describe('start', () => {
  test('an empty directory is served soon, with little memory, and SIGTERM leaves no process', async () => {
    const { service, ms, rss, pss } = await measured()
    report(`empty directory: serving after ${ms} ms; ${rss} MiB resident, ${pss} MiB without counting shared pages twice`)
    expect(ms).toBeLessThan(startMaxMs)
    expect(rss).toBeLessThan(memoryMaxMebibytes)
    const tree = processTree(service.pid)
    expect(tree.length).toBeGreaterThan(1)
    // DuckDB takes down the process that it is in, and much memory: that is why it has one of its own.
    const maps = `/proc/${service.pid}/maps`
    if (existsSync(maps)) expect(readFileSync(maps, 'utf8')).not.toContain('duckdb.node')
    await stop(service)
    await until(() => !tree.some(isRunning))
    expect(existsSync(join(place.path, 'log.sqlite-wal'))).toBe(false)
  })

  test('a long log is served soon, also before its tables are built, and again after', async () => {
    await longLog(startEvents)
    for (const state of ['without tables', 'with tables']) {
      const { service, ms, rss, pss } = await measured()
      report(`${startEvents} events ${state}: serving after ${ms} ms; ${rss} MiB resident, ${pss} MiB without counting shared pages twice`)
      expect(ms).toBeLessThan(startMaxMs)
      expect(pss).toBeLessThan(memoryMaxMebibytes)
      expect((await sql(service.url, 'SELECT count(*) AS n FROM log.events')).data).toEqual([[startEvents]])
      await stop(service)
    }
  })

  test('the tables that SQL reads may be deleted: they are built again', async () => {
    const first = await start()
    await send(first.url, 'POST', '/api/projects', { project: { name: 'shop' } })
    await stop(first)
    rmSync(join(place.path, 'tables/analytics.duckdb'))
    const second = await start()
    expect((await sql(second.url, `SHOW PROJECTS LIKE 'shop'`)).data).toEqual([['shop']])
    await stop(second)
  })

  test('a port that is taken and a directory that cannot be written are told in one line, and leave no process', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const address = taken.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const refused = await mindledger(['serve'], { DATA_DIR: join(place.path, 'a'), PORT: String(port) })
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toBe(`mindledger: cannot listen on 127.0.0.1:${port}: the port is taken; set PORT to another one\n`)
    taken.close()

    writeFileSync(join(place.path, 'file'), '')
    const below = await mindledger(['serve'], { DATA_DIR: join(place.path, 'file', 'data'), PORT: '0' })
    expect(below).toMatchObject({ code: 2, out: '' })
    expect(below.err).toMatch(/^mindledger: .*file\/data cannot be used as data directory: .*\n$/)
  })

  test('a directory of somebody else is told in one line', async () => {
    const locked = join(place.path, 'locked')
    mkdirSync(locked)
    chmodSync(locked, 0o555)
    const { code, err } = await mindledgerWithoutRights(['serve'], { DATA_DIR: locked, PORT: '0' })
    expect(code).toBe(2)
    expect(err).toMatch(/^mindledger: .*locked cannot be used as data directory: .*permission denied.*\n$/)
  })
})

describe('stop', () => {
  test('SIGTERM answers what is under way, and exits 0', async () => {
    const service = await start()
    // A query that waits for the process has its place as well.
    await sql(service.url, 'SELECT 1')
    let isOver = false
    const ask = () =>
      sql(service.url, `SELECT count(*) AS n FROM range(2000000) WHERE md5(range::VARCHAR) > ''`).finally(() => (isOver = true))
    let running = ask()
    await until(async () => {
      // On a busy machine it may be over before it is seen.
      if (isOver) {
        isOver = false
        running = ask()
      }
      return /^mindledger_sql_running_queries 1$/m.test(String((await send(service.url, 'GET', '/metrics')).body))
    })
    service.child.kill('SIGTERM')
    expect((await running).data).toEqual([[2_000_000]])
    expect(await service.ended).toEqual([0, null])
  })

  test('a stop that comes as soon as the service says that it serves is carried out in order', async () => {
    const env = { ...process.env, DATA_DIR: place.path, PORT: '0' }
    const child = spawn(process.execPath, [cliFile, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    children.push(child)
    const ended = once(child, 'exit')
    child.stdout.once('data', () => child.kill('SIGTERM'))
    expect(await ended).toEqual([0, null])
  })

  test('views that were checked leave nothing behind: SQL goes on answering, and the process ends at once', async () => {
    const service = await start()
    for (let n = 0; n < 12; n++) expect((await sql(service.url, `CREATE VIEW v${n} AS (SELECT range AS x FROM range(5))`)).type).toBe('ok')
    expect((await sql(service.url, 'SELECT count(*) AS n FROM v11')).data).toEqual([[5]])
    const from = performance.now()
    await stop(service)
    expect(performance.now() - from).toBeLessThan(limits.stopTimeoutMs)
  })
})

const upload = async (url: string, name: string, rows: number): Promise<void> => {
  const lines = Array.from({ length: rows }, (_, i) => {
    const [a, b, c] = [(i * 37) % 101, (i * 53) % 89, (i * 71) % 97]
    return `${a},${b},${c},${['x', 'y', 'z'][i % 3] ?? ''},${a * 3 - b * 2 + ((c * c) % 17) + (i % 3) * 10}`
  })
  const form = new FormData()
  form.set('file', new Blob([['a,b,c,d,y', ...lines].join('\n')]), `${name}.csv`)
  expect((await send(url, 'PUT', `/api/files/${name}`, form)).status).toBe(200)
}

const train = (url: string, name: string, table: string, target = 'y'): Promise<SqlReply> =>
  sql(url, `CREATE MODEL ${name} FROM files (SELECT * FROM ${table}) PREDICT ${target}`)

/** A training that takes so long that nobody sees it for the first time when it has already told its result. */
const trainLong = (url: string, name: string): Promise<SqlReply> => train(url, name, 'long', "y USING preset = 'best'")

const statusOf = async (url: string, name: string): Promise<{ status: string; error: string | null } | undefined> => {
  const { status, body } = await send(url, 'GET', `/api/projects/mindsdb/models/${name}`)
  return status === 200 ? (body as { status: string; error: string | null }) : undefined
}

const endOf = async (url: string, name: string): Promise<{ status: string; error: string | null }> => {
  let found: Awaited<ReturnType<typeof statusOf>>
  await until(async () => {
    found = await statusOf(url, name)
    return found?.status === 'complete' || found?.status === 'error'
  })
  return { status: found?.status ?? '', error: found?.error ?? null }
}

const trainer = 'train-process'

/** A table that trains for long, so that its process can be suspended meanwhile; and one that does not. */
const withTables = async (url: string): Promise<void> => {
  await upload(url, 'long', 30_000)
  await upload(url, 'short', 120)
}

/** Begins a training whose process is suspended, so that it does not end by itself, however slow the machine is. */
const trainsNow = async ({ url, pid }: { url: string; pid: number }, name: string): Promise<number> => {
  let training: number | undefined
  const begin = async () => {
    // A training is over in the log before its process is gone.
    await until(() => childrenRunning(pid, trainer).length === 0)
    await trainLong(url, name)
  }
  await begin()
  await until(async () => {
    ;[training] = childrenRunning(pid, trainer)
    if (training !== undefined) {
      signalTo(training, 'SIGSTOP')
      return true
    }
    // On a busy machine it may be over before it is seen.
    if ((await statusOf(url, name))?.status === 'complete') {
      await sql(url, `DROP MODEL ${name}`)
      await begin()
    }
    return false
  })
  expect((await statusOf(url, name))?.status).toBe('training')
  return training ?? 0
}

describe('trainings', () => {
  test('each that cannot begin, is killed or loses its model ends in a clear status, and the next one works', async () => {
    const service = await start()
    const { url } = service
    await withTables(url)

    expect((await train(url, 'no_table', 'nothing_of_this_name')).error_message).toContain('nothing_of_this_name')
    expect((await train(url, 'no_target', 'short', 'price')).error_message).toContain('price')
    expect([await statusOf(url, 'no_table'), await statusOf(url, 'no_target')]).toEqual([undefined, undefined])

    const killed = await trainsNow(service, 'killed')
    signalTo(killed, 'SIGKILL')
    const { status, error } = await endOf(url, 'killed')
    expect(status).toBe('error')
    expect(error).toContain('SIGKILL')

    const orphan = await trainsNow(service, 'deleted')
    expect((await sql(url, 'DROP MODEL deleted')).type).toBe('ok')
    await until(() => !isRunning(orphan))
    expect(await statusOf(url, 'deleted')).toBeUndefined()

    await Promise.all([train(url, 'one', 'short'), train(url, 'two', 'short')])
    expect(await endOf(url, 'one')).toEqual({ status: 'complete', error: null })
    expect(await endOf(url, 'two')).toEqual({ status: 'complete', error: null })

    // A lost SQL process is replaced: the next query and the next training work.
    const [sqlProcess = 0] = childrenRunning(service.pid, 'bin/sql-process')
    signalTo(sqlProcess, 'SIGKILL')
    expect((await sql(url, 'SELECT count(*) AS n FROM files.short')).data).toEqual([[120]])
    expect(childrenRunning(service.pid, 'bin/sql-process')).not.toContain(sqlProcess)
    await train(url, 'after', 'short')
    expect(await endOf(url, 'after')).toEqual({ status: 'complete', error: null })
    await stop(service)
  })

  test('a server that is stopped or killed while it trains says so at its next start; what waited is trained, and RETRAIN works', async () => {
    const service = await start()
    await withTables(service.url)
    const training = await trainsNow(service, 'interrupted')
    await train(service.url, 'waiting', 'short')
    await stop(service)
    expect(isRunning(training)).toBe(false)
    const { out } = await mindledger(['log'], { DATA_DIR: place.path })
    expect(out.trimEnd().split('\n').at(-1)).toContain('"ModelTrainingFailed"')

    const again = await start()
    expect(await endOf(again.url, 'interrupted')).toMatchObject({ status: 'error', error: expect.stringContaining('the service stopped') })
    expect(await endOf(again.url, 'waiting')).toEqual({ status: 'complete', error: null })

    const lost = await trainsNow(again, 'lost')
    again.child.kill('SIGKILL')
    await again.ended
    signalTo(lost, 'SIGCONT')
    await until(() => !isRunning(lost))
    const last = await start()
    expect(await statusOf(last.url, 'lost')).toMatchObject({ status: 'error', error: expect.stringContaining('the service stopped') })
    await sql(last.url, 'RETRAIN lost FROM files (SELECT * FROM short) PREDICT y')
    await until(
      async () => (await sql(last.url, `SELECT status FROM models WHERE name = 'lost' AND version = 2`)).data[0]?.[0] === 'complete',
    )
    await stop(last)
    expect((await mindledger(['verify'], { DATA_DIR: place.path })).code).toBe(0)
  })
})
