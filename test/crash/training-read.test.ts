import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { pino } from 'pino'
import { SqlProcess } from '../../src/sql-process/sql-process.js'
import type { SqlProcessLimits } from '../../src/sql-process/contract/options.js'
import { Ledger } from '../../src/commands/ledger.js'
import { Blobs } from '../../src/files/blobs.js'
import { prepareDataDirectory } from '../../src/setup/data-directory.js'
import { SqliteLog } from '../../src/log/sqlite/sqlite-log.js'
import { retryWhileUnavailable } from '../../src/sql/contract/retry-while-unavailable.js'
import { Trainer } from '../../src/models/training/trainer.js'
import { soleLeases } from '../../src/log/contract/leases.js'
import { TrainingService } from '../../src/models/training/training-service.js'
import { askRows } from '../../src/sql/facade/training/training-queries.js'
import { Vault } from '../../src/vault/vault.js'
import { until } from '../support/until.js'
import { origin, temporaryDirectory, testKey } from '../support/log/log.js'
import { signalTo } from '../support/processes.js'

type Open = { directory: string; log: SqliteLog; ledger: Ledger; sqlProcess: SqlProcess }

/** Trainings with the real processes: the one that answers SQL, and those that learn. */
const withTrainings = async (limits: Partial<SqlProcessLimits>, readTimeoutMs: number, run: (open: Open) => Promise<void>) => {
  const { path: directory, remove } = temporaryDirectory()
  const paths = prepareDataDirectory(directory)
  const vault = new Vault(testKey)
  const log = new SqliteLog({ file: paths.log, vault })
  const ledger = new Ledger(log, vault)
  await ledger.execute({ type: 'CreateProject', data: { project: 'shop' } }, origin)
  const sqlProcess = await SqlProcess.start({ dataDirectory: directory, masterKeys: () => [testKey], limits })
  const trainings = new TrainingService({
    leases: soleLeases,
    ...{ ledger, log, trainer: new Trainer(), blobs: new Blobs(paths.blobs), temporary: join(directory, 'trainings') },
    select: askRows(sqlProcess, 'shop', () => []),
    logger: pino({ level: 'silent' }),
    readTimeoutMs,
  })
  await trainings.resume()
  try {
    await run({ directory, log, ledger, sqlProcess })
  } finally {
    await trainings.stop()
    await sqlProcess.stop()
    await log.close()
    remove()
  }
}

/** Begins to learn from the rows of a query, and gives what tells how the version is. */
const begin = async ({ ledger, log }: Open, query: string) => {
  const request = { engine: 'constant', target: 'a', database: 'shop', query, using: {}, seed: 1, activate: true, tag: null }
  const { resource } = await ledger.execute({ type: 'CreateModel', data: { project: 'shop', model: 'm', request } }, origin)
  if (resource?.kind !== 'model') throw new Error('no model was made')
  const { stream } = resource
  const version = async () => (await log.resources.byStream('model', stream))?.state.versions[0]
  return async () => {
    await until(async () => ['complete', 'error'].includes((await version())?.status ?? ''))
    return version()
  }
}

/** The bytes of the rows that the running training has read. */
const bytesRead = ({ directory }: Open): number => {
  try {
    const trainings = join(directory, 'trainings')
    return readdirSync(trainings).reduce((sum, work) => sum + statSync(join(trainings, work, 'rows')).size, 0)
  } catch {
    // It has not begun to read.
    return 0
  }
}

/** Rows that take some seconds in all. They are wide, so that DuckDB gives the first ones long before it has the last. */
const rows = 20_000
const slow = `SELECT n AS a, repeat('x', 1000) AS b FROM range(${rows}) AS t(n) WHERE md5(repeat(n::VARCHAR, 5000)) > ''`

test('a training whose SQL process is killed in the middle of its rows reads them again, and ends complete', () =>
  withTrainings({}, 1_200_000, async (open) => {
    const ended = await begin(open, slow)
    await until(() => bytesRead(open) > 0)
    expect(bytesRead(open)).toBeLessThan((1000 * rows) / 2)
    signalTo(open.sqlProcess.pid, 'SIGKILL')
    const version = await ended()
    expect(version).toMatchObject({ status: 'complete', error: null, result: { rows } })
    expect(open.sqlProcess.status()).toMatchObject({ restarts: 1 })
  }))

test('a training that asks while there is no SQL process waits for the next one', () =>
  withTrainings({ startWaitMs: 1 }, 1_200_000, async (open) => {
    signalTo(open.sqlProcess.pid, 'SIGKILL')
    await until(() => !open.sqlProcess.status().ready)
    const ended = await begin(open, 'SELECT n AS a FROM range(100) AS t(n)')
    expect(await ended()).toMatchObject({ status: 'complete' })
  }))

test('a training reads for longer than a query of a client may take', () =>
  withTrainings({ timeoutMs: 500, answerMaxAgeMs: 500 }, 1_200_000, async (open) => {
    const { position: upTo } = await open.log.head()
    const asked = async () => {
      const { rows } = await open.sqlProcess.query({ sql: slow, db: 'shop', defaultProject: 'shop', upTo })
      for await (const _ of rows);
    }
    // On a busy machine the tables may not reach the head of the log in this time either: that is another refusal, which passes.
    await expect(retryWhileUnavailable(asked, new AbortController().signal)).rejects.toMatchObject({ code: 'query_limit' })
    const ended = await begin(open, slow)
    expect(await ended()).toMatchObject({ status: 'complete', error: null, result: { rows } })
  }))

test('a training whose rows are not read within their own limit says so by its name', () =>
  withTrainings({}, 500, async (open) => {
    const ended = await begin(open, 'SELECT count(*) AS a FROM range(1e12::BIGINT) AS t(n) GROUP BY n % 7')
    expect(await ended()).toMatchObject({ status: 'error', error: expect.stringContaining('were not read within 500 ms') })
    await until(() => open.sqlProcess.status().running === 0)
  }))
