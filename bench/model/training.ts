import { DuckDBInstance } from '@duckdb/node-api'
import { openAsBlob, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { processTree } from '../../test/support/processes.js'
import { service, trainModel, type Target } from '../harness/harness.js'
import { makeDirectory, removeDirectory } from '../harness/processes.js'

/** Every fifth column is a text of few classes, the others are numbers. */
const columnOf = (n: number): string =>
  n % 5 === 4 ? `'c' || (hash(i * ${n + 7}) % ${5 + n * 3})::VARCHAR AS t${n}` : `(hash(i * ${n + 3}) % 10000) / ${10 + n}.0 AS n${n}`

/** Writes a table as Parquet: its target follows from five of its columns, with noise. */
const makeTable = async (file: string, rows: number, columns: number): Promise<void> => {
  const instance = await DuckDBInstance.create()
  const connection = await instance.connect()
  const inputs = Array.from({ length: columns - 1 }, (_, n) => columnOf(n)).join(', ')
  const target = 'n0 * 3 + n1 - n2 * n3 / 100 + length(t4) * 10 + (hash(i * 991) % 100) / 10.0 AS y'
  await connection.run(
    `COPY (SELECT * EXCLUDE (i), ${target} FROM (SELECT i, ${inputs} FROM range(${rows}) r(i))) TO '${file}' (FORMAT parquet)`,
  )
  connection.closeSync()
  instance.closeSync()
}

const upload = async ({ url }: Target, name: string, file: string): Promise<void> => {
  const form = new FormData()
  form.set('file', await openAsBlob(file), basename(file))
  const { ok, status } = await fetch(`${url}/api/files/${name}`, { method: 'PUT', body: form })
  if (!ok) throw new Error(`the upload of ${name} was answered with ${status}`)
}

/** Keeps the highest resident memory of each program of a service, in MB. */
const watchMemory = (pid: number): { peaks: Map<string, number>; stop: () => void } => {
  const peaks = new Map<string, number>()
  const look = (): void => {
    for (const one of processTree(pid))
      try {
        const words = readFileSync(`/proc/${one}/cmdline`, 'utf8').split('\0')
        const program = basename(words.findLast((word) => word.endsWith('.js')) ?? '', '.js')
        const peak = Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${one}/status`, 'utf8'))?.[1] ?? 0) / 1024
        if (program !== '') peaks.set(program, Math.max(peaks.get(program) ?? 0, peak))
      } catch {
        // It has ended meanwhile.
      }
  }
  const looking = setInterval(look, 500)
  return { peaks, stop: () => clearInterval(looking) }
}

const secondsOf = async (work: () => Promise<void>): Promise<number> => {
  const from = performance.now()
  await work()
  return (performance.now() - from) / 1000
}

const measure = async (rows: number, columns: number): Promise<void> => {
  const directory = makeDirectory('training')
  const file = join(directory, 'big.parquet')
  await makeTable(file, rows, columns)
  const target = await service()
  const memory = watchMemory(target.pid)
  try {
    const uploaded = await secondsOf(() => upload(target, 'big', file))
    const trained = await secondsOf(() => trainModel(target, 'm', 'CREATE MODEL m FROM files (SELECT * FROM big) PREDICT y'))
    console.log(
      `training, ${rows.toLocaleString('en')} rows × ${columns}: uploaded in ${uploaded.toFixed(0)} s, trained in ${trained.toFixed(0)} s; most memory`,
    )
    console.log(`  ${[...memory.peaks].map(([program, peak]) => `${program} ${peak.toFixed(0)} MB`).join(', ')}`)
  } finally {
    memory.stop()
    await target.stop()
    removeDirectory(directory)
  }
}

/** Trains the default model on a tall and on a wide table: the time, and the most memory of each process (Linux). */
export const trainings = async (): Promise<void> => {
  await measure(1_000_000, 20)
  await measure(300_000, 100)
}
