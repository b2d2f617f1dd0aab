import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Agent, request } from 'node:http'
import { decodeArtefact } from '../src/models/engines/tabular/artefact.js'
import { compiled, median, send, serverOf, service, trainModel, upload, type Start, type Target } from './harness/harness.js'
import { end, start } from './harness/processes.js'
import { table as scoringTable } from './model/scoring.js'

const columns = 'id,amount,customer,moment,paid'

/** A million rows or more of five columns with some missing values, the same for every run. */
const table = (rows: number): string => {
  const parts: string[] = [columns]
  let state = 11
  const next = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below
  const two = (n: number) => String(n).padStart(2, '0')
  for (let i = 0; i < rows; i++) {
    const amount = next(10) === 0 ? '' : `${next(10_000)}.${two(1 + next(99))}`
    const at = `2024-${two(1 + next(12))}-${two(1 + next(28))} ${two(next(24))}:${two(next(60))}:${two(next(60))}.${100_001 + next(400_000) * 2}`
    parts.push(`${i},${amount},${next(10) === 0 ? '' : `customer ${next(5_000)}`},${at},${next(3) === 0}`)
  }
  return parts.join('\n')
}

/** A server's process and its children (Linux). */
const family = (pid: number): number[] => {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) => {
    const text = readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim()
    return text === '' ? [] : text.split(' ').map(Number)
  })
  return [pid, ...children.flatMap(family)]
}

/** The resident memory of a server's processes in MB; shared pages count once (Pss). */
const residentMb = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0), 0) / 1024

type Read = { seconds: number; firstMs: number; bytes: number; hash: string }

/** Sends a query and reads the answer as fast as it arrives. The hash covers only the rows. */
const readAll = async (url: string, query: string): Promise<Read> => {
  const body = JSON.stringify({ query, context: { db: 'mindsdb' } })
  const from = performance.now()
  const sent = request(`${url}/api/sql/query`, { method: 'POST', headers: { 'content-type': 'application/json' } }).end(body)
  const [response] = (await once(sent, 'response')) as [AsyncIterable<Buffer>]
  const chunks: Buffer[] = []
  let firstMs = 0
  let bytes = 0
  for await (const chunk of response) {
    if (bytes === 0) firstMs = performance.now() - from
    bytes += chunk.length
    chunks.push(chunk)
  }
  const seconds = (performance.now() - from) / 1000
  const text = Buffer.concat(chunks)
  const rows = text.subarray(text.indexOf('"data":[') + 8, text.lastIndexOf('],"context"'))
  return { seconds, firstMs, bytes, hash: createHash('sha256').update(rows).digest('hex') }
}

/** A process of a bare baseline; it answers each message with the result of a run. */
type Bare<T> = { run: () => Promise<T>; child: ChildProcess }

const bareRunner = <T>(file: string, args: readonly string[]): Bare<T> => {
  const child = start(compiled(file), args, { stdio: ['ipc', 'inherit', 'inherit'] })
  const run = async () => {
    child.send('run')
    const [told] = (await once(child, 'message')) as [T]
    return told
  }
  return { run, child }
}

/** Runs both sides once as a warm-up, then in turn, and ends the bare one. */
const alternate = async <A, B>(rounds: number, ours: () => Promise<A>, bare: Bare<B>): Promise<[A[], B[]]> => {
  const runs: [A[], B[]] = [[], []]
  try {
    await ours()
    await bare.run()
    for (let round = 0; round < rounds; round++) {
      const sides = [async () => runs[0].push(await ours()), async () => runs[1].push(await bare.run())]
      for (const side of round % 2 === 0 ? sides : sides.reverse()) await side()
    }
    return runs
  } finally {
    await end(bare.child)
  }
}

/** The blob files of a service. */
const blobsOf = ({ directory }: Target): string[] =>
  readdirSync(join(directory, 'blobs'))
    .filter((name) => /^[0-9a-f]{64}$/.test(name))
    .map((name) => join(directory, 'blobs', name))

const rows = 1_000_000
const query = 'SELECT id, amount, customer, moment, paid FROM files.big'

/** A million rows as JSON over HTTP, compared with the best that one process can do on its own, and the memory of both. */
const exporting = async (target: Target, rounds: number): Promise<void> => {
  const [file = ''] = blobsOf(target)
  const bare = bareRunner<Read>('bench/bare/export.js', [file])
  const [ours, theirs] = await alternate(rounds, () => readAll(target.url, query), bare)
  if (ours[0]?.hash !== theirs[0]?.hash) throw new Error('the two sides write different rows')
  const of = (runs: readonly Read[], key: 'seconds' | 'firstMs') => median(runs.map((run) => run[key]))
  console.log(`sql, ${rows} rows as JSON: ratio ${(of(theirs, 'seconds') / of(ours, 'seconds')).toFixed(2)}`)
  for (const [name, runs] of [
    ['ours', ours],
    ['bare', theirs],
  ] as const)
    console.log(
      `  ${name}  ${of(runs, 'seconds').toFixed(2)} s   first byte ${of(runs, 'firstMs').toFixed(0)} ms   ${(runs[0]?.bytes ?? 0) >> 20} MB`,
    )
}

