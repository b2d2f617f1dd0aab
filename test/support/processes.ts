import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename, join } from 'node:path'

const parentOf = (pid: number): number | undefined => {
  try {
    // The command's name is in brackets and may contain anything.
    return Number(
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[1],
    )
  } catch {
    return undefined
  }
}

/** A process and all its descendants. */
export const processTree = (root: number): number[] => {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(Number(name))] as const)
  const treeOf = (of: number): number[] => [of, ...parents.flatMap(([pid, parent]) => (parent === of ? treeOf(pid) : []))]
  return treeOf(root)
}

/** The descendants of a process that run a file of this name. */
export const childrenRunning = (root: number, file: string): number[] =>
  processTree(root).filter((pid) => {
    try {
      return pid !== root && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(file)
    } catch {
      return false
    }
  })

/** Whether a process has opened a file of this name. */
export const hasOpen = (pid: number, name: string): boolean => {
  try {
    const opened = `/proc/${pid}/fd`
    return readdirSync(opened).some((descriptor) => basename(readlinkSync(join(opened, descriptor))) === name)
  } catch {
    return false
  }
}

const mebibytes = (text: string, name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1024

/** The memory of processes, in MiB: `rss` counts shared pages in each process, `pss` once. */
export const memoryOf = (pids: readonly number[]): { rss: number; pss: number } => {
  const texts = pids.map((pid) => readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))
  const sum = (name: string) => Math.round(texts.reduce((total, text) => total + mebibytes(text, name), 0))
  return { rss: sum('Rss'), pss: sum('Pss') }
}

/** Whether a process exists and is not a zombie. */
export const isRunning = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) Z /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/**
 * Sends a signal to a process, which may have just ended by itself. It fails without a process id, because the id 0 would mean this process
 * and its whole group.
 */
export const signalTo = (pid: number | undefined, name: NodeJS.Signals): void => {
  if (pid === undefined || !(pid > 0)) throw new Error(`there is no process to send ${name} to`)
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
