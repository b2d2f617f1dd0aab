/**
 * Room: trainings from the request to the artefact, one after the other. It imports only events, basics, setup, catalogue, vault, log,
 * commands, files and models.
 */

import { streamId, unreachable, type StreamId } from '../../../events/common.js'
import { keepsRows, type ModelEvent, type ModelVersion, type TrainingResult } from '../../../events/model.js'
import { retryWhileBusy } from '../../basics/concurrency/retry.js'
import { inOwnDirectory } from '../../basics/disk.js'
import { isProblem, stopping } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Logger } from '../../basics/logger.js'
import { wasImported } from '../../catalogue/onnx-import.js'
import type { LedgerCommand } from '../../commands/dispatch.js'
import type { Ledger } from '../../commands/ledger.js'
import { holding, naming } from '../../files/blob-store.js'
import type { Lease, Leases } from '../../log/contract/leases.js'
import type { ErasureGuard, Origin } from '../../log/contract/log.js'
import { causedBy } from '../../log/contract/origins.js'
import { startLastingProcessor, tellFailures, type Reaction } from '../../log/emmett/lasting-processor.js'
import type { RecordedEvent } from '../../log/emmett/recorded-event.js'
import type { Progress } from '../engines/tabular/fit.js'
import { HeldData } from './held-data.js'
import type { HeardProgress, ProgressOf } from './progress.js'
import { erasedTooOften, lostTooOften, reasonOf, trainingRequest } from './training-record.js'
import {
  findVersion,
  resolvedRequest,
  TrainingWork,
  type VersionRequest,
  type RunningTraining,
  type TrainingParts,
  type VersionRef,
} from './training-work.js'

type Options = TrainingParts & {
  ledger: Ledger
  leases: Leases
  /** The progress of trainings on other nodes, if there may be other nodes. */
  heard?: HeardProgress | undefined
  /** Runs work during which this node erases nothing. */
  beside?: ErasureGuard
  temporary: string
  logger: Logger
  /** The interval between looks for abandoned trainings of other nodes; `leaseLookIntervalMs` by default. */
  lookMs?: number
}

/** The events that trainings react to: new requests, and events that may make a running training useless. */
const reasons = ['ModelTrainingRequested', 'ModelTrainingFailed', 'ModelVersionDeleted', 'ModelDeleted'] as const
type Reason = Extract<ModelEvent, { type: (typeof reasons)[number] }>

/** A version as commands name it. */
type NamedVersion = { stream: StreamId; version: number }

const asTrainer = { actor: 'trainer', source: 'system' } as const

const stopped = 'the service stopped while it trained; RETRAIN starts it again'

/** The guard of a service that erases nothing. */
const besideNothing: ErasureGuard = (origin, work) => work(origin)

/** The process reports progress only after its rows have been read. */
const notBegun: Progress = { phase: 'prepare', done: 0, total: 1 }

/** The number of nodes that may be lost while they train a version. If more are lost, the training itself counts as the cause. */
const lossesMax = 2

/**
 * Runs the requested trainings in the log, one after the other, including requests from other nodes. The log records each training as
 * trained or failed, whatever happens to its process, its model or this service. The remaining work follows from the log itself, so there
 * is no checkpoint.
 *
 * The node that trains a version holds its lease, and stops if it loses it. Then another one trains it from the beginning; the first result
 * counts.
 *
 * @example await trainings.resume(); await trainings.stop()
 */
export class TrainingService {
  readonly #queue: VersionRef[] = []
  /** The known trainings of other nodes. */
  readonly #elsewhere: VersionRef[] = []
  #lookTimer: NodeJS.Timeout | undefined
  #running: RunningTraining | undefined
  #idle: Promise<void> = Promise.resolve()
  readonly #stopping = new AbortController()
  #reaction: Reaction | undefined

  readonly #work: TrainingWork

  constructor(private readonly options: Options) {
    this.#work = new TrainingWork(options)
  }

  /** The reaction to requests; `resume` starts it. */
  get reaction(): Reaction | undefined {
    return this.#reaction
  }

  /** Whether a version is being trained. */
  get isTraining(): boolean {
    return this.#running !== undefined
  }

