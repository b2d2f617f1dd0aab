import { DuckDBInstance } from '@duckdb/node-api'
import { afterEach, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { replay } from '../../projections/replay.js'
import { dataPaths } from '../../src/setup/data-directory.js'
import { openLogReader } from '../../src/log/sqlite/log-reader.js'
import { verifyLog } from '../../src/log/verify/verify.js'
import { countOf } from '../support/counts.js'
import { differences } from '../support/log/states.js'
import { childrenRunning, isRunning, processTree, signalTo } from '../support/processes.js'
import { until } from '../support/until.js'
import { send, spawnService, sql, temporaryDirectory } from '../support/service.js'

const rounds = countOf('SERVICE_ROUNDS')
const writers = 16
const directory = temporaryDirectory()
afterEach(() => directory.remove())

/** The service's own processes that answer SQL. They know nothing of its environment or command line, only of their parent. */
const answeringSql = (server: number): number[] => childrenRunning(server, 'bin/sql-process')

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
    const server = Number(child.pid)
    await until(() => answeringSql(server).length > 0)
    let stopped = false
    const loops = Array.from({ length: writers }, async (_, writer) => {
      for (let n = 0; !stopped; n++)
        await write(url, `r${round}_w${writer}_${n}`, acknowledged).catch(() => {
          stopped = true
        })
    })
    await sleep(150 + Math.random() * 300)
    const killed = ['server', 'child', 'both'][round % 3]
    // One that met what an earlier server had left ends, and another one follows.
    await until(() => answeringSql(server).length > 0)
    const children = answeringSql(server)
    if (killed !== 'server') {
      expect(children.length).toBeGreaterThan(0)
      for (const pid of children) signalTo(pid, 'SIGKILL')
    }
    if (killed === 'child') {
      await until(() => !children.some(isRunning))
      // A busy machine may start the next process later than a query waits for it.
      await until(async () => (await sql(url, 'SELECT count(*) AS n FROM skills')).type === 'table')
    }
    stopped = killed !== 'both' && killed !== 'server'
    const family = processTree(server)
    child.kill('SIGKILL')
    await ended
    stopped = true
    await Promise.all(loops)
    await until(() => ![...children, ...family].some(isRunning))
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
  const replayed = await DuckDBInstance.create(':memory:')
  await replay({ events: reader, payloads: reader, database: replayed })
  reader.close()
  expect(await differences(replayed, paths.tablesFile)).toEqual({})
  replayed.closeSync()
})
