import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { pino } from 'pino'
import type { KnowledgeSearched } from '../../../events/records/searches.js'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import { streamId, type JsonObject } from '../../../events/common.js'
import { Problem } from '../../../src/basics/errors.js'
import { afterInserting } from '../../../src/knowledge/documents/documents.js'
import { soleLeases, type Leases } from '../../../src/log/contract/leases.js'
import type { JobClock } from '../../../src/jobs/clock.js'
import { readJob, updateJob, type JobChangeRequest } from '../../../src/sql/facade/commands/job-definition.js'
import { JobScheduler } from '../../../src/jobs/scheduler.js'
import type { SqlExecutor } from '../../../src/jobs/run.js'
import { limits } from '../../../src/basics/limits.js'
import type { SqlAnswer } from '../../../src/sql/contract/answer.js'
import type { SqlRequest } from '../../../src/sql/contract/request.js'
import { origin, refusal, withLogOf, type OpenLog } from '../../support/log/log.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'

const logger = pino({ level: 'silent' })
const minute = 60_000
const context = { db: 'shop', show_secrets: false } as const
const ok = (...positions: number[]): SqlAnswer => ({ type: 'ok', affected_rows: null, context, positions })
const rows = (...chunks: string[]): Extract<SqlAnswer, { type: 'table' }> => ({
  type: 'table',
  columns: [{ name: 'a', type: 'INTEGER' }],
  format: 'json',
  rows: (async function* () {
    yield* chunks.map((chunk) => Buffer.from(chunk))
  })(),
  context,
  positions: [],
})
const failed = (problem: Problem): SqlAnswer => ({ type: 'error', error_code: 0, error_message: problem.detail, context, problem })

/** Rows that end with an error after the first. */
const cutOff = (): SqlAnswer => ({
  ...rows(),
  rows: (async function* () {
    yield Buffer.from('[1]')
    throw new Problem('query_limit', 'Limit', 'too many rows')
  })(),
})

/** The disk confirms at once, so that a number of turns of the event loop is enough for each write. */
const openWal = () => ({ sync: () => Promise.resolve(), close: () => undefined })
const withLog = withLogOf(async (file, vault, pragmas = []) => new SqliteLog({ file, vault, pragmas, openWal }))

/** A clock that stands until it is told to go on. */
class HandClock implements JobClock {
  time = Date.parse('2026-01-01T00:00:00Z')
  #waiting: { at: number; callback: () => void }[] = []

  #set = 0

  now = () => this.time

  uptime = () => this.time - this.#set

