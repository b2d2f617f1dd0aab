import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { delayOf, type Delay } from './harness/delay.js'
import { serviceOn, whenBuilt, type Target } from './harness/harness.js'
import { makeDirectory, removeDirectory } from './harness/processes.js'
import { makeHistory } from './log/long-log.js'

const skills = Number(process.env['BENCH_SKILLS'] ?? 200_000)
const clients = 8

/** Reads an answer without keeping it, and returns its length. */
const drained = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    get(url, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url}: ${String(response.statusCode)}`))
      let bytes = 0
      response.on('data', (chunk: Buffer) => (bytes += chunk.length))
      response.on('end', () => resolve(bytes)).on('error', reject)
    }).on('error', reject)
  })

/** The resident memory of a process in MB. */
const residentMb = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? NaN) / 1024

type Reading = Delay & { seconds: number; bytes: number; moreMb: number }

/** Lets clients read a list at once: the time until the last has it, the delay of the event loop, and the memory on top, every 50 ms. */
const read = async ({ url, pid }: Target, socket: string, path: string, count: number): Promise<Reading> => {
  await delayOf(socket)
  const before = residentMb(pid)
  let most = before
  const looking = setInterval(() => (most = Math.max(most, residentMb(pid))), 50)
  const from = performance.now()
  try {
    const [bytes = 0] = await Promise.all(Array.from({ length: count }, () => drained(url + path)))
    const seconds = (performance.now() - from) / 1000
    return { ...(await delayOf(socket)), seconds, bytes, moreMb: most - before }
  } finally {
    clearInterval(looking)
  }
}

const lineOf = (name: string, { seconds, busyMs, ranMs, wallMs, moreMb }: Reading): string =>
  `  ${name}  ${seconds.toFixed(1)} s, ${(busyMs / 1000).toFixed(1)} s of processor; longest stretch ${ranMs.toFixed(0)} ms, ${wallMs.toFixed(0)} by the clock; ${moreMb.toFixed(0)} MB more`

/**
 * A long list, now and as of a past position: one client compared with eight at once. Others wait for the longest stretch of the event loop
 * (Linux).
 */
export const lists = async (): Promise<void> => {
  const directory = await makeHistory(skills, 2)
  const delays = makeDirectory('delay')
  const socket = join(delays, 'delay')
  const target = await serviceOn(directory, { DELAY_SOCKET: socket }, ['bench/harness/delay-probe.js'])
  try {
    await whenBuilt(target)
    // The project is the first event. Then come the first states of all skills.
    for (const [name, query] of [
      ['now', ''],
      ['as of a past position', `?as_of=${skills + 1}`],
    ] as const) {
      const path = `/api/projects/mindsdb/skills${query}`
      await drained(target.url + path)
      const one = await read(target, socket, path, 1)
      const all = await read(target, socket, path, clients)
      console.log(
        `lists, ${skills} skills (${(one.bytes / 1e6).toFixed(0)} MB) ${name}: ${clients} clients at once take ${(all.seconds / one.seconds).toFixed(1)} times as long as one`,
      )
      console.log(lineOf('one  ', one))
      console.log(lineOf('eight', all))
    }
  } finally {
    await target.stop()
    for (const made of [directory, delays]) removeDirectory(made)
  }
}
