import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject, type JsonObject } from '../../../events/common.js'
import type { ModelVersion, TrainingResult } from '../../../events/model.js'
import { isProblem } from '../../basics/errors.js'
import { holding, type BlobStore } from '../../files/blob-store.js'
import { hashFile } from '../../basics/disk.js'
import type { Log } from '../../log/contract/log.js'
import { engineVersionOf } from '../engines/engines.js'
import { optionsOf } from '../../catalogue/engine-options.js'
import type { Progress } from '../engines/tabular/fit.js'
import { keptRows, type RowsGone } from './kept-rows.js'
import { wasImported } from '../../catalogue/onnx-import.js'
import { readOnnxOptions } from '../../catalogue/onnx-options.js'
import { runtimeHere, withOpenExample } from './training-record.js'
import type { TrainJob } from './train-process.js'
import type { Trainer } from './trainer.js'

/** Why a version could not be trained again, or why a difference proves nothing. */
export type ReproductionObstacle = RowsGone['why'] | 'matrix_damaged' | 'engine_version' | 'runtime' | 'training_failed'

/** The result of training a version again: `retrained` is the hash of the new artefact, null if there is none. */
export type Reproduction = {
  result: 'reproduced' | 'different' | 'impossible'
  reason: ReproductionObstacle | null
  detail: string
  artefact: string
  retrained: string | null
  engine: string
  seconds: number | null
}

type Parts = {
  blobs: Pick<BlobStore, 'has' | 'hold'>
  log: Pick<Log, 'readStream' | 'payload'>
  trainer: Trainer
  /** A directory only for this reproduction. */
  work: string
  onProgress: (progress: Progress) => void
}

type TrainedVersion = { version: ModelVersion; result: TrainingResult }

const textIn = (value: JsonObject, key: string): string => {
  const text = value[key]
  return typeof text === 'string' ? text : 'unknown'
}

const engineOf = ({ report }: TrainingResult): { name: string; version: string } => {
  const engine = isObject(report['engine']) ? report['engine'] : {}
  return { name: textIn(engine, 'name'), version: textIn(engine, 'version') }
}

/** The difference between the runtime here and that of a version's training: `node 20.1.0 there, 20.2.0 here`. */
const runtimeDifferences = ({ runtime }: TrainingResult): string[] =>
  Object.entries(runtimeHere()).flatMap(([name, here]) => {
    const there = textIn(runtime, name)
    return there === here ? [] : [`${name} ${there} there, ${here} here`]
  })

/** The original options. A training that a time limit stopped is stopped at the same round, not by the clock. */
const optionsAgain = ({ version: { using, target, seed }, result: { report } }: TrainedVersion) => {
  const options = optionsOf(using)
  const plan = isObject(report['plan']) ? report['plan'] : {}
  const stopped = isObject(plan['stopped']) ? plan['stopped'] : {}
  return { ...options, ...(options['time_limit'] !== undefined && { stopped }), target, seed }
}

type JobAgain = Pick<TrainJob, 'imported' | 'options'>

/** The job besides its files; an imported file is imported again. */
const jobAgain = async (trained: TrainedVersion, file: string, { log }: Pick<Parts, 'log'>): Promise<JobAgain> => {
  const { version, result } = trained
  if (!wasImported(result)) return { options: optionsAgain(trained) }
  const options = readOnnxOptions(await withOpenExample(version.using, log))
  return { imported: { file, options }, options: { target: version.target } }
}

/** Known reasons why training again would be useless. */
const obstacle = async (
  { version, result }: TrainedVersion,
  parts: Parts,
): Promise<{ reason: ReproductionObstacle; detail: string } | undefined> => {
  const { name, version: release } = engineOf(result)
  const own = engineVersionOf(name)
  if (own !== release) {
    const here = own === undefined ? 'no engine here has that name' : `here it is ${own}`
    return { reason: 'engine_version', detail: `It was trained by ${name} ${release}, and ${here}` }
  }
  const { gone } = await keptRows(parts, version.version, result)
  if (gone) return { reason: gone.why, detail: gone.detail }
  if ((await holding(parts.blobs, async (fileOf) => hashFile(await fileOf(result.matrix)))) !== result.matrix)
    return { reason: 'matrix_damaged', detail: `The blob ${result.matrix} does not hold the bytes that it is named by` }
  return undefined
}

const judged = (retrained: string, result: TrainingResult): Pick<Reproduction, 'result' | 'reason' | 'detail'> => {
  const others = runtimeDifferences(result)
  const elsewhere = others.length === 0 ? '' : ` (${others.join('; ')})`
  if (retrained === result.artefact)
    return { result: 'reproduced', reason: null, detail: `Training on the kept rows gives the same bytes${elsewhere}` }
  if (others.length > 0)
    return {
      result: 'impossible',
      reason: 'runtime',
      detail: `Training on the kept rows gives other bytes, on another runtime than its own${elsewhere}`,
    }
  return { result: 'different', reason: null, detail: 'Training on the kept rows gives other bytes than its event names' }
}

/**
 * Trains a version again from its kept rows, with the engine, the seed and the options in its events, and compares the artefact's bytes
 * with the original ones.
 *
 * @example (await reproduce({ version, result }, { blobs, log, trainer: new Trainer(), work, onProgress })).result // 'reproduced'
 */
export const reproduce = async (trained: TrainedVersion, parts: Parts): Promise<Reproduction> => {
  const { version, result } = trained
  const { name, version: release } = engineOf(result)
  const about = { artefact: result.artefact, engine: `${name} ${release}` }
  const before = await obstacle(trained, parts)
  if (before) return { ...about, ...before, result: 'impossible', retrained: null, seconds: null }
  const began = performance.now()
  const took = () => Math.round(performance.now() - began) / 1000
  const artefactFile = join(parts.work, `artefact-${version.version}`)
  try {
    const { artefactSha256: retrained } = await holding(parts.blobs, async (fileOf) => {
      const matrixFile = await fileOf(result.matrix)
      const job = await jobAgain(trained, matrixFile, parts)
      return parts.trainer.train({ engine: name, matrixFile, artefactFile, ...job }, parts.onProgress).result
    })
    return { ...about, ...judged(retrained, result), retrained, seconds: took() }
  } catch (error) {
    if (!isProblem(error)) throw error
    const detail = `Training on the kept rows failed: ${error.detail}`
    return { ...about, result: 'impossible', reason: 'training_failed', detail, retrained: null, seconds: took() }
  } finally {
    await rm(artefactFile, { force: true })
  }
}
