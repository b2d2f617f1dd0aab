import { expect, test } from '@jest/globals'
import { pino } from 'pino'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import type { StreamId } from '../../../events/common.js'
import { limits } from '../../../src/basics/limits.js'
import type { Ledger } from '../../../src/commands/ledger.js'
import type { JobClock } from '../../../src/jobs/clock.js'
import { JobScheduler } from '../../../src/jobs/scheduler.js'
import type { SqlExecutor } from '../../../src/jobs/run.js'
import type { SharedLog } from '../../../src/log/shared/shared-log.js'
import type { SqlAnswer } from '../../../src/sql/contract/answer.js'
import type { SqlRequest } from '../../../src/sql/contract/request.js'
import { readJob } from '../../../src/sql/facade/commands/job-definition.js'
import { ForgetfulLedger } from '../../support/log/forgetful-ledger.js'
import { logServer } from '../../support/log/each-log.js'
import { origin, refusal } from '../../support/log/log.js'
import { newest, runOut, runSql, withNodesOf, type Node } from '../../support/log/nodes.js'
import { until } from '../../support/until.js'

const { server } = logServer()

const logger = pino({ level: 'silent' })
const answer: SqlAnswer = { type: 'ok', affected_rows: null, context: { db: 'shop', show_secrets: false }, positions: [] }

/** A clock on which a second is a minute. Only a stop has as much time for its runs as elsewhere. */
const fastClock = (): JobClock => {
  const began = performance.now()
  const elapsed = () => (performance.now() - began) * 60
  const start = Date.parse('2026-01-01T00:00:00Z')
  return {
    now: () => start + elapsed(),
    uptime: elapsed,
    wait: (milliseconds, callback) => {
      const timer = setTimeout(callback, milliseconds === limits.stopTimeoutMs ? milliseconds : milliseconds / 60)
      return () => clearTimeout(timer)
    },
  }
}

/** An engine that notes what it is asked, and answers at once, or when it is told to. */
class NotingEngine implements SqlExecutor {
  readonly asked: SqlRequest[] = []
  answers = true

  execute = (request: SqlRequest): Promise<SqlAnswer> => {
    this.asked.push(request)
    return new Promise((resolve) => {
      if (this.answers) resolve(answer)
      request.signal?.addEventListener('abort', () => resolve(answer))
    })
  }
}

type Worker = { node: Node; engine: NotingEngine; jobs: JobScheduler }

const workerOn = async (node: Node, clock: JobClock, ledger: Ledger = node.ledger): Promise<Worker> => {
  const engine = new NotingEngine()
  const jobs = new JobScheduler({ ledger, log: node.log, leases: node.leases, engine, clock, logger })
  return { node, engine, jobs }
}

const createJob = async ({ ledger }: { ledger: Ledger }, clock: JobClock, changes: object = {}): Promise<StreamId> => {
  await ledger.execute({ type: 'CreateProject', data: { project: 'shop', unlessExists: true } }, origin)
  const asked = { query: 'SELECT 1', ifQuery: null, start: null, end: null, every: 'every minute', ...changes }
  const data = { project: 'shop', job: 'j', ...(await readJob(asked, clock.now())) }
  const { stream } = await ledger.execute({ type: 'CreateJob', data }, origin)
  return stream as StreamId
}

type RunOf = { run: string; dueAt: string; outcome: unknown; ends: number }

const runsOf = async (log: SharedLog): Promise<RunOf[]> => {
  await newest(log)
  const events = (await log.readAll(0, 10_000)).map(({ text }) => parseEnvelope(text))
  return events
    .filter(({ type }) => type === 'JobRunStarted')
    .map(({ data }) => {
      const ends = events.filter((other) => other.type === 'JobRunFinished' && other.data['run'] === data['run'])
      return { run: data['run'] as string, dueAt: data['due_at'] as string, outcome: ends[0]?.data['outcome'], ends: ends.length }
    })
}

/** The run of a node that is gone. */
const leaveRun = async ({ ledger, url }: Node, clock: JobClock, until: string): Promise<string> => {
  const stream = await createJob({ ledger }, clock)
  const run = '01a210ee-2f8c-7cc1-b7b2-a8cc799aa263'
  await runSql(url, `INSERT INTO mindledger.leases VALUES ('job:${stream}', 'gone', nextval('mindledger.lease_epochs'), 0, ${until})`)
  const now = new Date(clock.now()).toISOString().replace('Z', '000Z')
  await ledger.execute({ type: 'StartJobRun', data: { stream, run, now } }, origin)
  return run
}

