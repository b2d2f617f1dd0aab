import { execFileSync } from 'node:child_process'
import { compiled, median } from '../harness/harness.js'
import { makeHistory } from './long-log.js'
import { removeDirectory } from '../harness/processes.js'

type Run = { events: number; root: string; seconds: number; peakMb: number }

const measure = (side: 'ours' | 'bare', directory: string): Run =>
  JSON.parse(execFileSync(process.execPath, [compiled('bench/log/verify-run.js'), side, directory], { encoding: 'utf8' })) as Run

const middle = (runs: readonly Run[], key: 'seconds' | 'peakMb') => median(runs.map((run) => run[key]))

const skills = 50_000
const states = 20

/**
 * Verifying a log of 1M events, 50k skills with 20 states each, compared with a loop that reads and hashes the same bytes and checks
 * nothing else.
 */
export const verify = async (): Promise<void> => {
  const directory = await makeHistory(skills, states)
  const runs: Record<'ours' | 'bare', Run[]> = { ours: [], bare: [] }
  for (let round = 0; round < 5; round++)
    for (const side of round % 2 === 0 ? (['ours', 'bare'] as const) : (['bare', 'ours'] as const))
      runs[side].push(measure(side, directory))
  const all = [...runs.ours, ...runs.bare]
  if (new Set(all.map(({ events, root }) => `${events} ${root}`)).size !== 1) throw new Error('the two sides disagree')
  console.log(`verify of ${all[0]?.events ?? 0} events: ratio ${(middle(runs.bare, 'seconds') / middle(runs.ours, 'seconds')).toFixed(2)}`)
  for (const side of ['ours', 'bare'] as const)
    console.log(`  ${side}  ${middle(runs[side], 'seconds').toFixed(2)} s   peak ${middle(runs[side], 'peakMb').toFixed(0)} MB`)
  removeDirectory(directory)
}
