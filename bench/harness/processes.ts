import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'

const running = new Set<ChildProcess>()
const directories = new Set<string>()
let isWatched = false

/** When this process ends, for whatever reason, it ends the processes it started: after an exception, Ctrl-C, or a closed output pipe. */
const watchEnd = (): void => {
  if (isWatched) return
  isWatched = true
  process.once('exit', () => {
    for (const child of running) child.kill('SIGKILL')
    for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  })
  // By default a signal ends a process without its `exit` event, and without `process.exit` a running comparison would continue.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(128 + constants.signals[signal]))
}

/** Starts a compiled file as a process that does not outlive this one. */
export const start = (file: string, args: readonly string[], options: SpawnOptions): ChildProcess => {
  watchEnd()
  const child = spawn(process.execPath, [file, ...args], options)
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

/** Ends a process that `start` returned, and waits until it has exited. */
export const end = async (child: ChildProcess): Promise<void> => {
  if (!running.has(child)) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

/** Makes a directory that is removed when this process ends, or earlier by `removeDirectory`. */
export const makeDirectory = (name: string): string => {
  watchEnd()
  const directory = mkdtempSync(join(tmpdir(), `bench-${name}-`))
  directories.add(directory)
  return directory
}

export const removeDirectory = (directory: string): void => {
  directories.delete(directory)
  rmSync(directory, { recursive: true, force: true })
}
