import { join } from 'node:path'
import type { ModelVersion, TrainingResult } from '../../../events/model.js'
import { isProblem, Problem, stopping, type ProblemCode } from '../../basics/errors.js'
import { abortWith } from '../../basics/concurrency/bounded-waits.js'
import { holding, type BlobStore, type FileOf } from '../../files/blob-store.js'
import { inOwnDirectory } from '../../basics/disk.js'
import { limits } from '../../basics/limits.js'
import type { Resource, Log, Resources } from '../../log/contract/log.js'
import { ErasedMeanwhile } from '../../commands/ledger.js'
import { databaseOf } from '../../commands/rules/data-source.js'
import { baseVersionKey } from '../../catalogue/engine-options.js'
import type { Base } from '../data/fine-tuning.js'
import { HeldData } from './held-data.js'
import { keptRows } from './kept-rows.js'
import { wasImported } from '../../catalogue/onnx-import.js'
import { readOnnxOptions } from '../../catalogue/onnx-options.js'
import { inReadTime } from './read-time.js'
import { writeRows, type RowsQuery, type RowSource } from '../data/rows-file.js'
import type { Trainer } from './trainer.js'
import { trainingRequest } from './training-record.js'

/** Whether a training's query still returns the same rows at the same position; `matrix` and `rows` are the current ones. */
export type DataCheck = {
  data: 'same' | 'changed' | 'unavailable'
  detail: string
  read_at: number
  rows: number | null
  matrix: string | null
}

type Options = {
  log: Log
  blobs: BlobStore
  trainer: Trainer
  select: RowSource
  temporary: string
  resourcesAt: (position: number) => Resources
}

type Place = { work: string; fileOf: FileOf; held: HeldData }
type CheckedVersion = { model: Resource<'model'>; version: ModelVersion; result: TrainingResult }

/** Temporary problems that do not come from the query: a retry may succeed. */
const passing: ReadonlySet<ProblemCode> = new Set(['busy', 'storage_failed', 'analytics_unavailable', 'internal', 'not_ready'])

/** A table of the query no longer exists. */
class UnavailableError extends Error {}

/**
 * Repeats the queries of trainings at the log positions of the trainings, and compares the rows with the learned ones. The checks run one
 * after the other, because each needs a process.
 *
 * @example (await checks.check(model, version, signal)).data // 'same'
 */
export class DataChecks {
  #waiting = 0
  #last: Promise<unknown> = Promise.resolve()
  readonly #stopping = new AbortController()
  /** The data in the files of the running check; `left` resolves when these are removed. */
  #files: { held: HeldData; ends: AbortController; left: Promise<unknown> } | undefined

  constructor(private readonly options: Options) {}

