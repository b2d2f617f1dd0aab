import { Worker } from 'node:worker_threads'
import { programFile } from '../../setup/programs.js'
import type { Meaning } from './meaning.js'

/** What the thread is given. */
export type MeaningJob = { logFile: string; masterKeys: readonly Uint8Array[] }

/** What it tells: the position it goes up to, how far it came, and what it found. */
export type MeaningMessage = { begun: number } | { at: number } | { done: Meaning }

/** The walk over the meaning in a thread of its own, and the position that it goes up to. */
type MeaningThread = { until: number; done: Promise<Meaning>; stop: () => Promise<unknown> }

/** Starts the thread; when it gives the position, what it reads stays as it is. */
export const startMeaningThread = async (
  logFile: string,
  masterKeys: readonly Uint8Array[],
  onProgress: (position: number) => void,
): Promise<MeaningThread> => {
  const worker = new Worker(programFile('meaning-worker'), { workerData: { logFile, masterKeys } satisfies MeaningJob })
  // The first of its messages says where it ends; the last one may come right behind it.
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
  done.catch(() => undefined) // Who awaits it hears of it; until then it is no unhandled rejection.
  const failed = done.then(() => begun)
  return { until: await Promise.race([begun, failed]), done, stop: () => worker.terminate() }
}
