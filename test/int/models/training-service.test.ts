import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pino } from 'pino'
import type { ModelVersion } from '../../../events/model.js'
import type { Resource, NewEvent } from '../../../src/log/contract/log.js'
import { Problem } from '../../../src/basics/errors.js'
import { Blobs } from '../../../src/files/blobs.js'
import type { TrainJob } from '../../../src/models/training/train-process.js'
import type { Trainer } from '../../../src/models/training/trainer.js'
import type { RowSource } from '../../../src/models/data/rows-file.js'
import { soleLeases, type Leases } from '../../../src/log/contract/leases.js'
import { DataChecks } from '../../../src/models/training/data-checks.js'
import { TrainingService } from '../../../src/models/training/training-service.js'
import { origin, refusal, stream, withLog, writes, type OpenLog } from '../../support/log/log.js'
import { filesUnder } from '../../support/observe/traces.js'
import { until } from '../../support/until.js'

const logger = pino({ level: 'silent' })
const crash = new Problem('internal', 'Training failed', `The training process ended: \0 half a character \ud83d`)

/** A trainer whose trainings all end as told. */
const trainerThat = (outcome: () => Promise<never>) =>
  ({ train: () => ({ result: outcome(), cancel: () => undefined }) }) as unknown as Trainer

const rows: RowSource = async () => ({ columns: [{ name: 'a', type: 'DOUBLE' }], chunks: (async function* () {})() })

/** The same rows, which come from a content. */
const rowsOf =
  (content: string): RowSource =>
  async (query, signal) => ({ ...(await rows(query, signal)), erasable: { contents: [content], records: false } })

/** A training that ends well. */
const finished = ({ matrixFile, artefactFile }: TrainJob) => {
  const written = Promise.all([writeFile(matrixFile, 'matrix'), writeFile(artefactFile, 'artefact')])
  return { result: written.then(() => ({ report: { rows: 1, metrics: {}, warnings: [] } })), cancel: () => undefined }
}

/** Work of a trainer that never ends by itself. */
const untilCancelled = () => {
  let cancel: () => void = () => undefined
  const result = new Promise<never>((_, reject) => (cancel = () => reject(crash)))
  return { result, cancel: () => cancel() }
}

const erase = ({ ledger }: OpenLog, content: string) => {
  const data = { what: 'file' as const, subject: 'files.f', reason: null, payloads: [], blobs: [content] }
  return ledger.execute({ type: 'EraseData', data }, origin)
}

const serviceOver = (
  { ledger, log, directory }: OpenLog,
  options: { trainer?: Trainer; select?: RowSource; blobs?: Blobs; leases?: Leases } = {},
) =>
  new TrainingService({
    leases: options.leases ?? soleLeases,
    ledger,
    log,
    blobs: options.blobs ?? new Blobs(join(directory, 'blobs')),
    trainer: options.trainer ?? trainerThat(() => Promise.reject(crash)),
    select: options.select ?? rows,
    temporary: join(directory, 'trainings'),
    logger,
  })

const request = {
  engine: 'boosted_trees',
  target: 'a',
  database: 'files',
  query: 'SELECT 1',
  using: {},
  seed: 1,
  activate: true,
  tag: null,
}

const createModel = async ({ ledger }: OpenLog, model: string): Promise<Resource<'model'>> => {
  await ledger.execute({ type: 'CreateProject', data: { project: 'shop', unlessExists: true } }, origin)
  const { resource } = await ledger.execute({ type: 'CreateModel', data: { project: 'shop', model, request } }, origin)
  if (resource?.kind !== 'model') throw new Error('no model was made')
  return resource
}

/** The first version, once its status is one of the two last ones. */
const settled = async ({ log }: OpenLog, { stream }: Resource<'model'>): Promise<ModelVersion | undefined> => {
  let version: ModelVersion | undefined
  await until(async () => {
    version = (await log.resources.byStream('model', stream))?.state.versions[0]
    return version?.status === 'complete' || version?.status === 'error'
  })
  return version
}

