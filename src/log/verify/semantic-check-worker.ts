import { parentPort, workerData } from 'node:worker_threads'
import { lastPosition, openForReading } from '../storage/schema.js'
import { checkSemantics } from './semantic-check.js'
import type { SemanticCheckJob, SemanticCheckMessage } from './semantic-check-thread.js'

// The thread that `startSemanticCheck` starts.
const { logFile, masterKeys } = workerData as SemanticCheckJob
const tell = (message: SemanticCheckMessage): void => parentPort?.postMessage(message)

const db = openForReading(logFile)
try {
  db.exec('BEGIN')
  tell({ begun: lastPosition(db) })
  tell({ done: await checkSemantics(db, masterKeys, (at) => tell({ at })) })
} finally {
  db.close()
}
