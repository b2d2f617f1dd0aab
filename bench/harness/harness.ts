import autocannon from 'autocannon'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { end, makeDirectory, removeDirectory, start } from './processes.js'

/** A server in a process and a directory of its own. */
export type Target = { name: string; url: string; directory: string; pid: number; stop: () => Promise<void> }
export type Start = () => Promise<Target>

/** A load: how many connections, how long, and the request with the number `n`. */
export type Load = { connections: number; seconds: number; request: (n: number) => autocannon.Request }
export type Figures = { perSecond: number; p50: number; p99: number; failed: number }

const compiledRoot = fileURLToPath(new URL('../../', import.meta.url))

/** The path of a compiled file of this checkout; an absolute path stays as it is. */
export const compiled = (file: string) => resolve(compiledRoot, file)

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const answers = async (url: string, child: ChildProcess): Promise<void> => {
  // A node follows a long log before it answers.
  for (let waited = 0; waited < 600_000; waited += 20) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    if (
      await fetch(url).then(
        (response) => response.ok,
        () => false,
      )
    )
      return
    await sleep(20)
  }
  throw new Error(`nothing answers at ${url}`)
}

/** A compiled file that is a server: it gets PORT and DATA_DIR, and must answer GET `ready`. */
type Server = {
  name: string
  file: string
  args: readonly string[]
  ready: string
  environment?: Record<string, string>
  /** Compiled files that are loaded before it. */
  before?: readonly string[]
}

const startOn = async (directory: string, { name, file, args, ready, environment, before = [] }: Server): Promise<Target> => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const env = { ...process.env, PORT: String(port), DATA_DIR: directory, NODE_ENV: 'production', ...environment }
  const [first = '', ...rest] = [...before.flatMap((one) => ['--import', compiled(one)]), compiled(file), ...args]
  const child = start(first, rest, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  await answers(url + ready, child)
  return { name, url, directory, pid: child.pid ?? 0, stop: () => end(child) }
}

const startAnew = async (server: Server): Promise<Target> => {
  const target = await startOn(makeDirectory(server.name), server)
  const stop = async () => {
    await target.stop()
    removeDirectory(target.directory)
  }
  return { ...target, stop }
}

/** A bare baseline as a server. */
export const serverOf =
  (name: string, file: string, args: readonly string[], ready: string, environment: Record<string, string> = {}): Start =>
  () =>
    startAnew({ name, file, args, ready, environment })

// It logs nowhere.
const ourServer: Server = { name: 'service', file: 'bin/mindledger.js', args: ['serve'], ready: '/api/util/ping' }

/** The service as it is. */
export const service: Start = () => startAnew(ourServer)

/** The directory of another compiled checkout, which takes the place of each bare baseline. */
const earlierCheckout = process.env['BENCH_BEFORE']

/** The service of another checkout. */
const serviceOf =
  (checkout: string): Start =>
  () =>
    startAnew({ ...ourServer, file: join(resolve(checkout), 'dist', ourServer.file) })

/** The service with other settings. */
export const serviceWith =
  (environment: Record<string, string>): Start =>
  () =>
    startAnew({ ...ourServer, environment })

/** The service on an existing directory, which is kept; our own files may be loaded before it. */
export const serviceOn = (directory: string, environment: Record<string, string> = {}, before: readonly string[] = []): Promise<Target> =>
  startOn(directory, { ...ourServer, environment, before })

export const run = async (target: Target, { connections, seconds, request }: Load): Promise<Figures> => {
  let n = 0
  const result = await autocannon({
    url: target.url,
    connections,
    duration: seconds,
    requests: [{ setupRequest: (given) => ({ ...given, ...request(n++) }) }],
  })
  return {
    perSecond: result['2xx'] / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    failed: result.non2xx + result.errors,
  }
}

export const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN

const isStrict = process.env['BENCH_STRICT'] === '1'

/** Names the aims that are missed. With BENCH_STRICT=1 the run then ends with exit code 1. @example checkAims([['within 300 ms', ms <= 300]]) */
export const checkAims = (aims: readonly (readonly [aim: string, isKept: boolean])[]): void => {
  const missed = aims.filter(([, isKept]) => !isKept)
  for (const [aim] of missed) console.log(`  missed: ${aim}`)
  if (isStrict && missed.length > 0) process.exitCode = 1
}

/** The first few thousand requests cost up to twice as much, while Node compiles. A service runs for weeks, so they are not measured. */
const warmSeconds = 3

