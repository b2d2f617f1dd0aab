import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { diskFull, isDiskFull, isProblem } from '../../basics/errors.js'
import { backgroundPriority, lowerPriority } from '../../basics/priority.js'
import { ignoreUserSignals } from '../../basics/user-signals.js'
import { endWithParent } from '../../setup/end-with-parent.js'
import { refuseAnswerNames } from '../engines/contract/answer-columns.js'
import { findEngine } from '../engines/engines.js'
import type { Base } from '../data/fine-tuning.js'
import type { Progress } from '../engines/tabular/fit.js'
import { importOnnx, type ImportReport } from '../engines/onnx/import.js'
import type { OnnxOptions } from '../../catalogue/onnx-options.js'
import { decodeMatrix, encodeMatrix } from '../data/matrix-format.js'
import { readRows, type ReadRows, type RowsFile } from '../data/rows-file.js'
import type { TrainOptions, TrainReport } from '../engines/tabular/train.js'

/**
 * The only message to the process. If it has `rows`, the process makes the matrix from them (after the rows of a `base`), and writes it to
 * the matrix file; otherwise that file already contains `encodeMatrix` bytes. If it has an `imported` file, that file becomes the model
 * instead. The artefact file is written and synced.
 */
export type TrainJob = {
  engine?: string
  imported?: { file: string; options: OnnxOptions }
  rows?: RowsFile
  base?: Base
  matrixFile: string
  artefactFile: string
  options: TrainOptions
}

/** A job without a training: it only turns rows into a matrix in its file. */
export type MatrixJob = Pick<TrainJob, 'base' | 'matrixFile'> & { rows: RowsFile; seed: number }

/** The size and identity of a matrix. */
export type MadeMatrix = { rows: number; sha256: string }

/** The messages from the process: progress while it trains, then one of the others. */
export type TrainMessage =
  | { progress: Progress }
  | { done: TrainReport | ImportReport; artefactSha256: string }
  | { made: MadeMatrix }
  | { failed: { code: string; title: string; detail: string; hint?: string; cause?: string } }

/** Progress is sent at most as often as a person can follow, but each new phase is sent at once. */
const reportEveryMs = 100

const throttled = (send: (message: TrainMessage) => void) => {
  let last = 0
  let phase = ''
  return (progress: Progress): void => {
    const now = performance.now()
    if (progress.phase === phase && now - last < reportEveryMs) return
    last = now
    phase = progress.phase
    send({ progress })
  }
}

const writeSynced = (file: string, bytes: Uint8Array): void => {
  const descriptor = openSync(file, 'w', 0o600)
  try {
    writeFileSync(descriptor, bytes)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const matrixOf = async ({ rows, base, matrixFile, options }: TrainJob): Promise<ReadRows> => {
  if (!rows) return { matrix: decodeMatrix(readFileSync(matrixFile)), excluded: [] }
  const read = await readRows(rows, options.seed ?? 0, base)
  refuseAnswerNames(
    read.matrix.columns.map(({ name }) => name),
    options.target,
  )
  writeSynced(matrixFile, encodeMatrix(read.matrix))
  return read
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

const makeMatrix = async ({ rows, base, matrixFile, seed }: MatrixJob): Promise<TrainMessage> => {
  const { matrix } = await readRows(rows, seed, base)
  const bytes = encodeMatrix(matrix)
  writeSynced(matrixFile, bytes)
  return { made: { rows: matrix.rows, sha256: hashOf(bytes) } }
}

const runImport = async (
  { artefactFile, options: { target } }: TrainJob,
  { file, options }: NonNullable<TrainJob['imported']>,
  send: (message: TrainMessage) => void,
): Promise<TrainMessage> => {
  const { artefact, report } = await importOnnx({ file, work: `${artefactFile}.onnx`, target, options }, throttled(send))
  writeSynced(artefactFile, artefact)
  return { done: report, artefactSha256: hashOf(artefact) }
}

const run = async (job: TrainJob, send: (message: TrainMessage) => void): Promise<TrainMessage> => {
  if (job.imported) return runImport(job, job.imported, send)
  const { matrix, excluded, fineTuned } = await matrixOf(job)
  const engine = findEngine(job.engine)
  const { artefact, report } = await engine.train(matrix, job.options, throttled(send))
  writeSynced(job.artefactFile, artefact)
  const asked = job.engine?.toLowerCase() ?? engine.name
  const done = {
    ...report,
    engine: { ...report.engine, ...(asked !== engine.name && { asked }) },
    excluded: [...report.excluded, ...excluded],
    ...(fineTuned && { fine_tuned: fineTuned }),
  }
  return { done, artefactSha256: hashOf(artefact) }
}

const failure = (error: unknown): TrainMessage => {
  if (isProblem(error)) {
    const { code, title, detail, extras } = error
    return { failed: { code, title, detail, ...(extras.hint !== undefined && { hint: extras.hint }) } }
  }
  if (isDiskFull(error)) return failure(diskFull(error))
  // For the log only: an unexpected error may contain rows.
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { failed: { code: 'internal', title: 'Training failed', detail: 'A fault of this service; its log says more.', cause } }
}

const send = (message: TrainMessage): void => {
  process.send?.(message)
}

lowerPriority(backgroundPriority)
ignoreUserSignals()
// Without this, a running query would keep the process alive although nobody needs it.
process.on('disconnect', () => process.exit(1))
endWithParent()
process.once('message', (job: TrainJob | MatrixJob) => {
  void ('artefactFile' in job ? run(job, send) : makeMatrix(job))
    .catch(failure)
    // After a failure a query may still be running.
    .then((last) => process.send?.(last, () => process.exit(0)))
})