  /** Somebody sets the clock; what waits has to wait no longer and no shorter for it. */
  set(milliseconds: number): void {
    this.time += milliseconds
    this.#set += milliseconds
    for (const one of this.#waiting) one.at += milliseconds
  }

  wait = (milliseconds: number, callback: () => void) => {
    const one = { at: this.time + milliseconds, callback }
    this.#waiting.push(one)
    return () => void (this.#waiting = this.#waiting.filter((other) => other !== one))
  }

  /** The times that something waits for. */
  get due(): number[] {
    return this.#waiting.map(({ at }) => at)
  }

  async forward(milliseconds: number): Promise<void> {
    const until = this.time + milliseconds
    for (;;) {
      const next = this.#waiting.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0]
      if (!next) break
      this.#waiting = this.#waiting.filter((other) => other !== next)
      this.time = Math.max(this.time, next.at)
      next.callback()
      await settled()
    }
    this.time = until
    await settled()
  }
}

/** Lets everything happen that does not wait for the clock. On a busy machine a command takes more turns, as it yields after a time. */
const settled = async () => {
  for (let i = 0; i < 400; i++) await new Promise((resolve) => setImmediate(resolve))
}

type Ask = SqlRequest & { answer: (answer: SqlAnswer) => void }

/** An engine that answers when it is told to, or at once. */
class HandEngine implements SqlExecutor {
  readonly asked: Ask[] = []
  answers: ((request: SqlRequest) => SqlAnswer) | undefined = () => ok()
  running = 0
  most = 0

  execute = async (request: SqlRequest): Promise<SqlAnswer> => {
    this.running += 1
    this.most = Math.max(this.most, this.running)
    try {
      return await new Promise<SqlAnswer>((resolve) => {
        this.asked.push({ ...request, answer: resolve })
        // The real engine answers with the problem that its signal was aborted for.
        request.signal?.addEventListener('abort', () => resolve(failed(request.signal?.reason as Problem)))
        if (this.answers) resolve(this.answers(request))
      })
    } finally {
      this.running -= 1
    }
  }

  get queries(): string[] {
    return this.asked.map(({ query }) => query)
  }
}

let clock: HandClock
let engine: HandEngine
const unhandled: unknown[] = []
const note = (reason: unknown) => unhandled.push(reason)
beforeEach(() => {
  clock = new HandClock()
  engine = new HandEngine()
  unhandled.length = 0
  process.on('unhandledRejection', note)
})
afterEach(() => {
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

const serviceOver = ({ ledger, log }: OpenLog, runningMax?: number) =>
  new JobScheduler({ ledger, log, leases: soleLeases, engine, clock, logger, ...(runningMax !== undefined && { runningMax }) })

const create = async ({ ledger }: OpenLog, job: string, changes: object = {}) => {
  await ledger.execute({ type: 'CreateProject', data: { project: 'shop', unlessExists: true } }, origin)
  const asked = { query: `SELECT '${job}'`, ifQuery: null, start: null, end: null, every: 'every minute', ...changes }
  await ledger.execute({ type: 'CreateJob', data: { project: 'shop', job, ...(await readJob(asked, clock.time)) } }, origin)
  await settled()
}

const change = async ({ ledger, log }: OpenLog, job: string, request: JobChangeRequest) => {
  const inputs = { resources: log.resources, payloads: log, now: () => clock.time }
  await ledger.execute(await updateJob({ project: 'shop', job }, request, inputs), origin)
  await settled()
}

const drop = ({ ledger }: OpenLog, job: string) => ledger.execute({ type: 'DeleteJob', data: { project: 'shop', job } }, origin)

const eventsOf = async ({ log }: OpenLog) => (await log.readAll(0, 1_000)).map(({ text }) => parseEnvelope(text))

/** What the log says of the runs: when each began, in minutes, and how it ended. */
const runs = async (open: OpenLog): Promise<[minutes: number, outcome: unknown][]> => {
  const events = await eventsOf(open)
  return events
    .filter(({ type }) => type === 'JobRunStarted')
    .map(({ data }) => {
      const end = events.find((other) => other.type === 'JobRunFinished' && other.data['run'] === data['run'])
      const started = (Date.parse(data['started_at'] as string) - Date.parse('2026-01-01T00:00:00Z')) / minute
      return [started, end ? end.data['outcome'] : 'running']
    })
}

const ends = async (open: OpenLog): Promise<JsonObject[]> =>
  (await eventsOf(open)).filter(({ type }) => type === 'JobRunFinished').map(({ data }) => data)

/** Runs a test over a log and a service that keeps its jobs, and stops both. */
const withJobs = (run: (open: OpenLog, jobs: JobScheduler) => Promise<void>, runningMax?: number) =>
  withLog(async (open) => {
    const jobs = serviceOver(open, runningMax)
    await jobs.start()
    try {
      await run(open, jobs)
    } finally {
      await jobs.stop()
    }
  })

describe('when a job runs', () => {
  test('at its start, then at each of its times; one timer waits for the next', () =>
    withJobs(async (open) => {
      await create(open, 'j')
      expect(await runs(open)).toEqual([[0, 'complete']])
      expect(clock.due).toEqual([clock.time + minute])
      await clock.forward(3.5 * minute)
      expect(await runs(open)).toEqual([0, 1, 2, 3].map((at) => [at, 'complete']))
      expect(clock.due).toHaveLength(1)
    }))

  test('a minute late, and then as it should, if it could not be looked at for a fault', () =>
    withJobs(async (open) => {
      const { resources } = open.log
      const byStream = resources.byStream.bind(resources)
      let faults = 1
      resources.byStream = (...asked) =>
        asked[0] === 'job' && faults-- > 0 ? Promise.reject(new TypeError('a fault')) : byStream(...asked)
      await create(open, 'j')
      expect(await runs(open)).toEqual([])
      await clock.forward(3.5 * minute)
      expect(await runs(open)).toEqual([1, 2, 3].map((at) => [at, 'complete']))
    }))

  test('once, without a schedule; never after its end; not at all before its start', () =>
    withJobs(async (open) => {
      await create(open, 'once', { every: null })
      await create(open, 'later', { every: null, start: '2026-01-01 00:03:00' })
      await create(open, 'ending', { end: '2026-01-01 00:01:30' })
      await clock.forward(10 * minute)
      expect(await runs(open)).toEqual([0, 0, 1, 3].map((at) => [at, 'complete']))
      expect(engine.queries).toEqual(["SELECT 'once'", "SELECT 'ending'", "SELECT 'ending'", "SELECT 'later'"])
      expect((await open.log.resources.list('job')).map(({ state }) => state.next_run_at)).toEqual([null, null, null])
      expect(clock.due).toEqual([])
    }))

  test('what LAST stands for goes from run to run, over a stop, and stays as it was where a run is cut off', () =>
    withLog(async (open) => {
      const known: unknown[] = []
      let highest = 0
      engine.answers = (request) => {
        if (request.last?.wantsBase) return rows('')
        known.push(request.last?.known.map(({ value }) => value))
        request.last?.note([{ column: 't.id', type: 'BIGINT', value: String(++highest) }])
        return rows('[1]')
      }
      const first = serviceOver(open)
      await first.start()
      await create(open, 'j', { query: 'SELECT * FROM files.t WHERE id > LAST', ifQuery: 'SELECT * FROM files.t WHERE id > LAST' })
      await clock.forward(minute)
      await first.stop()
      expect(known).toEqual([[], [], ['1'], ['2']])
      const second = serviceOver(open)
      await second.start()
      engine.answers = () => failed(new Problem('query_failed', 'Failed', 'it failed'))
      await clock.forward(minute)
      engine.answers = (request) => {
        if (request.last?.wantsBase) return rows('')
        known.push(request.last?.known.map(({ value }) => value))
        return rows('[1]')
      }
      await clock.forward(minute)
      await second.stop()
      expect(known.slice(4)).toEqual([['3'], ['4']])
      expect((await ends(open)).map(({ outcome }) => outcome)).toEqual(['complete', 'complete', 'error', 'complete'])
    }))

  test('what was due while the service was down runs once, then goes on at its times; what ended meanwhile does not', () =>
    withLog(async (open) => {
      await create(open, 'j')
      await create(open, 'ended', { end: '2026-01-01 00:01:30' })
      clock.time += 5.5 * minute
      const jobs = serviceOver(open)
      await jobs.start()
      await settled()
      expect(await runs(open)).toEqual([[5.5, 'complete']])
      await clock.forward(minute)
      expect(await runs(open)).toEqual([5.5, 6].map((at) => [at, 'complete']))
      expect(engine.queries).toEqual(["SELECT 'j'", "SELECT 'j'"])
      expect((await eventsOf(open)).map(({ type }) => type)).toContain('JobExpired')
      await jobs.stop()
    }))

  test('runs of one job never overlap: what became due meanwhile happens once, afterwards', () =>
    withJobs(async (open) => {
      engine.answers = undefined
      await create(open, 'j')
      await clock.forward(3.5 * minute)
      expect(await runs(open)).toEqual([[0, 'running']])
      engine.answers = () => ok()
      engine.asked[0]?.answer(ok())
      await settled()
      expect(await runs(open)).toEqual([0, 3.5].map((at) => [at, 'complete']))
      expect(engine.most).toBe(1)
      await clock.forward(0.5 * minute)
      expect((await runs(open)).map(([at]) => at)).toEqual([0, 3.5, 4])
    }))

  test('several jobs run at once, up to the limit; then the one that is due longest comes first', () =>
    withJobs(async (open) => {
      engine.answers = undefined
      for (const [i, name] of ['a', 'b', 'c', 'd'].entries()) await create(open, name, { every: null, start: `2026-01-01 00:0${4 - i}:00` })
      await clock.forward(5 * minute)
      expect(engine.queries).toEqual(["SELECT 'd'", "SELECT 'c'"])
      engine.asked[0]?.answer(ok())
      await settled()
      expect(engine.queries).toEqual(["SELECT 'd'", "SELECT 'c'", "SELECT 'b'"])
      for (const ask of engine.asked) ask.answer(ok())
      await settled()
      engine.asked.at(-1)?.answer(ok())
      await settled()
      expect([engine.asked.length, engine.most]).toEqual([4, 2])
    }, 2))
})

describe('what a run does', () => {
  test('its statements, in its project, in its own name, with the run as correlation', () =>
    withJobs(async (open) => {
      await create(open, 'J', { query: 'SELECT 1; SHOW MODELS' })
      const begun = (await eventsOf(open)).find(({ type }) => type === 'JobRunStarted')
      const { data, actor, source, correlation } = begun ?? {}
      const causation = `event/${begun?.position ?? 0}`
      expect({ actor, source, correlation }).toEqual({ actor: 'job:shop.J', source: 'system', correlation: data?.['run'] })
      expect(engine.asked.map(({ query, db, origin: of }) => ({ query, db, of }))).toEqual(
        ['SELECT 1', 'SHOW MODELS'].map((query) => ({
          query,
          db: 'shop',
          of: {
            ...{ actor: 'job:shop.J', source: 'sql', request: correlation, correlation, causation },
            during: { job: begun?.stream, run: correlation },
          },
        })),
      )
    }))

  test('up to the first statement that fails; what came of each is kept', () =>
    withJobs(async (open) => {
      const answers = [ok(7), failed(new Problem('not_found', 'No', 'there is no t', { hint: 'Look.' })), ok(9)]
      engine.answers = () => answers.shift() ?? ok()
      await create(open, 'j', { query: 'SELECT 1; SELECT 2; SELECT 3', every: null })
      const error = 'there is no t\nLook.'
      const statements = [
        { positions: [7], error: null },
        { positions: [], error },
      ]
      expect(await ends(open)).toEqual([{ run: expect.any(String), outcome: 'error', error, statements }])
      expect(engine.asked).toHaveLength(2)
    }))

  test('a SELECT that fails after its first rows is a failure, and a fault of the service does not end the jobs', () =>
    withJobs(async (open) => {
      engine.answers = () => ({ ...cutOff(), positions: [7] })
      await create(open, 'j')
      expect((await ends(open))[0]).toMatchObject({ statements: [{ positions: [7], error: 'too many rows' }] })
      engine.answers = () => {
        throw new TypeError('a fault')
      }
      await clock.forward(minute)
      engine.answers = () => ok()
      await clock.forward(minute)
      expect((await ends(open)).map(({ outcome, error }) => [outcome, error])).toEqual([
        ['error', 'too many rows'],
        ['error', 'a fault of this service; its log says more'],
        ['complete', null],
      ])
    }))

  test('a condition that fails after its first rows says so', () =>
    withJobs(async (open) => {
      engine.answers = cutOff
      await create(open, 'j', { ifQuery: 'SELECT 1', every: null })
      expect(await ends(open)).toMatchObject([{ error: 'the condition failed: too many rows', statements: [] }])
    }))

  test('a statement waits while SQL is starting or has too much to do', () =>
    withJobs(async (open) => {
      const answers = ['analytics_unavailable', 'busy'] as const
      let n = 0
      engine.answers = () => {
        const code = answers[n++]
        return code ? failed(new Problem(code, 'Not now', 'not now')) : ok(5)
      }
      await create(open, 'j', { every: null })
      expect(await ends(open)).toEqual([])
      await clock.forward(2_000)
      expect(await ends(open)).toMatchObject([{ outcome: 'complete', statements: [{ positions: [5], error: null }] }])
    }))

  test('a statement that has put in some of its documents is not sent again', () =>
    withJobs(async (open) => {
      engine.answers = () => failed(afterInserting(1_000, new Problem('busy', 'Not now', 'not now')))
      await create(open, 'j', { every: null })
      await clock.forward(5_000)
      const error = expect.stringMatching(/^not now; 1000 documents were inserted before, and stay\nLook which documents are in/)
      expect(await ends(open)).toMatchObject([{ outcome: 'error', error }])
      expect(engine.asked).toHaveLength(1)
    }))

  test('nothing but the question, when its condition gives no row or fails', () =>
    withJobs(async (open) => {
      engine.answers = ({ query }) => (query === 'SELECT 0' ? rows() : ok(5))
      await create(open, 'j', { ifQuery: 'SELECT 0' })
      engine.answers = ({ query }) => (query === 'SELECT 0' ? rows('', '[1]') : ok(5))
      await clock.forward(minute)
      engine.answers = () => failed(new Problem('not_found', 'No', 'there is no t'))
      await clock.forward(minute)
      expect((await ends(open)).map(({ outcome, error, statements }) => [outcome, error, statements])).toEqual([
        ['skipped', null, []],
        ['complete', null, [{ positions: [5], error: null }]],
        ['error', 'the condition failed: there is no t', []],
      ])
    }))

  test('placeholders say when it began, and when the run before did', () =>
    withJobs(async (open) => {
      await create(open, 'j', { query: "SELECT '{{PREVIOUS_START_DATETIME}}', '{{START_DATETIME}}'" })
      await clock.forward(minute)
      expect(engine.queries).toEqual(["SELECT NULL, '2026-01-01 00:00:00'", "SELECT '2026-01-01 00:00:00', '2026-01-01 00:01:00'"])
    }))

  test('a secret in its statements is there when it runs, and stars are in the log, also where an error repeats it', () =>
    withJobs(async (open) => {
      const query = "CREATE SKILL s USING type = 'sql', api_key = 'sk-planted'"
      engine.answers = () => failed(new Problem('not_found', 'No', "no such key: 'sk-planted'"))
      await create(open, 'j', { query, every: null })
      expect(engine.queries).toEqual([query])
      expect((await ends(open))[0]).toMatchObject({ error: "no such key: '******'", statements: [{ error: "no such key: '******'" }] })
      expect(JSON.stringify(await eventsOf(open))).not.toContain('sk-planted')
    }))

  test('a secret that was erased is said so', () =>
    withJobs(async (open) => {
      open.log.payload = async () => undefined
      await create(open, 'j', { query: "CREATE SKILL s USING type = 'sql', api_key = 'sk-planted'", every: null })
      expect(await ends(open)).toMatchObject([{ outcome: 'error', error: expect.stringContaining('were erased') }])
    }))
})

describe('a job that is changed', () => {
  test('runs at its new times, with its new statements', () =>
    withJobs(async (open) => {
      await create(open, 'j', { every: 'every 10 minutes' })
      await change(open, 'j', { query: 'SELECT 2', every: 'every 2 minutes' })
      await clock.forward(5 * minute)
      expect((await runs(open)).map(([at]) => at)).toEqual([0, 2, 4])
      expect(engine.queries).toEqual(["SELECT 'j'", 'SELECT 2', 'SELECT 2'])
      await change(open, 'j', { start: '2026-01-01 00:30:00' })
      await clock.forward(25 * minute)
      await change(open, 'j', { end: '2026-01-01 00:33:00' })
      await clock.forward(30 * minute)
      expect((await runs(open)).map(([at]) => at)).toEqual([0, 2, 4, 30, 32])
      expect(clock.due).toEqual([])
      await change(open, 'j', { start: 'now', end: null, every: null })
      expect((await runs(open)).map(([at]) => at)).toEqual([0, 2, 4, 30, 32, 60])
      expect(clock.due).toEqual([])
    }))

  test('while it runs ends the run with the old statements, and is due again at once if its start is now', () =>
    withJobs(async (open) => {
      engine.answers = undefined
      await create(open, 'j', { query: 'SELECT 1; SELECT 2', every: null })
      await clock.forward(minute)
      await change(open, 'j', { query: 'SELECT 3', start: 'now' })
      expect(engine.queries).toEqual(['SELECT 1'])
      engine.asked[0]?.answer(ok())
      await settled()
      engine.answers = () => ok()
      engine.asked[1]?.answer(ok())
      await settled()
      expect(engine.queries).toEqual(['SELECT 1', 'SELECT 2', 'SELECT 3'])
      expect(await runs(open)).toEqual([0, 1].map((at) => [at, 'complete']))
      expect(engine.most).toBe(1)
    }))

  test('goes on with LAST in each statement that reads the same by it, also after a run that the change came upon', () =>
    withJobs(async (open) => {
      const reading = (table: string, what = '*') => `SELECT ${what} FROM files.${table} WHERE id > LAST`
      const known: unknown[] = []
      let highest = 0
      const answer = ({ query, last }: SqlRequest) => {
        if (last?.wantsBase) return rows('')
        known.push([query, last?.known.map(({ value }) => value)])
        last?.note([{ column: 'id', type: 'BIGINT', value: String(++highest) }])
        return rows('[1]')
      }
      engine.answers = answer
      await create(open, 'j', { query: `${reading('a')}; ${reading('b')}` })
      await change(open, 'j', { query: `${reading('b', 'id')}; ${reading('c')}; ${reading('a', 'id')}` })
      await clock.forward(minute)
      expect(known.slice(2)).toEqual([
        [reading('b', 'id'), ['2']],
        [reading('c'), []],
        [reading('a', 'id'), ['1']],
      ])
      engine.answers = undefined
      known.length = 0
      await clock.forward(minute)
      const [upon] = engine.asked.splice(0).slice(-1)
      await change(open, 'j', { query: `${reading('a')}; ${reading('b')}` })
      engine.answers = answer
      upon?.answer(answer(upon))
      await settled()
      await clock.forward(minute)
      expect(known.slice(3)).toEqual([
        [reading('a'), ['8']],
        [reading('b'), ['6']],
      ])
    }))

  test('and whose run a crash cut off names the start of that run as the cause of its end', () =>
    withLog(async (open) => {
      engine.answers = undefined
      await serviceOver(open).start()
      await create(open, 'j')
      await change(open, 'j', { query: 'SELECT 2' })
      engine = new HandEngine()
      clock = Object.assign(new HandClock(), { time: clock.time + 0.5 * minute })
      const jobs = serviceOver(open)
      await jobs.start()
      const events = await eventsOf(open)
      const begun = events.find(({ type }) => type === 'JobRunStarted')?.position ?? 0
      expect(events.at(-1)).toMatchObject({ type: 'JobRunFinished', causation: `event/${begun}`, data: { outcome: 'interrupted' } })
      await jobs.stop()
    }))
})

describe('a run that is cut off', () => {
  test('by a crash is recorded as interrupted at the next start, and is not run again; what became due meanwhile runs once', () =>
    withLog(async (open) => {
      engine.answers = undefined
      await serviceOver(open).start()
      await create(open, 'j')
      await create(open, 'once', { every: null })
      expect(await runs(open)).toEqual([
        [0, 'running'],
        [0, 'running'],
      ])
      // The first service is never heard of again, as after SIGKILL.
      engine = new HandEngine()
      clock = Object.assign(new HandClock(), { time: clock.time + 2.5 * minute })
      const jobs = serviceOver(open)
      await jobs.start()
      await settled()
      expect(await runs(open)).toEqual([
        [0, 'interrupted'],
        [0, 'interrupted'],
        [2.5, 'complete'],
      ])
      expect(engine.queries).toEqual(["SELECT 'j'"])
      await jobs.stop()
    }))

  test('by a crash, and cannot be ended for a fault, does not keep the service from starting: it is ended before the next run', () =>
    withLog(async (open) => {
      engine.answers = undefined
      await serviceOver(open).start()
      await create(open, 'j')
      engine = new HandEngine()
      clock = Object.assign(new HandClock(), { time: clock.time + 2.5 * minute })
      const execute = open.ledger.execute.bind(open.ledger)
      let faults = 1
      open.ledger.execute = (...asked) =>
        asked[0].type === 'FinishJobRun' && faults-- > 0 ? Promise.reject(new TypeError('a fault')) : execute(...asked)
      const jobs = serviceOver(open)
      await jobs.start()
      await settled()
      expect(await runs(open)).toEqual([[0, 'running']])
      await clock.forward(limits.leaseLookIntervalMs)
      expect((await runs(open)).map(([, outcome]) => outcome)).toEqual(['interrupted', 'complete'])
      await jobs.stop()
    }))

  test('by a stop before its lease has come is not begun', () =>
    withLog(async (open) => {
      let grant: (() => void) | undefined
      const take: Leases['take'] = async (name) => {
        await new Promise<void>((resolve) => (grant = resolve))
        return soleLeases.take(name)
      }
      const jobs = new JobScheduler({ ...open, leases: { areShared: true, take }, engine, clock, logger })
      await jobs.start()
      await create(open, 'j')
      const stopped = jobs.stop()
      grant?.()
      await stopped
      expect(await runs(open)).toEqual([])
    }))

  test('by a stop is given time, then recorded as interrupted; nothing begins meanwhile', () =>
    withJobs(async (open, jobs) => {
      engine.answers = undefined
      await create(open, 'j')
      await create(open, 'quick')
      const stopped = jobs.stop()
      engine.asked[1]?.answer(ok())
      await settled()
      expect(await runs(open)).toEqual([
        [0, 'running'],
        [0, 'complete'],
      ])
      await clock.forward(limits.stopTimeoutMs)
      await stopped
      expect((await ends(open)).at(-1)).toMatchObject({ outcome: 'interrupted', error: 'the service stopped while it ran' })
      await clock.forward(5 * minute)
      expect(await runs(open)).toHaveLength(2)
    }))

  test('by its time limit ends as an error', () =>
    withJobs(async (open) => {
      engine.answers = undefined
      await create(open, 'j', { every: null })
      await clock.forward(limits.jobRunTimeoutMs)
      expect(await ends(open)).toMatchObject([{ outcome: 'error', error: expect.stringContaining('limit') }])
    }))

  test('by the end of its job is cancelled in the same commit, and its statements are stopped; the name can be used anew', () =>
    withJobs(async (open) => {
      engine.answers = undefined
      await create(open, 'j', { query: 'SELECT 1; SELECT 2' })
      const head = (await open.log.head()).position
      await drop(open, 'j')
      expect((await eventsOf(open)).slice(head).map(({ type }) => type)).toEqual(['JobRunFinished', 'JobDeleted'])
      await settled()
      expect([engine.asked.length, engine.asked[0]?.signal?.aborted]).toEqual([1, true])
      engine.answers = () => ok()
      await create(open, 'j')
      expect(await runs(open)).toEqual([
        [0, 'cancelled'],
        [0, 'complete'],
      ])
      await clock.forward(minute)
      expect(await runs(open)).toHaveLength(3)
    }))

  test('writes nothing more, no documents either; what it has used by then is still recorded', () =>
    withJobs(async (open) => {
      const { ledger } = open
      engine.answers = undefined
      await create(open, 'j', { every: null })
      const made = await ledger.execute({ type: 'CreateKnowledgeBase', data: { project: 'shop', knowledge_base: 'docs' } }, origin)
      const knowledge_base = streamId.parse(made.stream)
      const removed = { knowledge_base, documents: 1, removes: [{ position: 1, rows: [0] }] }
      const ofRun = engine.asked[0]!.origin
      const remove = (contents: number) => ledger.execute({ type: 'RemoveKnowledge', data: { name: 'docs', contents, removed } }, ofRun)
      await remove(0)
      await drop(open, 'j')
      expect(await refusal(remove(1))).toBe('not_ready')
      const asked = { provider: 'openai', model: 'small', host: 'localhost:1', input_tokens: 7, output_tokens: null, duration_ms: 1 }
      const searched: KnowledgeSearched = {
        ...{ knowledge_base, version: 1, purpose: 'query', read_at: null, embedding: asked, reranking: null },
        ...{ chunks: 0, outcome: 'failed', error: 'It was cut off', duration_ms: 1 },
      }
      await ledger.execute({ type: 'RecordSearch', data: searched }, ofRun)
      expect((await eventsOf(open)).slice(-3).map(({ type }) => type)).toEqual(['JobRunFinished', 'JobDeleted', 'KnowledgeSearched'])
    }))

  test('a project takes its jobs with it, the one that runs, too; a new name of it is theirs at once', () =>
    withJobs(async (open) => {
      engine.answers = undefined
      await create(open, 'j', { query: 'SELECT 1; SELECT 2' })
      await open.ledger.execute({ type: 'RenameProject', data: { project: 'shop', name: 'store', defaultProject: 'mindsdb' } }, origin)
      engine.asked[0]?.answer(ok())
      await settled()
      expect(engine.asked.map(({ db }) => db)).toEqual(['shop', 'store'])
      await open.ledger.execute({ type: 'DeleteProject', data: { project: 'store', defaultProject: 'mindsdb' } }, origin)
      await settled()
      expect(await runs(open)).toEqual([[0, 'cancelled']])
      await clock.forward(5 * minute)
      expect(engine.asked).toHaveLength(2)
      expect(clock.due).toEqual([])
    }))
})

test('a run that cannot be recorded is tried again after a while, not again and again', () =>
  withJobs(async (open) => {
    const execute = open.ledger.execute.bind(open.ledger)
    let refusals = 0
    open.ledger.execute = (command, ...rest) => {
      if (command.type !== 'StartJobRun' || refusals > 0) return execute(command, ...rest)
      refusals += 1
      return Promise.reject(new TypeError('a fault'))
    }
    await create(open, 'j', { every: null })
    expect([refusals, await runs(open)]).toEqual([1, []])
    await clock.forward(minute)
    expect(await runs(open)).toEqual([[1, 'complete']])
  }))

describe('a clock that is set', () => {
  const year = 365 * 24 * 60 * minute
  const hour = 60 * minute

  test('far ahead and back again runs nothing early, and everything when it is due', () =>
    withLog(async (open) => {
      const jobs = serviceOver(open)
      await jobs.start()
      await create(open, 'hourly', { start: '2026-01-01 01:00', every: 'every hour' })
      clock.set(year)
      await clock.forward(5 * minute)
      expect(engine.queries).toEqual([])
      clock.set(-year)
      await clock.forward(50 * minute)
      expect(engine.queries).toEqual([])
      await clock.forward(10 * minute)
      expect(engine.queries).toEqual([`SELECT 'hourly'`])
      await jobs.stop()
    }))

  test('back after a job has run under it does not keep the job waiting for the time to come again', () =>
    withLog(async (open) => {
      const jobs = serviceOver(open)
      await jobs.start()
      await create(open, 'hourly', { start: '2026-01-01 01:00', every: 'every hour' })
      clock.set(year)
      // A clock that stays as it was set is the clock.
      await clock.forward(limits.jobClockHoldMs + 2 * minute)
      expect(engine.queries).toHaveLength(1)
      clock.set(-year)
      await clock.forward(3 * hour)
      expect(engine.queries).toHaveLength(4)
      await jobs.stop()
    }))

  test('back while the service was down does not, either', () =>
    withLog(async (open) => {
      clock.set(year)
      const before = serviceOver(open)
      await before.start()
      await create(open, 'hourly', { start: '2026-01-01 01:00', every: 'every hour' })
      await clock.forward(minute)
      expect(engine.queries).toHaveLength(1)
      await before.stop()
      clock.set(-year)
      const after = serviceOver(open)
      await after.start()
      await clock.forward(2 * hour)
      expect(engine.queries).toHaveLength(3)
      await after.stop()
    }))
})
