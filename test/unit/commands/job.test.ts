import { describe, expect, test } from '@jest/globals'
import { jobKind, type Job, type JobDefinition, type JobEvent, type JobRunEnd, type KeptLast, type LastValue } from '../../../events/job.js'
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

describe('UpdateJob', () => {
  const noon = '2026-01-03T12:00:00.000000Z'
  const change = (more = {}) => ({ type: 'UpdateJob' as const, data: { project: 'shop', job: 'nightly', now: noon, ...more } })
  const was = { statements: 'SELECT 1', condition: null, payload: null }
  const text = (more = {}) => ({ text: { statements: 'SELECT 2', condition: null, params: {}, was, ...more } })
  const updated = (data: object): JobEvent => ({ type: 'JobUpdated', data })

  test('records the texts that differ, and refers to their secrets', () => {
    given(shopCreated, created())
      .when(change(text()))
      .then(updated({ query: 'SELECT 2' }))
    given(shopCreated, created())
      .when(change(text({ condition: 'SELECT 3', params: { secret } })))
      .then(updated({ query: 'SELECT 2', if_query: 'SELECT 3', sealed: secret }))
    const sealed = created({ sealed: secret })
    given(shopCreated, sealed)
      .when(change(text({ was: { ...was, payload: secret.$secret } })))
      .then(updated({ query: 'SELECT 2', sealed: null }))
  })

  test('records nothing if all stays as it is', () => {
    given(shopCreated, created()).when(change()).then()
    const { start_at, end_at, schedule } = definition
    given(shopCreated, created())
      .when(change({ ...text({ statements: 'SELECT 1' }), start_at, end_at, schedule }))
      .then()
  })

  test('refuses texts that were made from other ones than the job has now', () => {
    for (const other of [{ statements: 'SELECT 0' }, { condition: 'SELECT 1' }, { payload: secret.$secret }])
      given(shopCreated, created())
        .when(change(text({ was: { ...was, ...other } })))
        .refuses('busy', 'changed while')
  })

  test('a new schedule is due at its first time after the change, and a new start also at the same time', () => {
    const sixHours = { count: 6, unit: 'hour' as const, said: 'every 6 hours' }
    given(shopCreated, created(), began)
      .when(change({ schedule: sixHours }))
      .then(updated({ schedule: sixHours, next_run_at: '2026-01-03T18:00:00.000000Z' }))
    const start_at = '2026-01-01T11:00:00.000000Z'
    given(shopCreated, created())
      .when(change({ start_at }))
      .then(updated({ start_at, next_run_at: '2026-01-04T11:00:00.000000Z' }))
    for (const from of [noon, day(9)])
      given(shopCreated, created())
        .when(change({ start_at: from }))
        .then(updated({ start_at: from, next_run_at: from }))
  })

  test('without a schedule a job that has not run is due, one that has run is not, and a new start lets it run again', () => {
    const once = { schedule: null, next_run_at: null }
    given(shopCreated, created(), began)
      .when(change({ schedule: null }))
      .then(updated(once))
    given(shopCreated, created())
      .when(change({ schedule: null }))
      .then(updated({ ...once, next_run_at: day(1) }))
    const ran = at({ type: 'JobRunStarted', data: { run: 'r1', due_at: day(1), started_at: day(1), next_run_at: null } })
    given(shopCreated, created({ schedule: null }), ran)
      .when(change({ start_at: noon }))
      .then(updated({ start_at: noon, next_run_at: noon }))
  })

  test('another end moves no run that is before it, and lets an expired job go on', () => {
    given(shopCreated, created())
      .when(change({ end_at: day(9) }))
      .then(updated({ end_at: day(9), next_run_at: day(1) }))
    given(shopCreated, created(), began, at({ type: 'JobExpired', data: {} }))
      .when(change({ end_at: day(9) }))
      .then(updated({ end_at: day(9), next_run_at: day(4) }))
    given(shopCreated, created({ start_at: day(5) }))
      .when(change({ start_at: noon, end_at: noon }))
      .then(updated({ start_at: noon, end_at: noon, next_run_at: noon }))
    given(shopCreated, created({ start_at: '2026-01-02T15:00:00.000000Z' }), began)
      .when(change({ end_at: noon }))
      .then(updated({ end_at: noon, next_run_at: day(2) }))
  })

  test('refuses an end before the start, and a new one before now; an end that has passed keeps no other change', () => {
    const early = 'before its start, or before now'
    given(shopCreated, created())
      .when(change({ end_at: day(2) }))
      .refuses('wrong_arguments', early)
    given(shopCreated, created({ end_at: day(5) }))
      .when(change({ start_at: day(6) }))
      .refuses('wrong_arguments', early)
    given(shopCreated, created({ end_at: day(2) }))
      .when(change(text()))
      .then(updated({ query: 'SELECT 2' }))
  })

  test('refuses a job or a project that is not there', () => {
    given(shopCreated).when(change()).refuses('not_found', 'Job with name nightly')
    given().when(change()).refuses('not_found', 'Project with name shop')
  })
})