/** How much the memory of a server's processes grows while a large answer is read, sampled every 50 ms. */
const memory = async (target: Target, count: number): Promise<void> => {
  const pids = family(target.pid)
  const before = residentMb(pids)
  let most = before
  const timer = setInterval(() => (most = Math.max(most, residentMb(pids))), 50)
  await readAll(target.url, `SELECT id + n * ${rows} AS id, amount, customer, moment, paid FROM files.big, range(${count / rows}) AS t(n)`)
  clearInterval(timer)
  console.log(
    `sql, memory: ${count} rows   before ${before.toFixed(0)} MB   most ${most.toFixed(0)} MB   growth ${(most - before).toFixed(0)} MB`,
  )
}

/** Round-trip times of one statement: `connections` in parallel, one request after the other on each. */
const latencies = async (url: string, connections: number, seconds: number): Promise<number[]> => {
  const took: number[] = []
  const until = performance.now() + seconds * 1000
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const body = JSON.stringify({ query: 'SELECT 1', context: { db: 'mindsdb', show_secrets: false } })
  const ask = async () => {
    while (performance.now() < until) {
      const from = performance.now()
      const headers = { 'content-type': 'application/json', 'content-length': body.length }
      const sent = request(`${url}/api/sql/query`, { method: 'POST', headers, agent }).end(body)
      const [response] = (await once(sent, 'response')) as [AsyncIterable<Buffer>]
      for await (const _ of response) continue
      took.push(performance.now() - from)
    }
  }
  await Promise.all(Array.from({ length: connections }, ask))
  agent.destroy()
  return took
}

const relay: Start = serverOf('relay', 'bench/bare/relay.js', [], '/ready')

const small = async (target: Target, rounds: number): Promise<void> => {
  const bare = await relay()
  const ask = (side: Target) => send(side, 'POST', '/api/sql/query', { query: 'SELECT 1', context: { db: 'mindsdb', show_secrets: false } })
  if (JSON.stringify(await ask(target)) !== JSON.stringify(await ask(bare))) throw new Error('the two sides answer differently')
  for (const connections of [1, 16]) {
    const p50 = { ours: [] as number[], bare: [] as number[] }
    for (const side of [target, bare]) await latencies(side.url, connections, 1)
    for (let round = 0; round < rounds; round++)
      for (const side of round % 2 === 0 ? (['ours', 'bare'] as const) : (['bare', 'ours'] as const))
        p50[side].push(median(await latencies((side === 'ours' ? target : bare).url, connections, 3)))
    const [ours, theirs] = [median(p50.ours), median(p50.bare)]
    console.log(
      `sql, SELECT 1, ${connections} connections: p50 ours ${ours.toFixed(2)} ms   bare ${theirs.toFixed(2)} ms   ${(ours / theirs).toFixed(2)} times`,
    )
  }
  await bare.stop()
}

const join1m = `SELECT t.kind, CAST(count(*) AS INTEGER), round(avg(m.y), 9) FROM files.big AS t JOIN mindsdb.m AS m GROUP BY ALL ORDER BY ALL`

/** A JOIN that scores a million rows, compared with staged scoring by the same engine code in one process. */
const scoring = async (rounds: number): Promise<void> => {
  const target = await service()
  try {
    // With so much noise, training stops after a hundred trees.
    await upload(target, 'big', 'big.csv', scoringTable(rows, 4))
    const [file = ''] = blobsOf(target)
    await trainModel(target, 'm', 'CREATE MODEL mindsdb.m FROM files (SELECT * FROM big LIMIT 10000) PREDICT y USING seed = 7')
    const artefact = blobsOf(target).find((name) => readFileSync(name).subarray(0, 7).toString() === 'MLBOOST') ?? ''
    const trees = decodeArtefact(readFileSync(artefact)).trees?.roots.length ?? 0
    const bare = bareRunner<{ seconds: number; answer: unknown }>('bench/bare/staged.js', [file, artefact])
    const ours = async () => {
      const from = performance.now()
      const { data } = (await send(target, 'POST', '/api/sql/query', { query: join1m })) as { data: unknown }
      return { seconds: (performance.now() - from) / 1000, answer: data }
    }
    const [mine, theirs] = await alternate(rounds, ours, bare)
    if (JSON.stringify(mine[0]?.answer) !== JSON.stringify(theirs[0]?.answer)) throw new Error('the two sides score differently')
    const [a, b] = [median(mine.map(({ seconds }) => seconds)), median(theirs.map(({ seconds }) => seconds))]
    console.log(
      `sql, JOIN that scores ${rows} rows with ${trees} trees: ratio ${(b / a).toFixed(2)}   ours ${a.toFixed(2)} s   bare ${b.toFixed(2)} s`,
    )
  } finally {
    await target.stop()
  }
}

const withTable = async (work: (target: Target) => Promise<void>): Promise<void> => {
  const target = await service()
  try {
    await upload(target, 'big', 'big.csv', table(rows))
    await work(target)
  } finally {
    await target.stop()
  }
}

const rounds = 5

/** Large answers, and the memory they need. */
export const large = (): Promise<void> =>
  withTable(async (target) => {
    await exporting(target, rounds)
    await memory(target, rows)
    await memory(target, 5 * rows)
  })

/** Answers of one row. */
export const smallest = async (): Promise<void> => {
  const target = await service()
  try {
    await small(target, rounds)
  } finally {
    await target.stop()
  }
}

/** A JOIN with a model. */
export const joined = (): Promise<void> => scoring(rounds)
