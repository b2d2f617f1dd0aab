import { join } from 'node:path'
import type { Logger } from 'pino'
import { foldName, streamId, unreachable, type JsonObject, type StreamId } from '../../../events/common.js'
import type { ModelEvent, ModelVersion, TrainingResult } from '../../../events/model.js'
import type { Ledger } from '../../commands/ledger.js'
import type { LedgerCommand } from '../../commands/dispatch.js'
import { isProblem, Problem } from '../../basics/errors.js'
import { holding, type BlobStore, type FileOf } from '../../files/blob-store.js'
import { hashFile, inOwnDirectory } from '../../basics/disk.js'
import { limits } from '../../basics/limits.js'
import { causedBy } from '../../log/contract/origins.js'
import { startProcessor, type Processing } from '../../log/emmett/processor.js'
import type { RecordedEvent } from '../../log/emmett/recorded-event.js'
import { retryWhileBusy } from '../../basics/retry-while-busy.js'
import type { Lease, Leases } from '../../log/contract/leases.js'
import type { Resources } from '../../log/contract/log.js'
import { databaseOf } from '../../commands/rules/data-source.js'
import { isEngineName, unknownEngine } from '../../catalogue/engines.js'
import { baseVersionKey, optionsOf } from '../../catalogue/engine-options.js'
import type { Base } from '../data/fine-tuning.js'
import type { Progress } from '../engines/tables/fit.js'
import { goneProblem, keptRows } from './kept-rows.js'
import { importsFile, refuseToTrain } from '../../catalogue/onnx-import.js'
import { uploadedModel } from '../engines/onnx/uploaded.js'
import { inReadTime, patiently } from '../numerics/patience.js'
import { writeRows, type RowsQuery, type Select } from '../data/rows-file.js'
import { runtimeHere, accuracyOf, reasonOf, trainingRequest } from './training-record.js'
import type { TrainJob } from './train-process.js'
import type { Trainer, Training } from './trainer.js'
import { unrepeatable, type Nondeterminism } from '../data/warnings.js'

type Wanted = { model: StreamId; version: number }
/** Where a training has its own files, and how it comes by those of blobs. */
type Place = { work: string; fileOf: FileOf }
/** A version that was asked for, and the name of its model. */
type Asked = { name: string; request: ModelVersion }
type Running = Wanted & { abort: AbortController; progress: Progress; training?: Training }
type Options = {
  ledger: Ledger
  leases: Leases
  blobs: BlobStore
  trainer: Trainer
  select: Select
  nondeterminism: (query: RowsQuery, signal: AbortSignal) => Promise<Nondeterminism[]>
  temporary: string
  logger: Logger
  /** The time limit for reading the rows of a training; `trainingReadTimeoutMs` by default. */
  readTimeoutMs?: number
  /** How often it looks for trainings that other nodes left; `leaseLookIntervalMs` by default. */
  lookMs?: number
}

/** The events that trainings react to: new requests, and what may make a running training pointless. */
const reasons = ['ModelTrainingRequested', 'ModelTrainingFailed', 'ModelVersionDeleted', 'ModelDeleted'] as const
type Reason = Extract<ModelEvent, { type: (typeof reasons)[number] }>

const asTrainer = { actor: 'trainer', source: 'system' } as const

const stopped = 'the service stopped while it trained; RETRAIN starts it again'

/** How many nodes may be lost while they train a version: more, and the training is what ends them. */
const lossesMax = 2

const lostTooOften = ({ losses }: Lease): Problem =>
  new Problem('not_ready', 'Training given up', `${losses} nodes were lost while they trained it`, {
    hint: 'Look into their logs, for example for too little memory; RETRAIN starts it again.',
  })

/**
 * Runs the trainings that the log requests, one after the other, whoever wrote the request. Each is recorded in the log as trained or
 * failed, whatever happens to its process, its model or this service. The log itself says what is left to do, so no checkpoint is needed.
 *
 * Who trains a version has its lease. When that node is gone, another one trains it from the beginning; the first result counts.
 *
 * @example await trainings.resume(); await trainings.stop()
 */