describe('the values of LAST, when the texts of a job change', () => {
  const value = (of: string): LastValue[] => [{ column: 't.id', type: 'BIGINT', value: of }]
  const reading = (table: string) => `INSERT INTO files.c (SELECT t.id FROM pg.${table} AS t WHERE t.id > LAST)`
  const [a, b] = [reading('a'), reading('b')]
  const end = (more: Partial<JobRunEnd> = {}): JobEvent => {
    const statements = [a, b].map((_, i) => ({ positions: [], error: null, last: value(String(i)) }))
    return { type: 'JobRunFinished', data: { run: 'r1', outcome: 'complete', error: null, statements, ...more } }
  }
  const texts = { query: `${a};\n${b}`, if_query: a }
  const kept = (statements: string[], condition: string | null) => {
    const was = { statements: texts.query, condition: texts.if_query, payload: null }
    const text = { statements: statements.join(';\n'), condition, params: {}, was }
    return { type: 'UpdateJob' as const, data: { project: 'shop', job: 'nightly', now: day(1), text } }
  }
  const ran = [shopCreated, created(texts), began, at(end({ condition_last: value('9') }))]
  const other = a.replace('t.id FROM', 't.id, 2 AS two FROM').replace('LAST', 'LAST AND t.id < 7')

  test('those of a statement that reads the same columns of the same tables stay, wherever it stands', () => {
    const cases: [statements: string[], condition: string | null, statementsKept: (number | null)[], conditionKept: boolean][] = [
      [[b, 'SELECT 1', a], null, [1, null, 0], false],
      [[other], a, [0], true],
      [[other, a], other, [null, 0], true],
      [[a.replace('pg.a', 'pg.z'), b], b, [null, 1], false],
      [[a.replace('t.id >', 't.at >')], null, [null], false],
      [['SELECT 1'], 'SELECT 1', [], false],
    ]
    for (const [statements, condition, statementsKept, conditionKept] of cases)
      given(...ran)
        .when(kept(statements, condition))
        .then({
          type: 'JobUpdated',
          data: {
            query: statements.join(';\n'),
            ...(condition !== a && { if_query: condition }),
            keeps_last: { condition: conditionKept, statements: statementsKept },
          },
        })
  })

  const folded = (...events: JobEvent[]) =>
    [{ type: 'JobCreated' as const, data: { ...definition, ...texts } }, ...events].reduce<Job | undefined>(jobKind.evolve, undefined)
  const update = (keeps_last: KeptLast): JobEvent => ({ type: 'JobUpdated', data: { query: 'SELECT 2', keeps_last } })
  const begin: JobEvent = { type: 'JobRunStarted', data: { run: 'r1', due_at: day(1), started_at: day(1), next_run_at: day(2) } }
  const swapped = update({ condition: true, statements: [1, 0, null] })
  const first = update({ condition: false, statements: [0] })

  test('stay with their statements', () => {
    const seen = { condition: value('9'), statements: [value('1'), value('0'), []] }
    expect(folded(begin, end({ condition_last: value('9') }), swapped)?.last).toEqual(seen)
    expect(folded(begin, end({ condition_last: value('9') }), swapped, first)?.last).toEqual({ condition: [], statements: [value('1')] })
  })

  test('come to the new statements from a run that a change came upon, as if it had come afterwards', () => {
    const ended = end({ condition_last: value('9') })
    for (const changes of [[swapped], [first], [swapped, first], [update({ condition: false, statements: [] })]])
      expect(folded(begin, ...changes, ended)?.last ?? { condition: [], statements: [] }).toEqual(folded(begin, ended, ...changes)?.last)
    expect(folded(begin, swapped, ended)?.running).toBeNull()
  })

  test('a run under way keeps them, also if none has ended before', () =>
    given(shopCreated, created(texts), began)
      .when(kept([b], null))
      .then({ type: 'JobUpdated', data: { query: b, if_query: null, keeps_last: { condition: false, statements: [1] } } }))
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
