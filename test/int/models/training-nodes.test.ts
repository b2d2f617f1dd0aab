import { expect, test } from '@jest/globals'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import type { StreamId } from '../../../events/common.js'
import type { ModelVersion } from '../../../events/model.js'
import { Problem } from '../../../src/basics/errors.js'
import type { Ledger } from '../../../src/commands/ledger.js'
import { Blobs } from '../../../src/files/blobs.js'
import type { Lease } from '../../../src/log/contract/leases.js'
import type { Trainer } from '../../../src/models/training/trainer.js'
import type { TrainJob } from '../../../src/models/training/train-process.js'
import type { RowSource } from '../../../src/models/data/rows-file.js'
import { TrainingService } from '../../../src/models/training/training-service.js'
import { ForgetfulLedger } from '../../support/log/forgetful-ledger.js'
import { logServer } from '../../support/log/each-log.js'
import { origin } from '../../support/log/log.js'
import { newest, runOut, runSql, withNodesOf, type Node } from '../../support/log/nodes.js'
import { until } from '../../support/until.js'

const { server } = logServer()

const logger = pino({ level: 'silent' })
const rows: RowSource = async () => ({ columns: [{ name: 'a', type: 'DOUBLE' }], chunks: (async function* () {})() })
const report = { rows: 1, metrics: {}, warnings: [] }

/** A trainer whose trainings end when they are told to. */
class HandTrainer {
  readonly begun: { finish: () => Promise<void>; fail: () => void }[] = []

  train = ({ matrixFile, artefactFile }: TrainJob) => {
    let cancel: () => void = () => undefined
    const result = new Promise((resolve, reject) => {
      cancel = () => reject(new Problem('not_ready', 'Training cancelled', 'it was cancelled'))
      const finish = async () => {
        await writeFile(matrixFile, 'matrix')
        await writeFile(artefactFile, 'artefact')
        resolve({ report, artefactSha256: '' })
      }
      this.begun.push({ finish, fail: cancel })
    })
    return { result, cancel: () => cancel() }
  }
}

type Worker = { node: Node; trainer: HandTrainer; trainings: TrainingService; taken: Lease[] }

const workerOn = (node: Node, ledger: Ledger = node.ledger): Worker => {
  const trainer = new HandTrainer()
  const taken: Lease[] = []
  const take = async (name: string) => {
    const lease = await node.leases.take(name)
    if (lease) taken.push(lease)
    return lease
  }
  const trainings = new TrainingService({
    ...{ ledger, log: node.log, leases: { areShared: true, take }, lookMs: 20 },
    ...{ trainer: trainer as unknown as Trainer, select: rows, logger },
    blobs: new Blobs(join(node.directory, 'blobs')),
    temporary: join(node.directory, 'trainings'),
  })
  return { node, trainer, trainings, taken }
}

const request = {
  ...{ engine: 'boosted_trees', target: 'a', database: 'files', query: 'SELECT 1', using: {} },
  ...{ seed: 1, activate: true, tag: null },
}

const createModel = async ({ ledger }: Node, model: string): Promise<StreamId> => {
  await ledger.execute({ type: 'CreateProject', data: { project: 'shop', unlessExists: true } }, origin)
  const { stream } = await ledger.execute({ type: 'CreateModel', data: { project: 'shop', model, request } }, origin)
  return stream as StreamId
}

const versionOf = async ({ log }: Node, stream: StreamId): Promise<ModelVersion | undefined> => {
  await newest(log)
  return (await log.resources.byStream('model', stream))?.state.versions[0]
}

const countOf = async ({ log }: Node, ...types: string[]): Promise<number> => {
  await newest(log)
  return (await log.readAll(0, 10_000)).filter(({ text }) => types.includes(parseEnvelope(text).type)).length
}

/** Takes the lease of a training away from its node, as if it had fallen silent. */
const takeAway = async (url: string): Promise<void> => {
  await runOut(url, 'training:%', 'gone')
  await runSql(url, `UPDATE mindledger.leases SET until = clock_timestamp() WHERE name LIKE 'training:%'`)
}

const begunBy = (workers: readonly Worker[]): number => workers.reduce((sum, { trainer }) => sum + trainer.begun.length, 0)

test('each version is trained by one node, and nodes train side by side', () =>
  withNodesOf(server(), 2, async (nodes) => {
    const workers = nodes.map((node) => workerOn(node))
    await Promise.all(workers.map(({ trainings }) => trainings.resume()))
    const models = await Promise.all(['m', 'n', 'o'].map((name) => createModel(nodes[0]!, name)))
    await until(() => workers.every(({ trainer }) => trainer.begun.length === 1))
    const [first] = workers[0]!.trainer.begun
    await first!.finish()
    await until(() => begunBy(workers) === 3)
    const others = workers.flatMap(({ trainer }) => trainer.begun).filter((one) => one !== first)
    await Promise.all(others.map(({ finish }) => finish()))
    for (const model of models) await until(async () => (await versionOf(nodes[1]!, model))?.status === 'complete')
    await Promise.all(workers.map(({ trainings }) => trainings.stop()))
    expect(begunBy(workers)).toBe(3)
    expect(await countOf(nodes[0]!, 'ModelTrainingStarted')).toBe(3)
    expect(await countOf(nodes[0]!, 'ModelTrained')).toBe(3)
  }))

