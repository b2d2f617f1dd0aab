import { writeSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { endRuns, FoldWorker, type FoldRuns } from './fold-runs.js'

// A thread of a `WorkerPool`. It has the low priority of the thread that started it.
parentPort?.on('message', (runs: FoldRuns) => {
  try {
    new FoldWorker(runs).work()
  } catch (error) {
    // The leading thread does not return to its event loop while it trains, so it learns of the failure through shared memory.
    writeSync(2, `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    endRuns(runs, 'failed')
  }
})