test('each due time has one run on one node, and every run one end', () =>
  withNodesOf(server(), 3, async (nodes) => {
    const clock = fastClock()
    const workers = await Promise.all(nodes.map((node) => workerOn(node, clock)))
    await Promise.all(workers.map(({ jobs }) => jobs.start()))
    await createJob(nodes[0]!, clock)
    await until(async () => (await runsOf(nodes[1]!.log)).length >= 8)
    await Promise.all(workers.map(({ jobs }) => jobs.stop()))
    const runs = await runsOf(nodes[2]!.log)
    expect(new Set(runs.map(({ dueAt }) => dueAt)).size).toBe(runs.length)
    expect(runs.filter(({ outcome, ends }) => outcome !== 'complete' || ends !== 1)).toEqual([])
    const carriedOut = workers.flatMap(({ engine }) => engine.asked.map(({ origin: of }) => of.correlation))
    expect(carriedOut.sort()).toEqual(runs.map(({ run }) => run).sort())
  }))

test('a run whose node is silent is left to it as long as its lease lasts; then another ends it, and runs the job', () =>
  withNodesOf(server(), 2, async ([a, b]) => {
    const clock = fastClock()
    const run = await leaveRun(a!, clock, `'infinity'`)
    const { jobs, engine } = await workerOn(b!, clock)
    await newest(b!.log)
    const { leases } = b!
    const take = leases.take.bind(leases)
    let refused = 0
    leases.take = async (name) => {
      const lease = await take(name)
      if (!lease) refused += 1
      return lease
    }
    await jobs.start()
    // It has asked for the lease at its start, and when it looked again.
    await until(() => refused > 3 || engine.asked.length > 0)
    expect(await runsOf(b!.log)).toMatchObject([{ run, ends: 0 }])
    expect(engine.asked).toEqual([])
    await runSql(a!.url, `UPDATE mindledger.leases SET until = clock_timestamp()`)
    await until(() => engine.asked.length > 0)
    await jobs.stop()
    const [first, second] = await runsOf(b!.log)
    expect(first).toMatchObject({ run, outcome: 'interrupted', ends: 1 })
    expect(second).toMatchObject({ ends: 1 })
  }))

test('a run whose begin and end were recorded without a word about it is carried out once, and complete', () =>
  withNodesOf(server(), 1, async ([a]) => {
    const clock = fastClock()
    const { jobs, engine } = await workerOn(a!, clock, new ForgetfulLedger(a!.log, a!.vault, ['StartJobRun', 'FinishJobRun']))
    await jobs.start()
    await createJob(a!, clock, { every: null })
    await until(async () => (await runsOf(a!.log))[0]?.ends === 1)
    await jobs.stop()
    const runs = await runsOf(a!.log)
    expect(runs).toMatchObject([{ outcome: 'complete', ends: 1 }])
    expect(engine.asked.map(({ origin: of }) => of.correlation)).toEqual([runs[0]?.run])
    const events = (await a!.log.readAll(0, 100)).map(({ text }) => parseEnvelope(text))
    const started = events.find(({ type }) => type === 'JobRunStarted')
    expect(engine.asked[0]?.origin.causation).toContain(String(started?.position))
  }))

test('a node that was cut off ends its run, writes nothing of it any more, and its late end changes nothing', () =>
  withNodesOf(server(), 2, async ([a, b]) => {
    const clock = fastClock()
    const [slow, other] = [await workerOn(a!, clock), await workerOn(b!, clock)]
    slow.engine.answers = false
    await slow.jobs.start()
    await createJob(a!, clock, { every: null })
    await until(() => slow.engine.asked.length > 0)
    const [request] = slow.engine.asked
    const write = () => a!.ledger.execute({ type: 'CreateProject', data: { project: `p${Math.random()}` } }, request!.origin)
    await write()
    await runOut(a!.url, 'job:%', 'gone')
    await runSql(a!.url, 'UPDATE mindledger.leases SET until = clock_timestamp()')
    await newest(b!.log)
    await other.jobs.start()
    await until(async () => (await runsOf(b!.log))[0]?.outcome === 'interrupted')
    expect(await refusal(write())).toBe('not_ready')
    await until(() => request!.signal?.aborted === true)
    await Promise.all([slow.jobs.stop(), other.jobs.stop()])
    expect(await runsOf(b!.log)).toMatchObject([{ outcome: 'interrupted', ends: 1 }])
  }))
