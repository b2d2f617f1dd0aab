import { DuckDBInstance } from '@duckdb/node-api'
import { expect, test } from '@jest/globals'
import { Replay } from '../../projections/replay.js'
import { Projector, type ProjectorState } from '../../src/sql-process/process/projector.js'
import { skill } from '../support/sql-process/bench.js'
import { MemoryLog } from '../support/log/memory-log.js'

const open = async (log: MemoryLog) => {
  const database = await DuckDBInstance.create(':memory:')
  const replay = await Replay.open({ events: log, payloads: log, database })
  const states: ProjectorState[] = []
  let fatal = 0
  const troubles: string[] = []
  const options = {
    replay,
    events: log,
    followerIntervalMs: 60_000,
    followerBatchEvents: 1_000,
    checkIntervalMs: 60_000,
    onFatal: () => Promise.resolve(void (fatal += 1)),
    onTrouble: (reason: string) => troubles.push(reason),
  }
  const projector = new Projector({ ...options, onState: (state) => states.push(state) })
  return { projector, states, fatals: () => fatal, troubles, database }
}

test('a log that cannot be read for a moment is read the next time', async () => {
  const log = new MemoryLog()
  const { projector, states, fatals, troubles } = await open(log)
  log.append(skill(1))
  const read = log.read.bind(log)
  log.read = () => {
    throw new Error('the disk is away')
  }
  await expect(projector.ensure(1)).rejects.toMatchObject({ code: 'analytics_unavailable' })
  expect(troubles).toEqual(['The tables cannot be brought up to date at the moment: the disk is away'])
  log.read = read
  await projector.ensure(1)
  expect(states).toEqual([{ position: 1, head: 1, stopped: null }])
  expect(fatals()).toBe(0)
})

test('a database that has given up is not blamed on an event', async () => {
  const log = new MemoryLog()
  const { projector, fatals } = await open(log)
  log.append(skill(1))
  log.read = () => {
    throw new Error('FATAL Error: Failed: database has been invalidated because of a previous fatal error.')
  }
  await expect(projector.ensure(1)).rejects.toMatchObject({ code: 'analytics_unavailable' })
  expect(fatals()).toBe(1)
})

test.each([1, 20])('memory that queries take for a moment is not blamed on an event: %i events', async (events) => {
  const log = new MemoryLog()
  const { projector, states, fatals, database } = await open(log)
  const connection = await database.connect()
  await connection.run("SET temp_directory = ''")
  await connection.run("SET memory_limit = '64MB'")
  await connection.run('CREATE TABLE taken (text VARCHAR)')
  // A query that takes all memory but a little.
  const take = async (): Promise<void> => {
    await connection.run('INSERT INTO taken SELECT md5(random()::VARCHAR) FROM range(20000)')
    return take()
  }
  await expect(take()).rejects.toThrow(/could not allocate/)
  for (let n = 1; n <= events; n++) log.append({ ...skill(n), data: { ...skill(n).data, params: { text: 'x'.repeat(1_000_000) } } })
  await expect(projector.ensure(events)).rejects.toMatchObject({ code: 'analytics_unavailable', title: 'SQL is behind' })
  await connection.run('DROP TABLE taken')
  await connection.run("SET memory_limit = '1GB'")
  connection.closeSync()
  await projector.ensure(events)
  expect(states).toEqual([{ position: events, head: events, stopped: null }])
  expect(fatals()).toBe(0)
})

test('all who wait are served by as few catch-ups as there were new heads', async () => {
  const log = new MemoryLog()
  const { projector, states } = await open(log)
  for (let n = 1; n <= 100; n++) log.append(skill(n))
  await Promise.all(Array.from({ length: 100 }, (_, i) => projector.ensure(i + 1)))
  expect(states).toHaveLength(1)
})
