import { fork, type ChildProcess } from 'node:child_process'
import { confined, type KeptRights } from './confinement.js'
import { programFile, type Program } from './package.js'

type ProgramOptions = {
  /** Flags of Node for it. */
  flags?: readonly string[]
  env?: Readonly<Record<string, string>>
  /** The rights that it keeps; without it, all. */
  keeps?: KeptRights
  /** Keeps what it writes to its standard error for the caller to read; otherwise that is dropped. */
  readsErrors?: boolean
  /** Sends values such as buffers and dates as they are, not as JSON. */
  sendsValues?: boolean
}

/**
 * Starts a program of this package as a process, which is talked to over IPC. It gets neither the flags nor the environment of the service:
 * variables hold keys and passwords, and name files and settings. What it prints may quote rows, and is dropped.
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
