import { ask, median, serviceOn, whenBuilt, type Target } from './harness/harness.js'
import { makeHistory } from './log/long-log.js'
import { removeDirectory } from './harness/processes.js'

const skills = 30_000
const states = 10
const rounds = 40

const timed = async (target: Target, query: string): Promise<number> => {
  const from = performance.now()
  await ask(target, query)
  return performance.now() - from
}

/** Queries over a table, given as of now or of a past position. The number prevents a cached answer. */
const queries: Record<string, (table: string, n: number) => string> = {
  'count, by type': (table, n) => `SELECT type, count(*), ${n} FROM ${table} GROUP BY type`,
  'one by name': (table, n) => `SELECT * FROM ${table} WHERE name = 'skill_${n % skills}'`,
  'all names': (table, n) => `SELECT name, type, ${n} FROM ${table}`,
}

/** A query of a table at a random position of a long history, compared with the same query of the current table. */
export const timeTravel = async (): Promise<void> => {
  const directory = await makeHistory(skills, states)
  const target = await serviceOn(directory)
  try {
    await whenBuilt(target)
    const head = Number((await ask(target, 'SELECT max(position) FROM log.events'))[0]?.[0])
    for (const [name, query] of Object.entries(queries)) {
      const took: Record<'now' | 'then', number[]> = { now: [], then: [] }
      for (let n = 0; n < rounds; n++)
        for (const side of n % 2 === 0 ? (['now', 'then'] as const) : (['then', 'now'] as const)) {
          const position = skills + 2 + Math.floor(Math.random() * (head - skills - 2))
          const table = side === 'now' ? 'skills' : `skills AT (VERSION => ${position})`
          took[side].push(await timed(target, query(table, n * 7919)))
        }
      const [now, then] = [median(took.now), median(took.then)]
      console.log(
        `time travel, ${name.padEnd(14)}: ${(then / now).toFixed(2)} times the current table   now ${now.toFixed(1)} ms   then ${then.toFixed(1)} ms   (${skills * states} rows of history)`,
      )
    }
  } finally {
    await target.stop()
    removeDirectory(directory)
  }
}
