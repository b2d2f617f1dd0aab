import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask, median, serviceOn } from './harness/harness.js'
import { makeLog } from './log/long-log.js'
import { makeDirectory, removeDirectory } from './harness/processes.js'

const restSeconds = 20

/** A process and all its descendants. */
const family = (pid: number): number[] => {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), statusOf(Number(name), 'PPid')] as const)
  const below = (root: number): number[] => [root, ...parents.filter(([, parent]) => parent === root).flatMap(([child]) => below(child))]
  return below(pid)
}

/** A number from /proc/<pid>/status; 0 when the process is gone. */
const statusOf = (pid: number, key: string): number => {
  try {
    return Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

type Run = { seconds: number; restMb: number; processes: number }

/** Starts the service on a directory, and queries its tables as soon as it serves. */
const measure = async (directory: string): Promise<Run> => {
  const from = performance.now()
  const target = await serviceOn(directory)
  await ask(target, 'SELECT count(*) FROM log.events')
  const seconds = (performance.now() - from) / 1000
  await sleep(restSeconds * 1000)
  const pids = family(target.pid)
  const restMb = pids.reduce((sum, pid) => sum + statusOf(pid, 'VmRSS'), 0) / 1024
  await target.stop()
  return { seconds, restMb, processes: pids.length }
}

/** The time from the start of the process to the first answer in SQL, and the resident memory of all its idle processes (Linux). */
export const start = async (): Promise<void> => {
  const empty = makeDirectory('start')
  const full = await makeLog(100_000)
  for (const [label, directory, fresh] of [
    ['empty directory           ', empty, false],
    ['100k events, tables to build', full, true],
    ['100k events               ', full, false],
  ] as const) {
    const runs: Run[] = []
    for (let round = 0; round < 3; round++) {
      if (fresh)
        for (const name of readdirSync(directory)) if (name.startsWith('analytics')) rmSync(join(directory, name), { recursive: true })
      runs.push(await measure(directory))
    }
    const [seconds, restMb] = [median(runs.map((run) => run.seconds)), Math.max(...runs.map((run) => run.restMb))]
    console.log(
      `start, ${label}  first answer in SQL ${seconds.toFixed(2)} s   at rest ${restMb.toFixed(0)} MB in ${runs[0]?.processes} processes`,
    )
  }
  for (const directory of [empty, full]) removeDirectory(directory)
}
