import { copyFile, link, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject, StreamId } from '../../../events/common.js'
import type { ModelVersion, TrainingResult } from '../../../events/model.js'
import { hashFile } from '../../basics/disk.js'
import { limits } from '../../basics/limits.js'
import { baseVersionKey, optionsOf } from '../../catalogue/engine-options.js'
import { isEngineName, unknownEngine } from '../../catalogue/engines.js'
import { importsFile, refuseToTrain } from '../../catalogue/onnx-import.js'
import { databaseOf } from '../../commands/rules/data-source.js'
import type { BlobStore, FileOf } from '../../files/blob-store.js'
import type { Log, Resources } from '../../log/contract/log.js'
import type { Base } from '../data/fine-tuning.js'
import { writeRows, type RowsFile, type RowSource } from '../data/rows-file.js'
import { unrepeatable } from '../data/warnings.js'
import { uploadedModel } from '../engines/onnx/uploaded.js'
import type { Progress } from '../engines/tabular/fit.js'
import type { HeldData } from './held-data.js'
import { inReadTime } from './read-time.js'
import { goneProblem, keptRows } from './kept-rows.js'
import type { Trainer, Training } from './trainer.js'
import { accuracyOf, runtimeHere, trainingRequest, withOpenExample } from './training-record.js'

export type VersionRef = { model: StreamId; version: number }
/** The directory for a training's own files, a function that gives the file of a blob, and the notes of the data in these files. */
type Place = { work: string; fileOf: FileOf; held: HeldData }
/** A requested version, and the name of its model. */
export type VersionRequest = { name: string; request: ModelVersion }
/** A try to train a version. `files` has the data in its own files, and `left` resolves when these are removed. */
export type RunningTraining = VersionRef & {
  abort: AbortController
  progress: Progress
  training?: Training
  files?: { held: HeldData; left: Promise<unknown> }
}
/** The parts that a training needs. */
export type TrainingParts = {
  log: Log
  blobs: BlobStore
  trainer: Trainer
  select: RowSource
  /** The time limit for reading the rows of a training; `trainingReadTimeoutMs` by default. */
  readTimeoutMs?: number
}

/** A requested version; undefined when it or its model is gone. */
export const findVersion = async (
  resources: Pick<Resources, 'byStream'>,
  { model, version }: VersionRef,
): Promise<VersionRequest | undefined> => {
  const found = await resources.byStream('model', model)
  const request = found?.state.versions.find((v) => v.version === version)
  return found && request && { name: found.state.name, request }
}

/** The engine with a name or an alias. */
const handlerOf = async (resources: Pick<Resources, 'one'>, engine: string): Promise<string> => {
  if (isEngineName(engine)) return engine
  const named = await resources.one('engine', engine)
  if (!named) throw unknownEngine(engine)
  return named.state.handler
}

/** A request whose names are resolved now. @throws Problem when the name of its engine was removed */
export const resolvedRequest = async (
  log: Pick<Log, 'readStream' | 'resources'>,
  { model }: VersionRef,
  request: ModelVersion,
): Promise<ModelVersion> => {
  const { resources } = log
  const found = await resources.byStream('model', model)
  const project = found && (await resources.byStream('project', found.state.project))
  const database = project ? await databaseOf(log, request, project) : request.database
  return { ...request, database, engine: await handlerOf(resources, request.engine) }
}

/**
 * The work of one training: its rows, its base version, and its stored files. `TrainingService` decides when it runs, and records its
 * result.
 *
 * @example const result = await new TrainingWork(parts).train(running, request, { work, fileOf })
 */
export class TrainingWork {
  constructor(private readonly options: TrainingParts) {}