const unhandled: unknown[] = []
const note = (reason: unknown) => unhandled.push(reason)
beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', note)
})
afterEach(() => {
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

test('a failure whose message the log would refuse is recorded all the same, and the next training runs', () =>
  withLog(async (open) => {
    const trainings = serviceOver(open)
    await trainings.resume()
    const models = [await createModel(open, 'first'), await createModel(open, 'second')]
    for (const model of models)
      expect(await settled(open, model)).toMatchObject({ status: 'error', error: 'The training process ended:  half a character \ufffd' })
    await trainings.stop()
  }))

test('a log that cannot be read for a moment forgets no training', () =>
  withLog(async (open) => {
    const trainings = serviceOver(open)
    const model = await createModel(open, 'm')
    const byStream = open.log.resources.byStream.bind(open.log.resources)
    let failures = 1
    open.log.resources.byStream = (kind, stream) =>
      failures-- > 0 ? Promise.reject(new Problem('storage_failed', 'Storage failed', 'for a moment')) : byStream(kind, stream)
    await trainings.resume()
    // The service itself meets the failure.
    await until(() => failures <= 0)
    expect(await settled(open, model)).toMatchObject({ status: 'error' })
    await trainings.stop()
  }))

test('a fault in the reaction to requests delays a training, and loses none', () =>
  withLog(async (open) => {
    const trainings = serviceOver(open)
    const readAll = open.log.readAll.bind(open.log)
    let faults = 1
    open.log.readAll = (...asked) => (faults-- > 0 ? Promise.reject(new TypeError('a fault')) : readAll(...asked))
    await trainings.resume()
    for (const name of ['first', 'second']) expect(await settled(open, await createModel(open, name))).toMatchObject({ status: 'error' })
    await trainings.stop()
  }))

test('an interrupted training that cannot be ended for a fault does not keep the service from starting, and the next start ends it', () =>
  withLog(async (open) => {
    const [cut, other] = [await createModel(open, 'cut'), await createModel(open, 'other')]
    await open.ledger.execute({ type: 'StartTraining', data: { stream: cut.stream, version: 1 } }, origin)
    const execute = open.ledger.execute.bind(open.ledger)
    let faults = 1
    open.ledger.execute = (...asked) =>
      asked[0].type === 'FailTraining' && faults-- > 0 ? Promise.reject(new TypeError('a fault')) : execute(...asked)
    const trainings = serviceOver(open)
    await trainings.resume()
    expect(await settled(open, other)).toMatchObject({ status: 'error' })
    expect((await open.log.resources.byStream('model', cut.stream))?.state.versions[0]?.status).toBe('training')
    await trainings.stop()
    const again = serviceOver(open)
    await again.resume()
    expect(await settled(open, cut)).toMatchObject({ status: 'error' })
    await again.stop()
  }))

test('a training whose bytes are erased while they are stored is recorded with bytes that are there', () =>
  withLog(async (open) => {
    const blobs = new Blobs(join(open.directory, 'blobs'))
    const put = blobs.put.bind(blobs)
    let erasures = 1
    blobs.put = async (file) => {
      const sha = await put(file)
      if (erasures-- > 0) {
        // Another version has the same bytes.
        const data = { what: 'matrix' as const, subject: 'shop.other.1', reason: null, payloads: [], blobs: [sha] }
        await open.ledger.execute({ type: 'EraseData', data }, origin)
        await blobs.remove(sha)
      }
      return sha
    }
    const trainings = serviceOver(open, { blobs, trainer: { train: finished } as unknown as Trainer })
    const model = await createModel(open, 'm')
    await trainings.resume()
    const version = await settled(open, model)
    expect(version).toMatchObject({ status: 'complete' })
    for (const sha of [version?.result?.artefact, version?.result?.matrix]) expect(await blobs.has(sha ?? '')).toBe(true)
    await trainings.stop()
  }))

test('a training whose rows are erased leaves its files and begins again; an erasure of other data lets it go on', () =>
  withLog(async (open) => {
    const [content, other] = ['a'.repeat(64), 'b'.repeat(64)]
    const jobs: TrainJob[] = []
    const train = (job: TrainJob) => (jobs.push(job) === 1 ? untilCancelled() : finished(job))
    const trainings = serviceOver(open, { select: rowsOf(content), trainer: { train } as unknown as Trainer })
    const model = await createModel(open, 'm')
    await trainings.resume()
    await until(() => jobs.length === 1)
    const files = () => filesUnder(join(open.directory, 'trainings'))
    await erase(open, other)
    await trainings.purge()
    expect(files().map((file) => basename(file))).toEqual(['rows'])
    const [before] = files()
    await erase(open, content)
    await trainings.purge()
    expect(files()).not.toContain(before)
    expect(await settled(open, model)).toMatchObject({ status: 'complete' })
    expect(jobs).toHaveLength(2)
    await trainings.stop()
  }))

test('a training whose rows are erased again and again is given up, with the reason', () =>
  withLog(async (open) => {
    const content = 'a'.repeat(64)
    let begun = 0
    const train = () => {
      begun++
      return untilCancelled()
    }
    const trainings = serviceOver(open, { select: rowsOf(content), trainer: { train } as unknown as Trainer })
    const model = await createModel(open, 'm')
    await trainings.resume()
    for (let erasures = 0; erasures < 6; erasures++) {
      await until(() => begun === erasures + 1)
      await erase(open, content)
      await trainings.purge()
    }
    expect(await settled(open, model)).toMatchObject({ status: 'error', error: expect.stringContaining('was erased 6 times') })
    await trainings.stop()
  }))

test('a check of training data ends when its rows are erased, and its client may ask again', () =>
  withLog(async (open) => {
    const { log, directory } = open
    const content = 'a'.repeat(64)
    const select = rowsOf(content)
    const trainings = serviceOver(open, { select, trainer: { train: finished } as unknown as Trainer })
    const { stream } = await createModel(open, 'm')
    await trainings.resume()
    await until(async () => (await log.resources.byStream('model', stream))?.state.versions[0]?.status === 'complete')
    await trainings.stop()
    let isMaking = false
    const matrix = () => {
      isMaking = true
      return untilCancelled()
    }
    const checks = new DataChecks({
      ...{ log, blobs: new Blobs(join(directory, 'blobs')), trainer: { matrix } as unknown as Trainer, select },
      temporary: join(directory, 'checks'),
      resourcesAt: () => log.resources,
    })
    const model = await log.resources.byStream('model', stream)
    const checking = refusal(checks.check(model!, model!.state.versions[0]!, new AbortController().signal))
    await until(() => isMaking)
    await erase(open, content)
    await checks.purge()
    expect(filesUnder(join(directory, 'checks'))).toEqual([])
    expect(await checking).toBe('busy')
    await checks.stop()
  }))

test('a training that is cancelled while another runs, and a log that cannot be read just then, end nothing', () =>
  withLog(async (open) => {
    let finish: () => void = () => undefined
    const running = new Promise<never>((_, reject) => (finish = () => reject(crash)))
    // On a busy machine it fails before the service has asked for it.
    running.catch(() => undefined)
    let begin: () => void = () => undefined
    // The log says so earlier: the service reads it once more before it begins.
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const trainer = trainerThat(() => {
      begin()
      return running
    })
    const trainings = serviceOver(open, { trainer })
    const model = await createModel(open, 'm')
    const other = await createModel(open, 'other')
    await trainings.resume()
    await begun
    const byStream = open.log.resources.byStream.bind(open.log.resources)
    open.log.resources.byStream = () => Promise.reject(new Error('cannot be read'))
    await open.ledger.execute({ type: 'CancelTraining', data: { project: 'shop', model: 'other', version: null } }, origin)
    await new Promise((resolve) => setTimeout(resolve, 20))
    open.log.resources.byStream = byStream
    expect(await settled(open, other)).toMatchObject({ status: 'error' })
    expect((await byStream('model', model.stream))?.state.versions[0]?.status).toBe('training')
    finish()
    expect(await settled(open, model)).toMatchObject({ status: 'error' })
    await trainings.stop()
  }))

test('how far a training is can be told from its beginning on, while its rows are read', () =>
  withLog(async (open) => {
    let found: () => void = () => undefined
    const isReading = new Promise<void>((resolve) => (found = resolve))
    const select: RowSource = (_query, signal) => {
      found()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(crash)))
    }
    const trainings = serviceOver(open, { select })
    const { stream } = await createModel(open, 'm')
    expect(trainings.progressOf(stream, 1)).toBeUndefined()
    await trainings.resume()
    await isReading
    expect(trainings.progressOf(stream, 1)).toEqual({ phase: 'prepare', done: 0, total: 1 })
    await trainings.stop()
    expect(trainings.progressOf(stream, 1)).toBeUndefined()
  }))

