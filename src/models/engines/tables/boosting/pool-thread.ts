import { writeSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { endRuns, type FoldRuns } from './fold-runs.js'
import { FoldWorker } from './fold-worker.js'

// A thread of a `Crew`. It was started by a thread of low priority and has the same one.
parentPort?.on('message', (runs: FoldRuns) => {
  try {
    new FoldWorker(runs).work()
  } catch (error) {
    // The thread that leads does not return to its events while it trains: it is told by what both can see.
    writeSync(2, `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    endRuns(runs, 'failed')
  }
})
