import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median } from '../harness/harness.js'
import { makeLog } from './long-log.js'
import { makeDirectory, removeDirectory } from '../harness/processes.js'

type Run = { events: number; skills: number; seconds: number; peakMb: number }
const runner = fileURLToPath(new URL('./replay-run.js', import.meta.url))

const measure = (side: 'ours' | 'bare', directory: string): Run => {
  const fresh = makeDirectory('replay')
  const into = join(fresh, 'replay.duckdb')
  const run = JSON.parse(execFileSync(process.execPath, [runner, side, directory, into], { encoding: 'utf8' })) as Run
  removeDirectory(fresh)
  return run
}

const middle = (runs: readonly Run[], key: 'seconds' | 'peakMb') => median(runs.map((run) => run[key]))

/** Building the DuckDB tables from a log of 100k and of 1M events. */
export const replay = async (): Promise<void> => {
  for (const events of [100_000, 1_000_000]) {
    const directory = await makeLog(events)
    const runs: Record<'ours' | 'bare', Run[]> = { ours: [], bare: [] }
    for (let round = 0; round < 5; round++)
      for (const side of round % 2 === 0 ? (['ours', 'bare'] as const) : (['bare', 'ours'] as const))
        runs[side].push(measure(side, directory))
    if (new Set([...runs.ours, ...runs.bare].map(({ events, skills }) => `${events} ${skills}`)).size !== 1)
      throw new Error('the two sides disagree')
    console.log(`replay of ${events} events: ratio ${(middle(runs.bare, 'seconds') / middle(runs.ours, 'seconds')).toFixed(2)}`)
    for (const side of ['ours', 'bare'] as const)
      console.log(
        `  ${side}  ${middle(runs[side], 'seconds').toFixed(2)} s  ${(events / middle(runs[side], 'seconds')).toFixed(0)} events/s  peak ${middle(runs[side], 'peakMb').toFixed(0)} MB`,
      )
    removeDirectory(directory)
  }
}