  /**
   * Trains a version from the rows that its query returns now, or imports its file. `running` gets the progress, and can abort the work. It
   * returns a function that stores the files as blobs and returns the result to record; the function can be called several times.
   * @throws Problem when the rows, the base version or the file are not available; the problem of the training
   */
  async train(running: RunningTraining, request: ModelVersion, { work, fileOf, held }: Place): Promise<() => Promise<TrainingResult>> {
    const { version, engine, target, seed, using, keep_training_data: keep = true } = request
    const { log, blobs, trainer } = this.options
    const began = performance.now()
    try {
      const { position: readAt } = await log.head()
      // The name of an engine may refer to another engine since the request.
      if (importsFile(engine) && request.query !== '') refuseToTrain()
      const opened = await withOpenExample(using, log)
      const uploaded = importsFile(engine) ? await uploadedModel(log.resources, { blobs, fileOf }, opened) : undefined
      if (uploaded) held.noteNoRows()
      const learned = uploaded ? undefined : await this.#rowsOf(running, request, readAt, { work, fileOf, held })
      const source = uploaded ? { imported: uploaded } : learned
      const { connections, nondeterminism = [] } = learned?.rows ?? {}
      const matrixFile = join(work, 'matrix')
      const artefactFile = join(work, 'artefact')
      const options = uploaded ? { target } : { ...optionsOf(using), target, seed }
      running.training = trainer.train({ engine, ...source, matrixFile, artefactFile, options }, (progress) => {
        running.progress = progress
      })
      if (running.abort.signal.aborted) running.training.cancel()
      const trained = await running.training.result
      const report = { ...trained.report, warnings: [...trained.report.warnings, ...unrepeatable(nondeterminism)] }
      const result = {
        version,
        read_at: readAt,
        ...(connections && { connections: [...connections] }),
        rows: report.rows,
        accuracy: accuracyOf(report),
        report: JSON.parse(JSON.stringify(report)) as JsonObject,
        runtime: runtimeHere(),
        seconds: Math.round(performance.now() - began) / 1000,
      }
      return async () => ({
        ...result,
        artefact: await this.#stored(artefactFile),
        ...(await this.#matrixOf(uploaded?.content, matrixFile, keep)),
      })
    } finally {
      // An unfinished read occupies a place among the queries.
      running.abort.abort()
    }
  }

  /** The rows that a version learns from, read at a position into a file, and those of its base version. */
  async #rowsOf(
    running: RunningTraining,
    { version, query, database, using }: ModelVersion,
    readAt: number,
    { work, fileOf, held }: Place,
  ): Promise<{ rows: RowsFile; base?: Base }> {
    const { select, log, readTimeoutMs = limits.trainingReadTimeoutMs } = this.options
    const base = await this.#baseOf(running, using, fileOf)
    const user = (await trainingRequest(log, running.model, version))?.actor
    const training = { model: running.model, version }
    const asked = { sql: query, db: database, upTo: readAt, training, ...(user !== undefined && { user }) }
    const read = (signal: AbortSignal) => writeRows(held.noting(select), asked, join(work, 'rows'), signal)
    const rows = await inReadTime(readTimeoutMs, running.abort.signal, read)
    return { rows, ...(base && { base }) }
  }

  /** Stores a file of a training, which stays where it is. */
  async #stored(file: string): Promise<string> {
    const moved = `${file}.stored`
    await rm(moved, { force: true })
    // Some file systems have no links.
    await link(file, moved).catch(() => copyFile(file, moved))
    return this.options.blobs.put(moved)
  }

  /** The source of an artefact: an uploaded file, or a matrix, which is kept with the artefact unless `keep` is false. */
  async #matrixOf(uploaded: string | undefined, file: string, keep: boolean): Promise<Pick<TrainingResult, 'matrix' | 'matrix_kept'>> {
    if (uploaded !== undefined) return { matrix: uploaded }
    return keep ? { matrix: await this.#stored(file) } : { matrix: await hashFile(file), matrix_kept: false }
  }

  /** @throws Problem when the rows of a version were erased: it cannot be fine-tuned */
  async requireRows(model: StreamId, version: number): Promise<void> {
    const { blobs, log } = this.options
    const found = await findVersion(log.resources, { model, version })
    const { gone } = await keptRows({ blobs, log }, version, found?.request.result)
    // If rows are missing for another reason, the training itself fails with that reason.
    if (gone && gone.why !== 'matrix_missing') throw goneProblem(gone)
  }

  /** The base version of a training, if it has one. */
  async #baseOf({ model }: VersionRef, using: JsonObject, fileOf: FileOf): Promise<Base | undefined> {
    const version = using[baseVersionKey]
    if (typeof version !== 'number') return undefined
    const { blobs, log } = this.options
    const found = await findVersion(log.resources, { model, version })
    const kept = await keptRows({ blobs, log }, version, found?.request.result)
    if (kept.gone) throw goneProblem(kept.gone)
    return { version, matrixFile: await fileOf(kept.matrix) }
  }
}
