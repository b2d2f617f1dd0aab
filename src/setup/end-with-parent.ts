import { Worker } from 'node:worker_threads'
import { programFile } from './package.js'

/**
 * Ends this process soon after its parent has ended. It is for a process whose main thread may be in a call that takes long or never
 * returns: meanwhile that thread receives no events, not even that its parent is gone.
 *
 * @example endWithParent() // once, at the start of the program
 */
export const endWithParent = (): void => {
  // The new thread inherits the rights of the process. So it does not load the script that gives up rights.
  new Worker(programFile('watchdog'), { workerData: process.ppid, execArgv: [] }).unref()
}
