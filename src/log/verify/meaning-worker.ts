import { parentPort, workerData } from 'node:worker_threads'
import { lastPosition, openForReading } from '../storage/schema.js'
import { checkMeaning } from './meaning.js'
import type { MeaningJob, MeaningMessage } from './meaning-thread.js'

// The thread that `startMeaningThread` starts.
const { logFile, masterKeys } = workerData as MeaningJob
const tell = (message: MeaningMessage): void => parentPort?.postMessage(message)

const db = openForReading(logFile)
try {
  db.exec('BEGIN')
  tell({ begun: lastPosition(db) })
  tell({ done: await checkMeaning(db, masterKeys, (at) => tell({ at })) })
} finally {
  db.close()
}