/**
 * Runs both in turn and prints the ratio of the medians. Every run starts its own servers. With BENCH_BEFORE the other side is the service
 * of that checkout, and BENCH_ROUNDS says how many rounds tell a small difference.
 */
export const compare = async (
  name: string,
  {
    ours,
    bare,
    prepare,
    load,
    finish,
    rounds = Number(process.env['BENCH_ROUNDS'] ?? 5),
  }: {
    ours: Start
    bare: Start
    prepare: (target: Target) => Promise<void>
    load: Load
    /** Called before a server is stopped. */
    finish?: (target: Target) => Promise<void>
    rounds?: number
  },
): Promise<void> => {
  const other = earlierCheckout === undefined ? bare : serviceOf(earlierCheckout)
  const figures: Record<'ours' | 'bare', Figures[]> = { ours: [], bare: [] }
  for (let round = 0; round < rounds; round++)
    for (const side of round % 2 === 0 ? (['ours', 'bare'] as const) : (['bare', 'ours'] as const)) {
      const target = await (side === 'ours' ? ours : other)()
      try {
        await prepare(target)
        await run(target, { ...load, seconds: warmSeconds })
        const measured = await run(target, load)
        if (measured.failed > 0) throw new Error(`${name}: ${measured.failed} requests to ${side} failed`)
        figures[side].push(measured)
        await finish?.(target)
      } finally {
        await target.stop()
      }
    }
  print(name, figures.ours, figures.bare)
}

const print = (name: string, ours: readonly Figures[], bare: readonly Figures[]) => {
  const of = (runs: readonly Figures[], key: keyof Figures) => median(runs.map((figures) => figures[key]))
  const side = (label: string, runs: readonly Figures[]) =>
    `  ${label}  ${of(runs, 'perSecond').toFixed(0).padStart(7)} /s   p50 ${of(runs, 'p50').toFixed(1)} ms   p99 ${of(runs, 'p99').toFixed(1)} ms`
  console.log(`${name}: ratio ${(of(ours, 'perSecond') / of(bare, 'perSecond')).toFixed(earlierCheckout === undefined ? 2 : 3)}`)
  console.log(side('ours', ours))
  console.log(side(earlierCheckout === undefined ? 'bare' : 'before', bare))
}

export const send = async (
  target: Target,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<unknown> => {
  const response = await fetch(target.url + path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

/** The rows that a statement returns. */
export const ask = async (target: Target, query: string): Promise<unknown[][]> => {
  const answer = (await send(target, 'POST', '/api/sql/query', { query })) as { type: string; data: unknown[][]; error_message?: string }
  if (answer.type === 'error') throw new Error(answer.error_message)
  return answer.data
}

/** Waits until the tables are built: for a long log that takes longer than a query waits for them. */
export const whenBuilt = async (target: Target): Promise<void> => {
  const isAnswered = () =>
    ask(target, 'SELECT 1').then(
      () => true,
      () => false,
    )
  while (!(await isAnswered())) await sleep(500)
}

/** Uploads a table as a file of the service. The extension of `filename` gives its format. */
export const upload = async (target: Target, name: string, filename: string, content: string | Uint8Array): Promise<void> => {
  const form = new FormData()
  form.set('file', new Blob([content]), filename)
  const uploaded = await fetch(`${target.url}/api/files/${name}`, { method: 'PUT', body: form })
  if (!uploaded.ok) throw new Error(await uploaded.text())
}

/** Creates a model by SQL, and waits until it is trained. */
export const trainModel = async (target: Target, name: string, query: string): Promise<void> => {
  await send(target, 'POST', '/api/projects/mindsdb/models', { query })
  for (;;) {
    const { status } = (await send(target, 'GET', `/api/projects/mindsdb/models/${name}`)) as { status: string }
    if (status === 'error') throw new Error('the training failed')
    if (status === 'complete') return
    await sleep(100)
  }
}

/** Asserts that both sides give the same answer, except for the fields that name an instance. */
export const sameAnswer = async (starts: readonly Start[], ask: (target: Target) => Promise<unknown>): Promise<void> => {
  const answered: string[] = []
  for (const start of starts) {
    const target = await start()
    try {
      const same = (key: string, value: unknown) => (/^(id|project_id|created_at|updated_at)$/.test(key) ? 0 : value)
      answered.push(JSON.stringify(await ask(target), same))
    } finally {
      await target.stop()
    }
  }
  if (new Set(answered).size !== 1) throw new Error(`the two sides answer differently:\n${answered.join('\n')}`)
}
