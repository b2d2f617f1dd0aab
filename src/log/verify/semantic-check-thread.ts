import { Worker } from 'node:worker_threads'
import { programFile } from '../../setup/package.js'
import type { SemanticReport } from './semantic-check.js'

/** The thread's input. */
export type SemanticCheckJob = { logFile: string; masterKeys: readonly Uint8Array[] }

/** The thread's messages: its last position, its progress, and its result. */
export type SemanticCheckMessage = { begun: number } | { at: number } | { done: SemanticReport }

/** The walk over the meaning in a separate thread, and its last position. */
type SemanticCheckThread = { until: number; done: Promise<SemanticReport>; stop: () => Promise<unknown> }

/** Starts the thread. After its last position is known, its data no longer changes. */
export const startSemanticCheck = async (
  logFile: string,
  masterKeys: readonly Uint8Array[],
  onProgress: (position: number) => void,
): Promise<SemanticCheckThread> => {
  const worker = new Worker(programFile('semantic-check-worker'), { workerData: { logFile, masterKeys } satisfies SemanticCheckJob })
  // The first message has its last position; the last message may follow directly.
  let begin: (until: number) => void = () => undefined
  const begun = new Promise<number>((resolve) => (begin = resolve))
  const done = new Promise<SemanticReport>((resolve, reject) => {
    worker.on('message', (message: SemanticCheckMessage) => {
      if ('begun' in message) begin(message.begun)
      else if ('at' in message) onProgress(message.at)
      else resolve(message.done)
    })
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`the thread that checks the events ended with ${code}`)))
  })
  done.catch(() => undefined) // The caller that awaits it gets the error; until then it must not count as an unhandled rejection.
  const failed = done.then(() => begun)
  return { until: await Promise.race([begun, failed]), done, stop: () => worker.terminate() }
}
