import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { v7 as uuidv7 } from 'uuid'
import { streamId } from '../events/common.js'
import { SqliteLog } from '../src/log/sqlite/sqlite-log.js'
import { Vault } from '../src/vault/vault.js'

const origin = { actor: 'bench', source: 'system', request: 'bench', correlation: null, causation: null } as const
const perCommand = 1_000

/** A data directory with a log of `events` created skills. */
const makeLog = async (events: number): Promise<string> => {
  const directory = mkdtempSync(join(tmpdir(), 'bench-replay-'))
  const key = randomBytes(32)
  writeFileSync(join(directory, 'FORMAT'), '1\n')
  writeFileSync(join(directory, 'vault.key'), key.toString('hex'))
  const log = new SqliteLog({ file: join(directory, 'log.sqlite'), vault: new Vault(key), pragmas: ['synchronous = OFF'] })
  const project = streamId.parse(uuidv7())
  const params = { database: 'example_db', tables: ['orders', 'items'], description: 'sales' }
  for (let done = 0; done < events; done += perCommand)
    await log.submit({
      origin,
      lookups: {},
      payloads: [],
      decide: () =>
        Array.from({ length: perCommand }, (_, i) => ({
          stream: uuidv7(),
          event: { type: 'SkillCreated', data: { project, name: `skill_${done + i}`, type: 'sql', params } },
        })),
    })
  await log.close()
  return directory
}

type Run = { events: number; skills: number; seconds: number; peakMb: number }
const runner = fileURLToPath(new URL('./replay-run.js', import.meta.url))

const measure = (side: 'ours' | 'bare', directory: string): Run => {
  const into = join(mkdtempSync(join(tmpdir(), 'bench-replay-')), 'replay.duckdb')
  const run = JSON.parse(execFileSync(process.execPath, [runner, side, directory, into], { encoding: 'utf8' })) as Run
  rmSync(join(into, '..'), { recursive: true })
  return run
}

const median = (runs: readonly Run[], key: 'seconds' | 'peakMb') =>
  runs.map((run) => run[key]).sort((a, b) => a - b)[runs.length >> 1] ?? NaN

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
    console.log(`replay of ${events} events: ratio ${(median(runs.bare, 'seconds') / median(runs.ours, 'seconds')).toFixed(2)}`)
    for (const side of ['ours', 'bare'] as const)
      console.log(
        `  ${side}  ${median(runs[side], 'seconds').toFixed(2)} s  ${(events / median(runs[side], 'seconds')).toFixed(0)} events/s  peak ${median(runs[side], 'peakMb').toFixed(0)} MB`,
      )
    rmSync(directory, { recursive: true })
  }
}