  /** The number of trainings that run, and of those that wait. */
  counts(): { running: number; waiting: number } {
    return { running: this.#running ? 1 : 0, waiting: this.#queue.length }
  }

  /**
   * Continues the work of an earlier run of the service: it queues waiting trainings. Interrupted trainings are recorded as failed; if
   * nodes take over from each other, they begin again. Later requests are queued as well; if `earlier` is false, only these are.
   */
  async resume({ earlier = true } = {}): Promise<void> {
    const { log } = this.options
    // Both are read at the same moment; later requests are left to the reaction.
    const [{ position }, models] = await Promise.all([log.head(), earlier ? log.resources.list('model') : []])
    for (const { stream, state } of models)
      for (const { version, status } of state.versions)
        if (this.#isOpen(status)) this.#enqueue(stream, version)
        else if (status === 'training')
          // One that cannot be ended must not keep the service from starting. The next start tries again.
          await this.#settle({ type: 'FailTraining', data: { stream, version, error: stopped } }).catch((err: unknown) => this.#leave(err))
    if (this.#isStopping()) return
    this.#reaction = startLastingProcessor<Reason>(log, {
      processorId: 'trainings',
      canHandle: [...reasons],
      after: position,
      eachMessage: (event) => this.#react(event),
      onFailed: tellFailures(this.options.logger, 'requests for trainings'),
    })
  }

  /** Whether a version can be trained here. A training that has begun belongs to its node, unless nodes take over from each other. */
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

  /** Queues a requested version after the waiting ones. */
  #enqueue(model: StreamId, version: number): void {
    this.#queue.push({ model, version })
    // No error may break the chain: the later trainings would wait forever.
    this.#idle = this.#idle.then(() => this.#next()).catch((err: unknown) => this.#leave(err))
  }