test('rows of a query that were not read to their end are given up with the training', () =>
  withLog(async (open) => {
    let signal: AbortSignal | undefined
    const select: RowSource = async (_query, given) => {
      signal = given
      return {
        columns: [],
        chunks: (async function* () {
          throw new Problem('query_failed', 'Failed', 'in the middle')
        })(),
      }
    }
    const trainings = serviceOver(open, { select })
    const model = await createModel(open, 'm')
    await trainings.resume()
    expect(await settled(open, model)).toMatchObject({ error: 'in the middle' })
    expect(signal?.aborted).toBe(true)
    await trainings.stop()
  }))

test('a training reads its rows in the name of who asked for it, also when another run of the service takes it up', () =>
  withLog(async (open) => {
    const users: unknown[] = []
    const select: RowSource = (query, signal) => {
      users.push(query.user)
      return rows(query, signal)
    }
    const model = await createModel(open, 'm')
    const request = { seed: 2, activate: true }
    const first = serviceOver(open, { select })
    await first.resume()
    expect(await settled(open, model)).toMatchObject({ status: 'error' })
    await first.stop()
    const retrain = { type: 'RetrainModel' as const, data: { project: 'shop', model: 'm', request } }
    await open.ledger.execute(retrain, { ...origin, actor: 'job:shop.nightly' })
    const second = serviceOver(open, { select })
    await second.resume()
    await until(() => users.length === 2)
    await second.stop()
    expect(users).toEqual([origin.actor, 'job:shop.nightly'])
  }))

