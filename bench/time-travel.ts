import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { answers, compiled, freePort, median, type Target } from './harness.js'
import { makeHistory } from './long-log.js'
import { end, start as startProcess } from './processes.js'

const skills = 30_000
const states = 10
const rounds = 40

type Answer = { type: string; data: unknown[][]; error_message?: string }

type Address = Omit<Target, 'stop'>

const answerTo = async ({ url }: Address, query: string): Promise<Answer> => {
  const body = JSON.stringify({ query })
  return (
    await fetch(`${url}/api/sql/query`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  ).json() as Promise<Answer>
}

const ask = async (target: Address, query: string): Promise<{ data: unknown[][]; ms: number }> => {
  const from = performance.now()
  const answer = await answerTo(target, query)
  if (answer.type === 'error') throw new Error(answer.error_message)
  return { data: answer.data, ms: performance.now() - from }
}

const serviceOn = async (directory: string): Promise<Target> => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const env = { ...process.env, PORT: String(port), DATA_DIR: directory, NODE_ENV: 'production' }
  const child = startProcess(compiled('src/cli/main.js'), ['serve'], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  await answers(`${url}/api/util/ping`, child)
  const target = { name: 'service', url, directory, pid: child.pid ?? 0 }
  // The tables of a long log take longer than a query waits for them.
  while ((await answerTo(target, 'SELECT 1')).type === 'error') await sleep(500)
  return { ...target, stop: () => end(child) }
}

/** Queries over a table, which stands for itself now or then. The number keeps an answer from being one that is remembered. */
const queries: Record<string, (table: string, n: number) => string> = {
  'count, by type': (table, n) => `SELECT type, count(*), ${n} FROM ${table} GROUP BY type`,
  'one by name': (table, n) => `SELECT * FROM ${table} WHERE name = 'skill_${n % skills}'`,
  'all names': (table, n) => `SELECT name, type, ${n} FROM ${table}`,
}

/** A query of a table at a random position of a long history, against the same of the table as it is. */
export const timeTravel = async (): Promise<void> => {
  const directory = await makeHistory(skills, states)
  const target = await serviceOn(directory)
  try {
    const head = Number((await ask(target, 'SELECT max(position) FROM log.events')).data[0]?.[0])
    for (const [name, query] of Object.entries(queries)) {
      const took: Record<'now' | 'then', number[]> = { now: [], then: [] }
      for (let n = 0; n < rounds; n++)
        for (const side of n % 2 === 0 ? (['now', 'then'] as const) : (['then', 'now'] as const)) {
          const position = skills + 2 + Math.floor(Math.random() * (head - skills - 2))
          const table = side === 'now' ? 'skills' : `skills AT (VERSION => ${position})`
          took[side].push((await ask(target, query(table, n * 7919))).ms)
        }
      const [now, then] = [median(took.now), median(took.then)]
      console.log(
        `time travel, ${name.padEnd(14)}: ${(then / now).toFixed(2)} times the current table   now ${now.toFixed(1)} ms   then ${then.toFixed(1)} ms   (${skills * states} rows of history)`,
      )
    }
  } finally {
    await target.stop()
    rmSync(directory, { recursive: true })
  }
}