  #leave(err: unknown): void {
    this.options.logger.error({ err }, 'a training was left as it was')
  }

  /**
   * The progress of a training, on this node or another one; undefined when it waits or is over, or when its node has not reported yet.
   */
  readonly progressOf: ProgressOf = (model, version) => {
    const running = this.#running
    if (running?.model === model && running.version === version) return running.progress
    return this.options.heard?.of(model, version)
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
      if (!(await this.#untilDone(() => this.#isWanted(running))) && this.#running === running) this.#cancel()
    } catch (error) {
      this.options.logger.warn({ err: error }, 'a training was not checked')
    }
  }

  async #isWanted(running: VersionRef): Promise<boolean> {
    const status = (await findVersion(this.options.log.resources, running))?.request.status
    return status === 'generating' || status === 'training'
  }

  async #next(): Promise<void> {
    const wanted = this.#queue.shift()
    if (!wanted || this.#isStopping()) return
    const found = await this.#untilDone(() => findVersion(this.options.log.resources, wanted))
    if (!found || !this.#isOpen(found.request.status)) return
    const lease = await this.options.leases.take(`training:${wanted.model}:${wanted.version}`)
    if (!lease) {
      this.#lookLater(wanted)
      return
    }
    try {
      // A stop may have begun meanwhile, which aborts only the training that runs.
      if (!this.#isStopping()) await this.#run(wanted, found, lease)
    } finally {
      await lease.release()
    }
  }

  /** Another node trains this version, and may become silent, so this node looks again later. */
  #lookLater(wanted: VersionRef): void {
    this.#elsewhere.push(wanted)
    this.#lookTimer ??= setTimeout(() => {
      this.#lookTimer = undefined
      for (const { model, version } of this.#elsewhere.splice(0)) this.#enqueue(model, version)
    }, this.options.lookMs ?? limits.leaseLookIntervalMs).unref()
  }

  async #run(wanted: VersionRef, { name, request: asked }: VersionRequest, lease: Lease): Promise<void> {
    const { log, logger } = this.options
    const named = { stream: wanted.model, version: wanted.version }
    const told = this.options.heard?.tell(wanted, () => this.#running?.progress ?? notBegun)
    const lose = () => this.#cancel()
    lease.lost.addEventListener('abort', lose, { once: true })
    try {
      this.#register(wanted)
      const request = await this.#untilDone(() => resolvedRequest(log, wanted, asked))
      await this.#settle({ type: 'StartTraining', data: named })
      for (let erasures = 0; ; erasures++) {
        const running = this.#register(wanted)
        // The training may have been cancelled before it was registered as running, or ended on another node.
        if (!(await this.#untilDone(() => this.#isWanted(running)))) return
        if (lease.losses > lossesMax) throw lostTooOften(lease)
        if (erasures > limits.trainingErasuresMax) throw erasedTooOften(erasures)
        if (await this.#attempt(running, request, lease)) break
        logger.info({ model: name, version: wanted.version }, 'data that a training had read was erased; it begins again')
      }
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
      lease.lost.removeEventListener('abort', lose)
      told?.()
      this.#running = undefined
    }
  }

  /** Makes a try of a version the running one. */
  #register(wanted: VersionRef): RunningTraining {
    this.#running = { ...wanted, abort: new AbortController(), progress: notBegun }
    return this.#running
  }

  /** Trains a version, and records it. False if an erasure took data in its files: they are gone then, and it must begin again. */
  async #attempt(running: RunningTraining, request: ModelVersion, lease: Lease): Promise<boolean> {
    const { log, blobs, temporary } = this.options
    if (this.#isStopping()) throw stopping()
    lease.lost.throwIfAborted()
    const held = await this.#untilDone(() => HeldData.since(log))
    const trained = inOwnDirectory(temporary, 'training-', (work) =>
      holding(blobs, async (fileOf) => {
        const store = await this.#work.train(running, request, { work, fileOf: held.notingFiles(fileOf), held })
        await this.#complete({ stream: running.model, version: running.version }, store, held)
      }),
    )
    running.files = { held, left: trained.catch(() => undefined) }
    try {
      await trained
      return true
    } catch (error) {
      if (!this.#isStopping() && lease.isHeld && (await this.#untilDone(() => held.isErased()))) return false
      throw error
    }
  }

  /** Resolves when no training has data in its files that was erased before the call. One that had some begins again. */
  async purge(): Promise<void> {
    const files = this.#running?.files
    if (!files || !(await files.held.isErased())) return
    if (this.#running?.files === files) this.#cancel()
    await files.left
  }

  /** @throws Problem when the rows of a version were erased: it cannot be fine-tuned */
  requireRows(model: StreamId, version: number): Promise<void> {
    return this.#work.requireRows(model, version)
  }

  /** Records a step that follows from the version's request. */
  async #settle(command: Extract<LedgerCommand, { data: NamedVersion }>): Promise<void> {
    await this.#untilDone(async () => this.options.ledger.execute(command, await this.#originOf(command.data)))
  }

  /**
   * Stores and records the result. If an erasure came in between, both are repeated, because it may have removed the same bytes. On this
   * node, no erasure comes in between.
   *
   * @throws Error if an erasure took data that it learned from
   */
  async #complete(named: NamedVersion, store: () => Promise<TrainingResult>, held: HeldData): Promise<void> {
    const { ledger, blobs, beside = besideNothing } = this.options
    const complete = async (origin: Origin): Promise<void> => {
      const guarded = await ledger.guarded(origin)
      // The try ends, and another one begins.
      if (await held.isErased()) throw new Error('an erasure took data of this training')
      const result = await store()
      const put = [result.artefact, ...(wasImported(result) || !keepsRows(result) ? [] : [result.matrix])]
      await naming(blobs, put, () => ledger.execute({ type: 'CompleteTraining', data: { ...named, result } }, guarded))
    }
    await this.#untilDone(async () => beside(await this.#originOf(named), complete))
  }

  async #originOf({ stream, version }: NamedVersion): Promise<Origin> {
    return causedBy(asTrainer, await trainingRequest(this.options.log, stream, version))
  }

  /** Retries until it succeeds: a training must neither be forgotten nor end without a record. */
  #untilDone<T>(ask: () => Promise<T>): Promise<T> {
    return retryWhileBusy(ask, () => this.#isStopping())
  }
}