export class TrainingService {
  readonly #queue: Wanted[] = []
  /** What other nodes train, as far as is known. */
  readonly #elsewhere: Wanted[] = []
  #lookTimer: NodeJS.Timeout | undefined
  #running: Running | undefined
  #idle: Promise<void> = Promise.resolve()
  readonly #stopping = new AbortController()
  #reaction: Processing | undefined

  constructor(private readonly options: Options) {}

  /** Whether a version is being trained. */
  get isTraining(): boolean {
    return this.#running !== undefined
  }

  /** The number of trainings that run, and of those that wait. */
  counts(): { running: number; waiting: number } {
    return { running: this.#running ? 1 : 0, waiting: this.#queue.length }
  }

  /**
   * Takes over what an earlier run of the service left: waiting trainings are queued. Interrupted ones are recorded as failed, or begin
   * again where nodes take over from each other. Requests from then on are queued as well.
   */
  async resume(): Promise<void> {
    const { log } = this.options.ledger
    // Both are read at the same moment; later requests are left to the reaction.
    const [{ position }, models] = await Promise.all([log.head(), log.resources.list('model')])
    for (const { stream, state } of models)
      for (const { version, status } of state.versions)
        if (this.#isOpen(status)) this.#enqueue(stream, version)
        else if (status === 'training') await this.#settle({ type: 'FailTraining', data: { stream, version, error: stopped } })
    if (this.#isStopping()) return
    this.#reaction = startProcessor<Reason>(log, {
      processorId: 'trainings',
      canHandle: [...reasons],
      startFrom: { lastCheckpoint: BigInt(position) },
      eachMessage: (event) => this.#react(event),
    })
    this.#reaction.ended.catch((error: unknown) => this.options.logger.error({ err: error }, 'trainings are not begun any more'))
  }

  /** Whether a version can be trained here: one that was begun is left to whoever began it, unless others take over from it. */
  #isOpen(status: ModelVersion['status'] | undefined): boolean {
    return status === 'generating' || (status === 'training' && this.options.leases.areShared)
  }

