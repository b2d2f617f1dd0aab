import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { lastPosition, openForReading } from '../sqlite/schema.js'
import { checkMeaning, type Meaning } from './meaning.js'

/** What the thread is given. It does nothing where this module is only imported. */
type Given = { verify: string; masterKeys: readonly Uint8Array[] }
type Message = { begun: number } | { at: number } | { done: Meaning }

/** The walk over the meaning in a thread of its own, and the position that it goes up to. */
type MeaningThread = { until: number; done: Promise<Meaning>; stop: () => Promise<unknown> }

/** Starts the thread; when it gives the position, what it reads stays as it is. */
export const startMeaningThread = async (
  logFile: string,
  masterKeys: readonly Uint8Array[],
  onProgress: (position: number) => void,
): Promise<MeaningThread> => {
  const worker = new Worker(new URL(import.meta.url), { workerData: { verify: logFile, masterKeys } satisfies Given })
  // The first of its messages says where it ends; the last one may come right behind it.
  let begin: (until: number) => void = () => undefined
  const begun = new Promise<number>((resolve) => (begin = resolve))
  const done = new Promise<Meaning>((resolve, reject) => {
    worker.on('message', (message: Message) => {
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

const work = async ({ verify: logFile, masterKeys }: Given): Promise<void> => {
  const db = openForReading(logFile)
  try {
    db.exec('BEGIN')
    parentPort?.postMessage({ begun: lastPosition(db) } satisfies Message)
    const meaning = await checkMeaning(db, masterKeys, (at) => parentPort?.postMessage({ at } satisfies Message))
    parentPort?.postMessage({ done: meaning } satisfies Message)
  } finally {
    db.close()
  }
}

const isGiven = (data: unknown): data is Given => typeof data === 'object' && data !== null && 'verify' in data && 'masterKeys' in data

if (!isMainThread && isGiven(workerData)) await work(workerData)
