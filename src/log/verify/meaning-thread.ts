import { Worker } from 'node:worker_threads'
import { programFile } from '../../setup/package.js'
import type { Meaning } from './meaning.js'

/** The thread's input. */
export type MeaningJob = { logFile: string; masterKeys: readonly Uint8Array[] }

/** The thread's messages: its last position, its progress, and its result. */
export type MeaningMessage = { begun: number } | { at: number } | { done: Meaning }

/** The walk over the meaning in a separate thread, and its last position. */
type MeaningThread = { until: number; done: Promise<Meaning>; stop: () => Promise<unknown> }

/** Starts the thread. After its last position is known, its data no longer changes. */
export const startMeaningThread = async (
  logFile: string,
  masterKeys: readonly Uint8Array[],
  onProgress: (position: number) => void,
): Promise<MeaningThread> => {
  const worker = new Worker(programFile('meaning-worker'), { workerData: { logFile, masterKeys } satisfies MeaningJob })
  // The first message has its last position; the last message may follow directly.
  let begin: (until: number) => void = () => undefined
  const begun = new Promise<number>((resolve) => (begin = resolve))
  const done = new Promise<Meaning>((resolve, reject) => {
    worker.on('message', (message: MeaningMessage) => {
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
