import { fork, type ChildProcess } from 'node:child_process'
import { confined, type KeptRights } from './confinement.js'
import { programFile, type Program } from './package.js'

type ProgramOptions = {
  /** Flags of Node for the process. */
  flags?: readonly string[]
  env?: Readonly<Record<string, string>>
  /** The rights that the process keeps; all by default. */
  keeps?: KeptRights
  /** Lets the caller read the standard error of the process; by default it is dropped. */
  readsErrors?: boolean
  /** Sends values such as buffers and dates without conversion to JSON. */
  sendsValues?: boolean
}

/**
 * Starts a program of this package as a process with an IPC channel. It gets neither the flags nor the environment of the service, because
 * variables contain keys and passwords, and refer to files and settings. Its output may contain rows, so it is dropped.
 *
 * @example const child = startProgram('train-process', { readsErrors: true }); child.send(job)
 */
export const startProgram = (program: Program, { flags = [], env, keeps, readsErrors, sendsValues }: ProgramOptions = {}): ChildProcess => {
  const confinement = keeps && confined(keeps)
  return fork(programFile(program), [], {
    execArgv: ['--no-warnings', ...(confinement?.execArgv ?? []), ...flags],
    env: { TZ: 'UTC', ...confinement?.env, ...env },
    ...(sendsValues && { serialization: 'advanced' }),
    stdio: ['ignore', 'ignore', readsErrors ? 'pipe' : 'ignore', 'ipc'],
  })
}