test('whoever writes the request, it is trained: nothing but the log says so', () =>
  withLog(async (open) => {
    const trainings = serviceOver(open)
    await trainings.resume()
    const before = await createModel(open, 'by a command')
    expect(await settled(open, before)).toMatchObject({ status: 'error' })
    const wanted = stream(77)
    const events: NewEvent[] = [
      { stream: wanted, event: { type: 'ModelCreated', data: { project: before.state.project, name: 'by an import' } } },
      { stream: wanted, event: { type: 'ModelTrainingRequested', data: { ...request, version: 1 } } },
    ]
    await open.log.submit(writes(...events))
    expect(await settled(open, { ...before, stream: wanted })).toMatchObject({ status: 'error' })
    await trainings.stop()
  }))

test('what is asked for while the service starts is trained once, and not taken for interrupted', () =>
  withLog(async (open) => {
    let trained = 0
    const trainer = trainerThat(() => {
      trained++
      return Promise.reject(crash)
    })
    const trainings = serviceOver(open, { trainer })
    const models = [await createModel(open, 'first')]
    const resumed = trainings.resume()
    models.push(await createModel(open, 'second'))
    await resumed
    models.push(await createModel(open, 'third'))
    for (const model of models)
      expect(await settled(open, model)).toMatchObject({ error: 'The training process ended:  half a character \ufffd' })
    await trainings.stop()
    expect(trained).toBe(3)
  }))

test('a training whose lease comes while the service stops is not begun, and its lease is given back', () =>
  withLog(async (open) => {
    let grant: (() => void) | undefined
    let released = 0
    const take: Leases['take'] = async (name) => {
      await new Promise<void>((resolve) => (grant = resolve))
      const lease = await soleLeases.take(name)
      return lease && { ...lease, release: async () => void released++ }
    }
    const trainings = serviceOver(open, { leases: { areShared: true, take } })
    await trainings.resume()
    const model = await createModel(open, 'm')
    await until(() => grant !== undefined)
    const stopped = trainings.stop()
    grant?.()
    await stopped
    expect(released).toBe(1)
    expect((await open.log.resources.byStream('model', model.stream))?.state.versions[0]?.status).toBe('generating')
  }))

test('after a stop nothing is begun; what waits is left for the next start', () =>
  withLog(async (open) => {
    const trainings = serviceOver(open)
    await trainings.resume()
    await trainings.stop()
    const model = await createModel(open, 'm')
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect((await open.log.resources.byStream('model', model.stream))?.state.versions[0]?.status).toBe('generating')
  }))
