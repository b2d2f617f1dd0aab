import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { programFile } from '../../../../setup/package.js'
import type { FoldRuns } from './fold-runs.js'

/** The most threads: a plan has no more folds than this, so more threads would be idle. */
const mostThreads = 5

/** The default number of threads: as many as the machine can run at once. */
const usualThreads = (): number => Math.min(availableParallelism(), mostThreads)

/**
 * Helper threads that work on the folds of the caller's trainings. They start when the first work arrives, have the priority of the calling
 * thread, end with its process, and do not keep a process alive.
 *
 * @example
 * const pool = new WorkerPool(2)
 * pool.join(runs) // one other thread works on them too, until they are over
 * pool.close()
 */
export class WorkerPool {
  private helpers: Worker[] | undefined

  /** `threads` includes the caller's own: 1 starts no helper. */
  constructor(readonly threads: number = usualThreads()) {}

  /** Lets the helpers join. They share the memory of the runs and copy the rest. */
  join(runs: FoldRuns): void {
    this.helpers ??= Array.from({ length: this.threads - 1 }, () => this.start())
    for (const helper of this.helpers) helper.postMessage(runs)
  }

  /** Ends the helpers. */
  close(): void {
    for (const helper of this.helpers ?? []) void helper.terminate()
    this.helpers = undefined
  }

  private start(): Worker {
    const helper = new Worker(programFile('pool-thread'), { execArgv: [] })
    helper.unref()
    return helper
  }
}
