import { DuckDBInstance } from '@duckdb/node-api'
import { expect, test } from '@jest/globals'
import { Replay } from '../../projections/replay.js'
import { Projector, type ProjectorState } from '../../src/sql-process/process/projector.js'
import { skill } from '../support/sql-process/bench.js'
import { MemoryLog } from '../support/log/memory-log.js'

const open = async (log: MemoryLog) => {
  const replay = await Replay.open({ events: log, payloads: log, database: await DuckDBInstance.create(':memory:') })
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
  return { projector, states, fatals: () => fatal, troubles }
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

test('all who wait are served by as few catch-ups as there were new heads', async () => {
  const log = new MemoryLog()
  const { projector, states } = await open(log)
  for (let n = 1; n <= 100; n++) log.append(skill(n))
  await Promise.all(Array.from({ length: 100 }, (_, i) => projector.ensure(i + 1)))
  expect(states).toHaveLength(1)
})
