import { describe, test } from '@jest/globals'
import type { JobDefinition, JobEvent } from '../../../events/job.js'
import type { NewEvent } from '../../../src/log/contract/log.js'
import { limits } from '../../../src/basics/limits.js'
import { stream } from '../../support/log/log.js'
import { given } from '../../support/log/given.js'
import { monthlyCreated, secret, shop, shopCreated } from './samples.js'

const nightly = stream(70)
const day = (n: number): string => `2026-01-0${n}T00:00:00.000000Z`
const definition: JobDefinition = {
  project: shop,
  name: 'Nightly',
  query: 'SELECT 1',
  if_query: null,
  sealed: null,
  start_at: day(1),
  end_at: null,
  schedule: { count: 1, unit: 'day', said: 'every day' },
}
const work = {
  statements: 'SELECT 1',
  condition: null,
  params: {},
  now: day(1),
  start_at: day(1),
  end_at: null,
  schedule: definition.schedule,
}
const at = (event: JobEvent): NewEvent => ({ stream: nightly, event })
const created = (changes: Partial<JobDefinition> = {}) => at({ type: 'JobCreated', data: { ...definition, ...changes } })
const began = at({ type: 'JobRunStarted', data: { run: 'r1', due_at: day(1), started_at: day(1), next_run_at: day(2) } })
const create = (more = {}) => ({ type: 'CreateJob' as const, data: { project: 'shop', job: 'NIGHTLY', ...work, ...more } })
const drop = (more = {}) => ({ type: 'DeleteJob' as const, data: { project: 'shop', job: 'nightly', ...more } })
const start = (now: string) => ({ type: 'StartJobRun' as const, data: { stream: nightly, run: 'r2', now } })
const finish = (run: string) => ({
  type: 'FinishJobRun' as const,
  data: { stream: nightly, run, outcome: 'complete' as const, error: null, statements: [{ positions: [4], error: null }] },
})
const cancelled: JobEvent = {
  type: 'JobRunFinished',
  data: { run: 'r1', outcome: 'cancelled', error: 'the job was deleted', statements: [] },
}

describe('CreateJob', () => {
  test('keeps what was asked for, and refers to its secrets', () =>
    given(shopCreated)
      .when(create({ params: { secret } }))
      .then({ type: 'JobCreated', data: { ...definition, name: 'NIGHTLY', sealed: secret } }))

  test('refuses a taken name unless that is no error, and a project that is not there', () => {
    given(shopCreated, created()).when(create()).refuses('already_exists')
    given(shopCreated, created())
      .when(create({ unlessExists: true }))
      .then()
    given().when(create()).refuses('not_found')
  })

  test('refuses an end that is before its start, or that has passed', () => {
    given(shopCreated)
      .when(create({ start_at: day(3), end_at: day(2) }))
      .refuses('wrong_arguments', 'before it ran once')
    given(shopCreated)
      .when(create({ now: day(3), end_at: day(2) }))
      .refuses('wrong_arguments', 'before it ran once')
  })

  test('refuses one job more than a project may have', () => {
    const many = Array.from({ length: limits.jobsMax }, (_, i) => ({
      stream: stream(1_000 + i),
      event: { type: 'JobCreated' as const, data: { ...definition, name: `job ${i}` } },
    }))
    given(shopCreated, ...many)
      .when(create())
      .refuses('too_large')
  })
})

describe('StartJobRun', () => {
  test('begins the run that is due, once for all that were missed', () =>
    given(shopCreated, created())
      .when(start('2026-01-05T06:00:00.000000Z'))
      .then({
        type: 'JobRunStarted',
        data: { run: 'r2', due_at: day(1), started_at: '2026-01-05T06:00:00.000000Z', next_run_at: day(6) },
      }))

  test('begins nothing before it is due, beside another run, or for a job that is gone', () => {
    given(shopCreated, created({ start_at: day(2) }))
      .when(start(day(1)))
      .then()
    given(shopCreated, created(), began)
      .when(start(day(3)))
      .then()
    given(shopCreated)
      .when(start(day(3)))
      .then()
  })

  test('without a schedule it was the only one', () =>
    given(shopCreated, created({ schedule: null }))
      .when(start(day(1)))
      .then({ type: 'JobRunStarted', data: { run: 'r2', due_at: day(1), started_at: day(1), next_run_at: null } }))

  test('after the end of the job nothing begins any more', () =>
    given(shopCreated, created({ end_at: day(2) }))
      .when(start(day(3)))
      .then({ type: 'JobExpired', data: {} }))
})

describe('FinishJobRun', () => {
  test('ends the run that is under way, and no other', () => {
    given(shopCreated, created(), began)
      .when(finish('r1'))
      .then({
        type: 'JobRunFinished',
        data: { run: 'r1', outcome: 'complete', error: null, statements: [{ positions: [4], error: null }] },
      })
    given(shopCreated, created(), began).when(finish('r0')).then()
    given(shopCreated, created(), began, at(cancelled), at({ type: 'JobDeleted', data: {} }))
      .when(finish('r1'))
      .then()
  })
})

describe('an end', () => {
  test('DeleteJob ends the run that is under way with it', () => {
    given(shopCreated, created()).when(drop()).then({ type: 'JobDeleted', data: {} })
    given(shopCreated, created(), began).when(drop()).then(cancelled, { type: 'JobDeleted', data: {} })
    given(shopCreated).when(drop()).refuses('not_found')
    given(shopCreated)
      .when(drop({ ifExists: true }))
      .then()
  })

  test('a project ends with its jobs, which do not keep it; what else is in it does', () => {
    const deletion = { type: 'DeleteProject' as const, data: { project: 'shop', defaultProject: 'mindsdb' } }
    given(shopCreated, created(), began)
      .when(deletion)
      .then(cancelled, { type: 'JobDeleted', data: {} }, { type: 'ProjectDeleted', data: {} })
    given(shopCreated, created(), monthlyCreated).when(deletion).refuses('not_empty', 'it contains: view Monthly')
  })
})
