import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { request } from 'node:http'
import { compiled, median, send, serverOf, service, type Start, type Target } from './harness.js'

const columns = 'id,amount,customer,moment,paid'

/** A million rows or more of five columns with some missing values; every run gets the same. */
const table = (rows: number): Blob => {
  const parts: string[] = [columns]
  let state = 11
  const next = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below
  const two = (n: number) => String(n).padStart(2, '0')
  for (let i = 0; i < rows; i++) {
    const amount = next(10) === 0 ? '' : `${next(10_000)}.${two(1 + next(99))}`
    const at = `2024-${two(1 + next(12))}-${two(1 + next(28))} ${two(next(24))}:${two(next(60))}:${two(next(60))}.${100_001 + next(400_000) * 2}`
    parts.push(`${i},${amount},${next(10) === 0 ? '' : `customer ${next(5_000)}`},${at},${next(3) === 0}`)
  }
  return new Blob([parts.join('\n')])
}

const upload = async (target: Target, name: string, rows: number): Promise<void> => {
  const form = new FormData()
  form.set('file', table(rows), `${name}.csv`)
  const uploaded = await fetch(`${target.url}/api/files/${name}`, { method: 'PUT', body: form })
  if (!uploaded.ok) throw new Error(await uploaded.text())
}

/** The process of a server and those that it started (Linux). */
const family = (pid: number): number[] => {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) => {
    const text = readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim()
    return text === '' ? [] : text.split(' ').map(Number)
  })
  return [pid, ...children.flatMap(family)]
}

/** Resident memory of a server's processes together, without the pages that they share (Pss), in MB. */
const residentMb = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0), 0) / 1024

type Read = { seconds: number; firstMs: number; bytes: number; hash: string }

/** Sends a query and reads the answer as fast as it comes. The hash is of the rows alone. */
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

type Told = { seconds: number; firstMs: number; bytes: number; hash: string }

/** A process of `bench/bare/export.ts`, which answers each line it is sent with figures of a run. */
const bareExport = (file: string): { run: () => Promise<Told>; child: ChildProcess } => {
  const child = spawn(process.execPath, [compiled('bench/bare/export.js'), file], { stdio: ['ipc', 'inherit', 'inherit'] })
  const run = async () => {
    child.send('run')
    const [told] = (await once(child, 'message')) as [Told]
    return told
  }
  return { run, child }
}

const rows = 1_000_000
const query = 'SELECT id, amount, customer, moment, paid FROM files.big'

/** A million rows as JSON over HTTP against the best that one process can do for itself, and what both take of memory. */
const exporting = async (target: Target, rounds: number): Promise<void> => {
  const content = ((await send(target, 'POST', '/api/sql/query', { query: 'SELECT stream FROM files_history LIMIT 0' })) as { type: string }).type
  if (content === '') throw new Error('SQL does not answer')
  const blobs = `${target.directory}/blobs`
  const [file] = readdirSync(blobs).filter((name) => /^[0-9a-f]{64}$/.test(name))
  const bare = bareExport(`${blobs}/${file ?? ''}`)
  const ours: Read[] = []
  const theirs: Told[] = []
  await readAll(target.url, query)
  await bare.run()
  for (let round = 0; round < rounds; round++) {
    const sides = [async () => ours.push(await readAll(target.url, query)), async () => theirs.push(await bare.run())]
    for (const side of round % 2 === 0 ? sides : sides.reverse()) await side()
  }
  bare.child.kill()
  if (ours[0]?.hash !== theirs[0]?.hash) throw new Error('the two sides write different rows')
  const of = (runs: readonly Read[], key: 'seconds' | 'firstMs') => median(runs.map((run) => run[key]))
  console.log(`sql, ${rows} rows as JSON: ratio ${(of(theirs, 'seconds') / of(ours, 'seconds')).toFixed(2)}`)
  for (const [name, runs] of [['ours', ours], ['bare', theirs]] as const)
    console.log(`  ${name}  ${of(runs, 'seconds').toFixed(2)} s   first byte ${of(runs, 'firstMs').toFixed(0)} ms   ${(runs[0]?.bytes ?? 0) >> 20} MB`)
}

/** How much the processes of a server grow while a large answer is read, sampled every 50 ms. */
const memory = async (target: Target, count: number): Promise<void> => {
  const pids = family(target.pid)
  const before = residentMb(pids)
  let most = before
  const timer = setInterval(() => (most = Math.max(most, residentMb(pids))), 50)
  await readAll(target.url, `SELECT id + n * ${rows} AS id, amount, customer, moment, paid FROM files.big, range(${count / rows}) AS t(n)`)
  clearInterval(timer)
  console.log(`sql, memory: ${count} rows   before ${before.toFixed(0)} MB   most ${most.toFixed(0)} MB   growth ${(most - before).toFixed(0)} MB`)
}

/** Round trips of one statement: `connections` at a time, one after the other on each. */
const latencies = async (url: string, connections: number, seconds: number): Promise<number[]> => {
  const took: number[] = []
  const until = performance.now() + seconds * 1000
  const { Agent } = await import('node:http')
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
    console.log(`sql, SELECT 1, ${connections} connections: p50 ours ${ours.toFixed(2)} ms   bare ${theirs.toFixed(2)} ms   ${(ours / theirs).toFixed(2)} times`)
  }
  await bare.stop()
}

/** Large answers, small answers, and what they take of memory. */
export const sql = async (): Promise<void> => {
  const rounds = 5
  const target = await service()
  try {
    await upload(target, 'big', rows)
    await exporting(target, rounds)
    await memory(target, rows)
    await memory(target, 5 * rows)
    await small(target, rounds)
  } finally {
    await target.stop()
  }
}
