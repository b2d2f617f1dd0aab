import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

// Prints the number of source files on each of the seven ways of docs/architecture.md. A file is on a way if one of its functions runs.
// Other work of the service runs beside a request. So each way runs three times, and a file counts if it ran at least twice. Linux only.
// `node dist/docs/generators/count-ways.js`, `--files` also prints the names; `--write` puts the numbers into the page.

const home = mkdtempSync(join(tmpdir(), 'mindledger-ways-'))
const notes = join(home, 'notes')
mkdirSync(notes)
const cli = fileURLToPath(new URL('../../bin/mindledger.js', import.meta.url))
const hook = new URL('passed-files.js', import.meta.url).href
const data = join(home, 'data')
/** Node with the hook and a file to write to: a stand-in for itself in all processes. */
const node = join(home, 'node')
writeFileSync(node, `#!/bin/sh\nexec "${process.execPath}" --import "${hook}" "$@" 9>>"${notes}/$$"\n`, { mode: 0o755 })
const env = { ...process.env, DATA_DIR: data, PORT: '0', COUNTED_NODE: node }
const server = spawn(node, [cli, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
const url = await new Promise<string>((resolve) =>
  createInterface({ input: server.stdout }).on('line', (line) => {
    const { msg, url: address } = JSON.parse(line) as { msg?: string; url?: string }
    if (msg === 'serving' && address !== undefined) resolve(address)
  }),
)

/** Processes that were started with the hook. */
const children = (pid: number): number[] => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
const call = async (method: string, path: string, body?: unknown): Promise<void> => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(`${url}/api${path}`, { method, body: text, headers: { 'content-type': 'application/json' } })
  const answer = await response.text()
  if (!response.ok || answer.includes('"type":"error"')) throw new Error(`${method} ${path}: ${answer}`)
}
const sql = (query: string) => call('POST', '/sql/query', { query })

const lines = () =>
  Object.fromEntries(readdirSync(notes).map((file) => [file, readFileSync(join(notes, file), 'utf8').split('\n').slice(0, -1)]))

let read: Record<string, number> = {}

/**
 * Every process notes the functions that ran in it, after the tables had time to follow. Returns the files by process, since the last call.
 */
const look = async (): Promise<Record<string, string[]>> => {
  const asked = [server.pid ?? 0, ...children(server.pid ?? 0)]
  const before = lines()
  const hasNoted = (pid: number) => (lines()[pid]?.length ?? 0) > (before[pid]?.length ?? 0) || !existsSync(`/proc/${pid}`)
  await sleep(400)
  for (const pid of asked)
    try {
      process.kill(pid, 'SIGUSR2')
    } catch {
      // It has ended by now, and noted the functions that ran in it.
    }
  while (!asked.every(hasNoted)) await sleep(20)
  const noted = Object.entries(lines())
  const passed = noted.map(([id, all]) => [id, all.slice(read[id] ?? 0).flatMap((line) => JSON.parse(line) as string[])] as const)
  read = Object.fromEntries(noted.map(([id, all]) => [id, all.length]))
  return Object.fromEntries(passed)
}

const roles = ['server', 'SQL process', 'others'] as const
type Passed = Map<string, Set<string>>

/** The files by the role of their process; `seen` has the processes that existed before. */
const byRole = (passed: Record<string, string[]>, seen: ReadonlySet<string>): Passed => {
  const found: Passed = new Map(roles.map((role) => [role, new Set()]))
  for (const [id, files] of Object.entries(passed)) {
    const role = id === String(server.pid) ? 'server' : seen.has(id) ? 'SQL process' : 'others'
    for (const file of files) found.get(role)?.add(file)
  }
  return found
}

/** The files that are in most rounds: other work may add files to one round, and the tables may follow too late in one. */
const usual = (rounds: readonly Passed[]): Passed =>
  new Map(
    roles.map((role) => {
      const files = rounds.flatMap((one) => [...(one.get(role) ?? [])])
      return [role, new Set(files.filter((file, at) => files.indexOf(file) < at))]
    }),
  )

const page = new URL('../../../docs/architecture.md', import.meta.url)

/** Replaces the numbers in the first line of a way. */
const write = (heading: string, numbers: readonly number[]): void => {
  const waiting = [...numbers]
  const [before = '', ...rest] = readFileSync(page, 'utf8').split(`### ${heading}\n\n`)
  const text = rest.join('')
  const end = text.indexOf('. ')
  const line = text.slice(0, end).replace(/\d+(?= files| in )/g, (number) => String(waiting.shift() ?? number))
  writeFileSync(page, `${before}### ${heading}\n\n${line}${text.slice(end)}`)
}

const print = (heading: string, passed: Passed): void => {
  const all = [...new Set([...passed.values()].flatMap((files) => [...files]))].sort()
  const counts = [...passed].filter(([, files]) => files.size > 0)
  console.log(`${heading}: ${all.length} (${counts.map(([role, { size }]) => `${role} ${size}`).join(', ')})`)
  if (process.argv.includes('--files')) console.log(all.map((file) => `  ${file}`).join('\n'))
  if (process.argv.includes('--write')) write(heading, [all.length, ...counts.map(([, { size }]) => size)])
}

const inTurn = [1, 2, 3]

/** Starts a training, and waits until its process has come and gone. */
const train = async (name: string): Promise<void> => {
  const before = children(server.pid ?? 0).length
  // Each process has its own file there, also when it has ended.
  const noted = readdirSync(notes).length
  await sql(`CREATE MODEL ${name} FROM files (SELECT * FROM homes) PREDICT rent`)
  while (readdirSync(notes).length === noted) await sleep(5)
  while (children(server.pid ?? 0).length > before) await sleep(50)
  await sleep(500)
}

const measure = async (
  heading: string,
  run: (round: number) => Promise<void>,
  prepare: () => Promise<void> = async () => {},
): Promise<void> => {
  const rounds: Passed[] = []
  for (const round of inTurn) {
    await prepare()
    const seen = new Set(children(server.pid ?? 0).map(String))
    await look()
    await run(round)
    rounds.push(byRole(await look(), seen))
  }
  print(heading, usual(rounds))
}

/** The command runs the whole way in a separate process, beside the server. */
const verify = async (): Promise<Passed> => {
  const before = new Set(readdirSync(notes))
  await once(spawn(node, [cli, 'verify', '--quiet'], { env, stdio: 'ignore' }), 'exit')
  const own = Object.entries(lines()).filter(([file]) => !before.has(file))
  return byRole(Object.fromEntries(own.map(([file, noted]) => [file, noted.flatMap((line) => JSON.parse(line) as string[])])), new Set())
}

try {
  const rows = Array.from({ length: 40 }, (_, i) => `${i},${2 * i + (i % 3)}`).join('\n')
  const form = new FormData()
  form.set('file', new Blob([`size,rent\n${rows}`]), 'homes.csv')
  await fetch(`${url}/api/files/homes`, { method: 'PUT', body: form })
  await train('rent')
  const predict = () => call('POST', '/projects/mindsdb/models/rent/predict', [{ size: 12 }])
  await sql('SELECT count(*) FROM agents')
  await predict()
  // Each round has another text, because the service remembers a text that it has rewritten.
  await measure('A SELECT', (round) => sql(`SELECT name AS name_${round} FROM agents`))
  await measure('A JOIN with a model', (round) => sql(`SELECT h.size, m.rent AS rent_${round} FROM files.homes AS h JOIN rent AS m`))
  await measure('A CREATE AGENT', (round) => sql(`CREATE AGENT broker_${round} USING model = 'gpt-4o'`))
  await measure('A prediction', predict)
  await measure('A training', (round) => train(`more_${round}`))
  await measure('An erasure', () => call('POST', '/log/erasures', { before: '2100-01-01T00:00:00Z' }), predict)
  print('A verify', usual([await verify(), await verify(), await verify()]))
} finally {
  server.kill('SIGTERM')
  await once(server, 'exit')
  rmSync(home, { recursive: true, force: true })
}
