import { DuckDBInstance } from '@duckdb/node-api'
import { afterEach, expect, test } from '@jest/globals'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { replay } from '../../projections/replay.js'
import { dataPaths } from '../../src/log/data-directory.js'
import { openLogReader } from '../../src/log/reader.js'
import { verifyLog } from '../../src/log/verify.js'
import { send, spawnService, sql, temporaryDirectory } from '../support/service.js'

// A long run: MINDLEDGER_CRASH_ROUNDS=50 npm test -- test/crash/service
const rounds = Number(process.env['MINDLEDGER_CRASH_ROUNDS'] ?? 6)
const writers = 16
const directory = temporaryDirectory()
afterEach(() => directory.remove())

/** Processes of this user whose command line names a text. */
const processesWith = (text: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text) || readFileSync(`/proc/${pid}/environ`, 'utf8').includes(text)
      } catch {
        return false
      }
    })
    .map(Number)
    .filter((pid) => pid !== process.pid)

const isGone = async (): Promise<boolean> => {
  for (let waited = 0; waited < 10_000; waited += 100) {
    if (processesWith(directory.path).length === 0) return true
    await sleep(100)
  }
  return false
}

/** What each history table holds, in an order of its own. */
const contents = async (file: string): Promise<Record<string, unknown[]>> => {
  const instance = await DuckDBInstance.create(file)
  const connection = await instance.connect()
  const tables = (
    await connection.runAndReadAll(
      `SELECT table_name FROM duckdb_tables() WHERE schema_name = 'ledger' AND table_name <> 'checkpoint' ORDER BY 1`,
    )
  ).getRows()
  const found: Record<string, unknown[]> = {}
  for (const [table] of tables)
    found[String(table)] = (await connection.runAndReadAll(`SELECT * FROM ledger.${String(table)} ORDER BY ALL`)).getRowsJson()
  connection.closeSync()
  instance.closeSync()
  return found
}

const write = async (url: string, name: string, acknowledged: Set<string>): Promise<void> => {
  const { status } = await send(url, 'POST', '/api/projects/mindsdb/skills', {
    skill: { name, type: 'sql', params: { api_key: `sk-${name}`, n: 1 } },
  })
  if (status === 201) acknowledged.add(name)
}

test('no acknowledged write is lost or doubled, and DuckDB equals a replay, whatever process is killed', async () => {
  const acknowledged = new Set<string>()
  for (let round = 0; round < rounds; round++) {
    const { child, url, ended } = await spawnService(directory.path)
    let stopped = false
    const loops = Array.from({ length: writers }, async (_, writer) => {
      for (let n = 0; !stopped; n++)
        await write(url, `r${round}_w${writer}_${n}`, acknowledged).catch(() => {
          stopped = true
        })
    })
    await sleep(150 + Math.random() * 300)
    const killed = ['server', 'child', 'both'][round % 3]
    const others = processesWith(directory.path).filter((pid) => pid !== child.pid)
    if (killed !== 'server') for (const pid of others) process.kill(pid, 'SIGKILL')
    if (killed === 'child') {
      await sleep(100)
      const counted = await sql(url, 'SELECT count(*) AS n FROM skills')
      expect(counted.type).toBe('table')
      expect(Number(counted.data[0]?.[0])).toBeGreaterThanOrEqual(0)
    }
    stopped = killed !== 'both' && killed !== 'server'
    child.kill('SIGKILL')
    await ended
    stopped = true
    await Promise.all(loops)
    expect(await isGone()).toBe(true)
  }

  const { child, url, ended } = await spawnService(directory.path)
  const skills = (await send(url, 'GET', '/api/projects/mindsdb/skills')).body as { name: string }[]
  const names = skills.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect([...acknowledged].filter((name) => !names.includes(name))).toEqual([])
  expect((await sql(url, 'SELECT count(*) AS n FROM skills')).data).toEqual([[names.length]])
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])

  const paths = dataPaths(directory.path)
  expect((await verifyLog({ logFile: paths.log })).findings).toEqual([])
  const reader = openLogReader(directory.path)
  const fresh = `${directory.path}/fresh.duckdb`
  const instance = await DuckDBInstance.create(fresh)
  await replay({ events: reader, payloads: reader, database: instance })
  instance.closeSync()
  reader.close()
  expect(await contents(paths.analytics)).toEqual(await contents(fresh))
}, 600_000)