test('the training of a node that fell silent begins again on another; its late result and its failure change nothing', () =>
  withNodesOf(server(), 2, async (nodes) => {
    const [silent, other] = nodes.map((node) => workerOn(node)) as [Worker, Worker]
    const models = [await createModel(silent.node, 'm'), await createModel(silent.node, 'n')]
    await silent.trainings.resume()
    await until(() => silent.trainer.begun.length === 1)
    await newest(other.node.log)
    await other.trainings.resume()
    // The other node trains the second version, and stands by for the first.
    await until(() => other.trainer.begun.length === 1)
    await other.trainer.begun[0]!.finish()
    await until(async () => (await versionOf(other.node, models[1]!))?.status === 'complete')
    // It is no longer free, so the silent node cannot take it again first.
    await runOut(silent.node.url, 'training:%', other.node.holder)
    await until(() => other.trainer.begun.length === 2)
    // By its own clock it counts it as lost before another node has it; here it hears of that with the next renewal.
    await until(() => silent.taken[0]!.lost.aborted)
    silent.trainer.begun[0]!.fail()
    await other.trainer.begun[1]!.finish()
    for (const model of models) await until(async () => (await versionOf(silent.node, model))?.status === 'complete')
    await Promise.all([silent.trainings.stop(), other.trainings.stop()])
    expect(await countOf(silent.node, 'ModelTrainingStarted')).toBe(2)
    expect(await countOf(silent.node, 'ModelTrained', 'ModelTrainingFailed')).toBe(2)
  }))

test('a training whose lease is lost stops, does not fail, and begins again where the lease is granted', () =>
  withNodesOf(server(), 1, async ([node]) => {
    const { trainer, trainings } = workerOn(node!)
    await trainings.resume()
    const model = await createModel(node!, 'm')
    await until(() => trainer.begun.length === 1)
    await takeAway(node!.url)
    await until(() => trainer.begun.length === 2, 60_000)
    await trainer.begun[1]!.finish()
    await until(async () => (await versionOf(node!, model))?.status === 'complete')
    await trainings.stop()
    expect(await countOf(node!, 'ModelTrained', 'ModelTrainingFailed')).toBe(1)
  }))

test('a node that stops leaves its training to another at once', () =>
  withNodesOf(server(), 2, async (nodes) => {
    const [first, other] = nodes.map((node) => workerOn(node)) as [Worker, Worker]
    const model = await createModel(first.node, 'm')
    await first.trainings.resume()
    await until(() => first.trainer.begun.length === 1)
    await newest(other.node.log)
    await other.trainings.resume()
    await first.trainings.stop()
    await until(() => other.trainer.begun.length === 1)
    await other.trainer.begun[0]!.finish()
    await until(async () => (await versionOf(first.node, model))?.status === 'complete')
    await other.trainings.stop()
  }))

test('a training whose steps were recorded without a word about it is trained once, and complete', () =>
  withNodesOf(server(), 1, async ([node]) => {
    const ledger = new ForgetfulLedger(node!.log, node!.vault, ['StartTraining', 'CompleteTraining'])
    const { trainer, trainings } = workerOn(node!, ledger)
    await trainings.resume()
    const model = await createModel(node!, 'm')
    await until(() => trainer.begun.length === 1)
    await trainer.begun[0]!.finish()
    await until(async () => ['complete', 'error'].includes((await versionOf(node!, model))?.status ?? ''))
    await trainings.stop()
    expect((await versionOf(node!, model))?.status).toBe('complete')
    expect(trainer.begun).toHaveLength(1)
    expect(await countOf(node!, 'ModelTrainingStarted', 'ModelTrained', 'ModelTrainingFailed')).toBe(2)
  }))

test('a training that ends one node after the other is given up', () =>
  withNodesOf(server(), 1, async ([node]) => {
    const model = await createModel(node!, 'm')
    await runSql(
      node!.url,
      `INSERT INTO mindledger.leases VALUES ('training:${model}:1', 'gone', nextval('mindledger.lease_epochs'), 2, clock_timestamp())`,
    )
    const { trainer, trainings } = workerOn(node!)
    await trainings.resume()
    await until(async () => (await versionOf(node!, model))?.status === 'error')
    expect(trainer.begun).toEqual([])
    expect((await versionOf(node!, model))?.error).toContain('3 nodes were lost')
    await trainings.stop()
  }))