  /** @throws Problem `not_ready` for a version without a finished training, `busy` when too many wait */
  check(model: Resource<'model'>, version: ModelVersion, signal: AbortSignal): Promise<DataCheck> {
    const { result } = version
    if (!result)
      throw new Problem('not_ready', 'Model is not ready', `version ${version.version} of ${model.state.name} has status ${version.status}`)
    if (this.#waiting >= limits.dataChecksMax)
      throw new Problem('busy', 'Too many checks', `${this.#waiting} checks of training data wait already`, { retryAfterSeconds: 5 })
    this.#waiting += 1
    const ends = new AbortController()
    const release = abortWith(ends, [signal, this.#stopping.signal])
    const checked = this.#last
      .then(() => this.#check({ model, version, result }, ends))
      .finally(() => {
        this.#waiting -= 1
        release()
      })
    this.#last = checked.catch(() => undefined)
    return checked
  }

  /** Resolves when no check has data in its files that was erased before the call. One that had some ends, and its client may ask again. */
  async purge(): Promise<void> {
    const files = this.#files
    if (!files || !(await files.held.isErased())) return
    files.ends.abort(new ErasedMeanwhile())
    await files.left
  }

  /** Aborts the running check and those that wait. */
  async stop(): Promise<void> {
    this.#stopping.abort(stopping())
    await this.#last
  }

  async #check(asked: CheckedVersion, ends: AbortController): Promise<DataCheck> {
    const { signal } = ends
    signal.throwIfAborted()
    const { read_at } = asked.result
    try {
      if (wasImported(asked.result)) return await this.#imported(asked)
      const held = await HeldData.since(this.options.log)
      const made = inOwnDirectory(this.options.temporary, 'check-', (work) =>
        holding(this.options.blobs, (fileOf) => this.#matrix(asked, signal, { work, fileOf: held.notingFiles(fileOf), held })),
      )
      this.#files = { held, ends, left: made.catch(() => undefined) }
      const { rows, sha256: matrix } = await made
      const isSame = matrix === asked.result.matrix
      const detail = isSame
        ? 'The query gives the rows that it learned from.'
        : `The query gives other rows than it learned from: ${rows} now, ${asked.result.rows} took part then.`
      return { data: isSame ? 'same' : 'changed', detail, read_at, rows, matrix }
    } catch (error) {
      // The error of a process that was ended does not contain the reason.
      signal.throwIfAborted()
      const isOver = error instanceof UnavailableError || (isProblem(error) && !passing.has(error.code))
      if (!isOver) throw error
      return { data: 'unavailable', detail: error.message, read_at, rows: null, matrix: null }
    } finally {
      this.#files = undefined
    }
  }

  /** An imported model has no query, and the file of that name may have other content now. */
  async #imported({ version: { using }, result: { matrix, read_at } }: CheckedVersion): Promise<DataCheck> {
    const { file } = readOnnxOptions(using)
    const found = await this.options.resourcesAt(read_at).one('file', file)
    if (!found || !(await this.options.blobs.has(found.state.content)))
      throw new UnavailableError(`The content of files.${file} is no longer kept.`)
    const isSame = found.state.content === matrix
    const detail = isSame ? `It is the content of files.${file}.` : `files.${file} had another content at position ${read_at}.`
    return { data: isSame ? 'same' : 'changed', detail, read_at, rows: 0, matrix: found.state.content }
  }

  async #matrix(asked: CheckedVersion, signal: AbortSignal, { work, fileOf, held }: Place) {
    const { select, trainer } = this.options
    const reading = new AbortController()
    try {
      const base = await this.#baseOf(asked, fileOf)
      const query = await this.#queryOf(asked)
      const rows = await inReadTime(limits.trainingReadTimeoutMs, AbortSignal.any([signal, reading.signal]), (inTime) =>
        writeRows(held.noting(select), query, join(work, 'rows'), inTime),
      )
      const { result, cancel } = trainer.matrix({ rows, ...(base && { base }), matrixFile: join(work, 'matrix'), seed: asked.version.seed })
      signal.addEventListener('abort', cancel)
      if (signal.aborted) cancel()
      return await result.finally(() => signal.removeEventListener('abort', cancel))
    } finally {
      // An unfinished read occupies a place among the queries.
      reading.abort()
    }
  }

  /** The original query: its names are resolved at the original position. */
  async #queryOf({ model, version, result: { read_at } }: CheckedVersion): Promise<RowsQuery> {
    const { log, resourcesAt } = this.options
    const resources = resourcesAt(read_at)
    const project = await resources.byStream('project', model.state.project)
    if (!project) throw new UnavailableError(`The project of ${model.state.name} was not there at position ${read_at}.`)
    const user = (await trainingRequest(log, model.stream, version.version))?.actor
    const db = await databaseOf({ resources, readStream: (...asked) => log.readStream(...asked) }, version, project)
    return { sql: version.query, db, upTo: read_at, repeats: true, ...(user !== undefined && { user }) }
  }

  /** The kept rows of the base version of a fine-tuned version: the query returns only the new rows. */
  async #baseOf({ model, version: { using } }: CheckedVersion, fileOf: FileOf): Promise<Base | undefined> {
    const number = using[baseVersionKey]
    if (typeof number !== 'number') return undefined
    const base = model.state.versions.find(({ version }) => version === number)
    const kept = await keptRows(this.options, number, base?.result)
    if (kept.gone) throw new UnavailableError(`${kept.gone.detail}, and this version goes on from it.`)
    return { version: number, matrixFile: await fileOf(kept.matrix) }
  }
}
