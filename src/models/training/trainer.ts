import type { ChildProcess } from 'node:child_process'
import { Problem, problemOf } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { startProgram } from '../../setup/start-program.js'
import type { Progress } from '../engines/tabular/fit.js'
import type { ImportReport } from '../engines/onnx/import.js'
import type { TrainReport } from '../engines/tabular/train.js'
import type { MadeMatrix, MatrixJob, TrainJob, TrainMessage } from './train-process.js'

export type TrainResult = { report: TrainReport | ImportReport; artefactSha256: string }

/** Work in a process of its own. Cancelling kills the process; the result then rejects. */
type ProcessTask<T> = { result: Promise<T>; cancel: () => void }

export type Training = ProcessTask<TrainResult>

/** Extracts the result from a message, if it is one. */
type ResultIn<T> = (message: TrainMessage) => T | undefined

const trainedIn: ResultIn<TrainResult> = (message) =>
  'done' in message ? { report: message.done, artefactSha256: message.artefactSha256 } : undefined
const matrixIn: ResultIn<MadeMatrix> = (message) => ('made' in message ? message.made : undefined)

/** The reason why this class killed the process. */
type KillReason = 'cancelled' | 'timeout'

const keptErrorChars = 2_000

const killed = (reason: KillReason, timeoutMs: number): Problem =>
  reason === 'cancelled'
    ? new Problem('not_ready', 'Training cancelled', 'The training was cancelled before it finished')
    : new Problem('query_limit', 'Training took too long', `The training was stopped after its limit of ${timeoutMs} ms`, {
        hint: 'Select fewer rows or columns',
      })

const crashed = (code: number | null, signal: string | null, cause: string): Problem => {
  const how = signal === null ? `ended with code ${code}` : `was ended by ${signal}`
  const why = signal === 'SIGKILL' ? '; the system may have run out of memory' : ''
  return new Problem('internal', 'Training failed', `The training process ${how} before it finished${why}`, { cause })
}

const notStarted = (cause: string): Problem =>
  new Problem('internal', 'Training failed', 'The training process could not be started', { cause })

/**
 * Runs each training in its own process of low priority, so that it uses neither the server's memory nor its time.
 *
 * @example
 * const { result, cancel } = new Trainer().train({ matrixFile, artefactFile, options: { target: 'rental_price' } }, show)
 * const { report, artefactSha256 } = await result
 */
export class Trainer {
  constructor(private readonly timeoutMs: number = limits.trainingTimeoutMs) {}

  /**
   * Starts a training. The result rejects with a problem: the training's own (`wrong_arguments` …), `query_limit` after the time limit,
   * `not_ready` when cancelled, `internal` when the process could not be started, crashed or was killed by others.
   */
  train(job: TrainJob, onProgress: (progress: Progress) => void): Training {
    return this.#run(job, trainedIn, onProgress)
  }

  /** Makes the matrix of rows without training on it; rejects as a training does. */
  matrix(job: MatrixJob): ProcessTask<MadeMatrix> {
    return this.#run(job, matrixIn, () => undefined)
  }

  #run<T>(job: TrainJob | MatrixJob, resultIn: ResultIn<T>, onProgress: (progress: Progress) => void): ProcessTask<T> {
    const child = startProgram('train-process', { readsErrors: true })
    let reason: KillReason | undefined
    const kill = (why: KillReason) => {
      reason ??= why
      child.kill('SIGKILL')
    }
    const timer = setTimeout(() => kill('timeout'), this.timeoutMs)
    const result = this.#outcome(child, { resultIn, onProgress, reasonOf: () => reason }).finally(() => clearTimeout(timer))
    // When the system has no more processes or files, the child is not connected; the result rejects soon.
    if (child.connected) child.send(job)
    return { result, cancel: () => kill('cancelled') }
  }

  #outcome<T>(
    child: ChildProcess,
    {
      resultIn,
      onProgress,
      reasonOf,
    }: { resultIn: ResultIn<T>; onProgress: (progress: Progress) => void; reasonOf: () => KillReason | undefined },
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      let errors = ''
      child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-keptErrorChars)))
      child.on('message', (message: TrainMessage) => {
        const result = resultIn(message)
        if (result !== undefined) resolve(result)
        else if ('progress' in message) onProgress(message.progress)
        else if ('failed' in message) reject(problemOf(message.failed))
      })
      child.on('error', (error) => reject(notStarted(error.message)))
      // After the final message this has no effect.
      child.on('close', (code, signal) => {
        const reason = reasonOf()
        reject(reason ? killed(reason, this.timeoutMs) : crashed(code, signal, errors.trim()))
      })
    })
  }
}