  async #react(event: RecordedEvent<Reason>): Promise<void> {
    switch (event.type) {
      case 'ModelTrainingRequested':
        this.#enqueue(streamId.parse(event.metadata.streamName), event.data.version)
        return
      case 'ModelTrainingFailed':
      case 'ModelVersionDeleted':
      case 'ModelDeleted':
        await this.#cancelOrphan()
        return
      default:
        unreachable(event)
    }
  }

  /** Queues a requested version behind those that wait already. */
  #enqueue(model: StreamId, version: number): void {
    this.#queue.push({ model, version })
    // No error may break the chain: the trainings behind it would wait forever.
    this.#idle = this.#idle
      .then(() => this.#next())
      .catch((error: unknown) => this.options.logger.error({ err: error }, 'a training was left as it was'))
  }

  /** The progress of a training; undefined when it waits or is over. */
  progressOf(model: string, version: number): Progress | undefined {
    const running = this.#running
    return running?.model === model && running.version === version ? running.progress : undefined
  }

  /** Aborts the running training, records that in the log unless another node takes over, and leaves the rest for the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    clearTimeout(this.#lookTimer)
    const ended = this.#reaction?.stop()
    this.#queue.length = 0
    this.#cancel()
    await Promise.all([ended, this.#idle])
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  #cancel(): void {
    this.#running?.abort.abort()
    this.#running?.training?.cancel()
  }

  /** Aborts the running training if it was cancelled, or its model or version was deleted. */
  async #cancelOrphan(): Promise<void> {
    const running = this.#running
    if (!running) return
    try {
      if (!(await this.#insist(() => this.#isWanted(running))) && this.#running === running) this.#cancel()
    } catch (error) {
      this.options.logger.warn({ err: error }, 'a training was not checked')
    }
  }

  async #isWanted(running: Wanted): Promise<boolean> {
    const status = (await this.#wanted(running))?.request.status
    return status === 'generating' || status === 'training'
  }

  async #wanted({ model, version }: Wanted): Promise<Asked | undefined> {
    const found = await this.options.ledger.log.resources.byStream('model', model)
    const request = found?.state.versions.find((v) => v.version === version)
    return found && request && { name: found.state.name, request }
  }

  async #next(): Promise<void> {
    const wanted = this.#queue.shift()
    if (!wanted || this.#isStopping()) return
    const found = await this.#insist(() => this.#wanted(wanted))
    if (!found || !this.#isOpen(found.request.status)) return
    const lease = await this.options.leases.take(`training:${wanted.model}:${wanted.version}`)
    if (!lease) {
      this.#lookLater(wanted)
      return
    }
    try {
      await this.#run(wanted, found, lease)
    } finally {
      await lease.release()
    }
  }

  /** Another node trains this version: it may fall silent. */
  #lookLater(wanted: Wanted): void {
    this.#elsewhere.push(wanted)
    this.#lookTimer ??= setTimeout(() => {
      this.#lookTimer = undefined
      for (const { model, version } of this.#elsewhere.splice(0)) this.#enqueue(model, version)
    }, this.options.lookMs ?? limits.leaseLookIntervalMs).unref()
  }

  async #run(wanted: Wanted, { name, request: asked }: Asked, lease: Lease): Promise<void> {
    const { logger } = this.options
    const named = { stream: wanted.model, version: wanted.version }
    // The process reports progress only after its rows have been read.
    const running: Running = { ...wanted, abort: new AbortController(), progress: { phase: 'prepare', done: 0, total: 1 } }
    this.#running = running
    try {
      const request = await this.#resolved(wanted, asked)
      await this.#settle({ type: 'StartTraining', data: named })
      // It may have been cancelled before this training was registered as running, or ended elsewhere.
      if (!(await this.#insist(() => this.#isWanted(running)))) return
      if (lease.losses > lossesMax) throw lostTooOften(lease)
      await inOwnDirectory(this.options.temporary, 'training-', (work) =>
        holding(this.options.blobs, (fileOf) => this.#train(running, request, { work, fileOf })),
      )
      logger.info({ model: name, version: wanted.version }, 'trained')
    } catch (error) {
      if (this.#isStopping() && this.options.leases.areShared) return
      if (!lease.isHeld) {
        this.#lookLater(wanted)
        return
      }
      const reason = this.#isStopping() ? stopped : reasonOf(error)
      const err = isProblem(error) ? error.extras['cause'] : error
      logger.warn({ model: name, version: wanted.version, err }, `training failed: ${reason}`)
      await this.#settle({ type: 'FailTraining', data: { ...named, error: reason } })
    } finally {
      this.#running = undefined
    }
  }

  async #train(running: Running, request: ModelVersion, { work, fileOf }: Place): Promise<void> {
    const { version, engine, target, seed, using, keep_training_data: keep = true } = request
    const { ledger, blobs, trainer } = this.options
    const began = performance.now()
    try {
      const { position: readAt } = await ledger.log.head()
      // The name of an engine may have changed its meaning since the request.
      if (importsFile(engine) && request.query !== '') refuseToTrain()
      const uploaded = importsFile(engine) ? await uploadedModel(ledger.log.resources, { blobs, fileOf }, using) : undefined
      const learned = uploaded ? undefined : await this.#rowsOf(running, request, readAt, { work, fileOf })
      const source = uploaded ? { imported: uploaded } : learned?.source
      const matrixFile = join(work, 'matrix')
      const artefactFile = join(work, 'artefact')
      const options = uploaded ? { target } : { ...optionsOf(using), target, seed }
      running.training = trainer.train({ engine, ...source, matrixFile, artefactFile, options }, (progress) => {
        running.progress = progress
      })
      if (running.abort.signal.aborted) running.training.cancel()
      const trained = await running.training.result
      const report = { ...trained.report, warnings: [...trained.report.warnings, ...unrepeatable(learned?.nondeterminism ?? [])] }
      const result = {
        version,
        artefact: await blobs.put(artefactFile),
        ...(await this.#keptMatrix(uploaded?.content, matrixFile, keep)),
        read_at: readAt,
        rows: report.rows,
        accuracy: accuracyOf(report),
        report: JSON.parse(JSON.stringify(report)) as JsonObject,
        runtime: runtimeHere(),
        seconds: Math.round(performance.now() - began) / 1000,
      }
      await this.#settle({ type: 'CompleteTraining', data: { stream: running.model, version, result } })
    } finally {
      // A read that is not finished holds a place among the queries.
      running.abort.abort()
    }
  }

  /** The rows that a version learns from, read at a position into a file, and those of its base version. */
  async #rowsOf(
    running: Running,
    { version, query, database, using }: ModelVersion,
    readAt: number,
    { work, fileOf }: Place,
  ): Promise<{ source: Pick<TrainJob, 'rows' | 'base'>; nondeterminism: readonly Nondeterminism[] }> {
    const { select, nondeterminism, ledger, readTimeoutMs = limits.trainingReadTimeoutMs } = this.options
    const base = await this.#baseOf(running, using, fileOf)
    const user = (await trainingRequest(ledger.log, running.model, version))?.actor
    const asked = { sql: query, db: database, upTo: readAt, ...(user !== undefined && { user }) }
    return inReadTime(readTimeoutMs, running.abort.signal, async (signal) => ({
      source: { rows: await writeRows(select, asked, join(work, 'rows'), signal), ...(base && { base }) },
      nondeterminism: await patiently(() => nondeterminism(asked, signal), signal),
    }))
  }

  /** What an artefact was made from: an uploaded file, or a matrix, which is kept with it unless `keep` is false. */
  async #keptMatrix(uploaded: string | undefined, file: string, keep: boolean): Promise<Pick<TrainingResult, 'matrix' | 'matrix_kept'>> {
    if (uploaded !== undefined) return { matrix: uploaded }
    return keep ? { matrix: await this.options.blobs.put(file) } : { matrix: await hashFile(file), matrix_kept: false }
  }

  /** A request with its names resolved now. @throws Problem when its engine's name was removed */
  #resolved({ model }: Wanted, request: ModelVersion): Promise<ModelVersion> {
    const { resources } = this.options.ledger.log
    return this.#insist(async () => {
      const found = await resources.byStream('model', model)
      const project = found && (await resources.byStream('project', found.state.project))
      const database = project ? await databaseOf(resources, request, project) : request.database
      return { ...request, database, engine: await handlerOf(resources, request.engine) }
    })
  }

  /** @throws Problem when the rows of a version were erased: it cannot be fine-tuned */
  async requireRows(model: StreamId, version: number): Promise<void> {
    const { blobs, ledger } = this.options
    const found = await this.#wanted({ model, version })
    const { gone } = await keptRows({ blobs, log: ledger.log }, version, found?.request.result)
    // If rows are missing for another reason, the training itself fails with that reason.
    if (gone && gone.why !== 'matrix_missing') throw goneProblem(gone)
  }

  /** The base version of a training, if it has one. */
  async #baseOf({ model }: Wanted, using: JsonObject, fileOf: FileOf): Promise<Base | undefined> {
    const version = using[baseVersionKey]
    if (typeof version !== 'number') return undefined
    const { blobs, ledger } = this.options
    const found = await this.#wanted({ model, version })
    const kept = await keptRows({ blobs, log: ledger.log }, version, found?.request.result)
    if (kept.gone) throw goneProblem(kept.gone)
    return { version, matrixFile: await fileOf(kept.matrix) }
  }

  /** Records a step that follows from the version's request. */
  async #settle(command: Extract<LedgerCommand, { data: { stream: StreamId; version: number } }>): Promise<void> {
    const { ledger } = this.options
    const { stream, version } = command.data
    await this.#insist(async () => ledger.execute(command, causedBy(asTrainer, await trainingRequest(ledger.log, stream, version))))
  }

  /** Retries until it succeeds: a training must neither be forgotten nor end without a record. */
  #insist<T>(ask: () => Promise<T>): Promise<T> {
    return retryWhileBusy(ask, () => this.#isStopping())
  }
}

/** The engine that a name stands for. */
const handlerOf = async (resources: Pick<Resources, 'one'>, engine: string): Promise<string> => {
  if (isEngineName(engine)) return engine
  const named = await resources.one('engine', engine)
  // A name of digits may match the id of another resource.
  if (!named || foldName(named.state.name) !== foldName(engine)) throw unknownEngine(engine)
  return named.state.handler
}
