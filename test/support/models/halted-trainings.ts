import processes from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'

/**
 * A service that is started with this file (`NODE_OPTIONS: --import=…`) halts each process of a training as soon as it has started it: on a
 * busy machine such a process may be over before a test sees it. SIGCONT lets it go on.
 */
const { fork } = processes
const halting = (...given: Parameters<typeof fork>): processes.ChildProcess => {
  const child = fork(...given)
  if (String(given[0]).includes('train-process')) child.kill('SIGSTOP')
  return child
}
Object.assign(processes, { fork: halting })
syncBuiltinESMExports()
