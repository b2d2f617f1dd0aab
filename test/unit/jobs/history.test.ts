import { expect, test } from '@jest/globals'
import { jobKind, type Job, type JobEvent } from '../../../events/job.js'
import { limits } from '../../../src/basics/limits.js'
import { readRuns } from '../../../src/jobs/history.js'
import type { Resource } from '../../../src/log/contract/log.js'
import { stream } from '../../support/log/log.js'
import { MemoryLog } from '../../support/log/memory-log.js'

const at = '2026-01-01T00:00:00.000000Z'
const times = { start_at: at, end_at: null, schedule: null }
const definition = { project: stream(1), name: 'j', query: 'SELECT 1', if_query: null, sealed: null, ...times }
const of = stream(2)

const run = (run: string): JobEvent[] => [
  { type: 'JobRunStarted', data: { run, due_at: at, started_at: at, next_run_at: null } },
  { type: 'JobRunFinished', data: { run, outcome: 'complete', error: null, statements: [] } },
]
const changed = (query: string): JobEvent => ({ type: 'JobUpdated', data: { query } })
const later: JobEvent = { type: 'JobUpdated', data: { end_at: at, next_run_at: null } }

/** The queries of the runs that a log with these events has for the job. */
const queriesOf = async (...events: JobEvent[]): Promise<string[]> => {
  const log = new MemoryLog()
  const all: JobEvent[] = [{ type: 'JobCreated', data: definition }, ...events]
  for (const { type, data } of all) log.append({ stream: of, type, data: structuredClone(data) })
  const state = all.reduce<Job | undefined>(jobKind.evolve, undefined)
  const job = { kind: 'job', stream: of, id: 1, version: all.length, created_at: at, updated_at: at, state } as Resource<'job'>
  const readStream = async (_: string, after: number, limit: number) => log.read(after, limit)
  return (await readRuns({ readStream }, job)).map(({ query }) => query)
}

test('each run has the query that the job had when it began', async () => {
  expect(await queriesOf(...run('a'), later, ...run('b'))).toEqual(['SELECT 1', 'SELECT 1'])
  const [begun, ended] = run('c') as [JobEvent, JobEvent]
  expect(await queriesOf(...run('a'), changed('SELECT 2'), ...run('b'), later, begun, changed('SELECT 3'), ended, ...run('d'))).toEqual([
    'SELECT 1',
    'SELECT 2',
    'SELECT 2',
    'SELECT 3',
  ])
})

test('of a job with more runs than are shown, too', async () => {
  const many = Array.from({ length: limits.jobHistoryMaxRuns + 5 }, (_, i) => run(String(i))).flat()
  expect(new Set(await queriesOf(changed('SELECT 2'), ...many))).toEqual(new Set(['SELECT 2']))
  const queries = await queriesOf(changed('SELECT 2'), ...many, changed('SELECT 3'), ...run('last'))
  expect(queries.slice(-2)).toEqual(['SELECT 2', 'SELECT 3'])
  expect(new Set(queries.slice(0, -1))).toEqual(new Set(['SELECT 2']))
})
