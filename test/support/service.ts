import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { startService, type Service } from '../../src/main.js'
import { readConfig } from '../../src/setup/config.js'
import { temporaryDirectory } from './directories.js'
import { whenReached } from './until.js'

export { temporaryDirectory }

export type Reply = { status: number; type: string; headers: Headers; body: unknown }

/** Sends a request; an object becomes JSON, a text is sent unchanged. */
export const send = async (
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> => {
  const raw = typeof body === 'string' || body instanceof FormData || body instanceof Uint8Array
  const response = await fetch(url + path, {
    method,
    headers: { ...(body !== undefined && !(body instanceof FormData) && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: raw ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const type = response.headers.get('content-type') ?? ''
  return {
    status: response.status,
    type,
    headers: response.headers,
    body: /[/+]json(?:;|$)/.test(type) && text !== '' ? JSON.parse(text) : text,
  }
}

export type SqlReply = { type: string; column_names: string[]; data: unknown[][]; error_message?: string; context: { db: string } }

/**
 * The errors of a statement that had no effect, so that clients send it again: SQL starts, or waits for a process that an earlier server
 * left behind; a shared log took too long, or a node could not catch up with the others.
 */
const notYet = new RegExp(
  [
    '^The process that answers SQL (?:is starting|cannot start: .*another process holds it)',
    '^The tables are being built',
    'the shared log (?:took too long|cannot be reached); nothing of this request was recorded',
    'this node could not catch up with the other nodes in time',
  ].join('|'),
)

/**
 * Sends a statement, and repeats it while SQL is starting, or while a node cannot catch up with the others or write in time: all of this
 * takes long on a busy machine.
 */
export const sql = async (url: string, query: string, db = 'mindsdb'): Promise<SqlReply> => {
  for (;;) {
    const reply = (await send(url, 'POST', '/api/sql/query', { query, context: { db } })).body as SqlReply & { code?: string }
    if (reply.code !== 'behind' && !notYet.test(reply.error_message ?? '')) return reply
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/**
 * Sends a request again while it is refused for a moment: a busy machine may keep a node from hearing in time what the others wrote.
 *
 * @example const { body } = await answered(() => send(node.url, 'GET', '/api/projects'))
 */
export const answered = async (ask: () => Promise<Reply>): Promise<Reply> => {
  for (;;) {
    const reply = await ask()
    if (reply.status !== 503) return reply
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** The rows of a statement, for a test that waits for them: none while SQL is unavailable. */
export const rowsNow = async (url: string, query: string): Promise<unknown[][]> => {
  const { type, data } = await sql(url, query)
  return type === 'table' ? data : []
}

/** The service in this process, on a free port and with its own directory. */
export const startTestService = async (
  environment: Record<string, string> = {},
): Promise<{ service: Service; url: string; directory: string; stop: () => Promise<void> }> => {
  const directory = temporaryDirectory()
  const service = await startService(readConfig({ PORT: '0', DATA_DIR: directory.path, ...environment }), pino({ level: 'silent' }))
  const stop = async () => {
    await service.close()
    directory.remove()
  }
  return { service, url: service.url, directory: directory.path, stop }
}

/** The same once SQL is answered, which takes long on a busy machine. */
export const startSqlService = async (environment: Record<string, string> = {}): ReturnType<typeof startTestService> => {
  const at = await startTestService(environment)
  await sql(at.url, 'SELECT 1')
  return at
}

/** A directory for a test that starts and stops the service in this process several times. */
export const restartable = () => {
  const directory = temporaryDirectory()
  let service: Service | undefined
  const stop = async (): Promise<void> => {
    await service?.close()
    service = undefined
  }
  const start = async (environment: Record<string, string> = {}): Promise<string> => {
    service = await startService(readConfig({ PORT: '0', DATA_DIR: directory.path, ...environment }), pino({ level: 'silent' }))
    return service.url
  }
  const remove = async (): Promise<void> => {
    await stop()
    directory.remove()
  }
  return { path: directory.path, running: (): Service | undefined => service, start, stop, remove }
}

const compiled = fileURLToPath(new URL('../../bin/mindledger.js', import.meta.url))

type Spawned = { child: ChildProcess; url: string; lines: string[]; ended: Promise<unknown> }

type SpawnOptions = { program?: string; cwd?: string }

const spawnOnce = async (
  directory: string,
  environment: Record<string, string>,
  { program = compiled, cwd = process.cwd() }: SpawnOptions,
): Promise<Spawned> => {
  const env = { ...process.env, DATA_DIR: directory, PORT: '0', LOG_LEVEL: 'info', ...environment }
  const child = spawn(process.execPath, [program, 'serve'], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  const lines: string[] = []
  const errors: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => errors.push(line))
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line)
      // A kill may cut the last line off, so only the line that is waited for is read. Its message is its end.
      if (line.endsWith('"msg":"serving"}')) resolve((JSON.parse(line) as { url: string }).url)
    })
    // By then all that it said is read.
    child.once('close', (code) => reject(new Error(`the service ended with ${code}: ${errors.join('\n')}`)))
  })
  return { child, url, lines, ended }
}

/**
 * The service as users start it, in a separate process that can be killed. `program` is the file of the command, and `cwd` the folder of
 * its process. A node that gave up its start because PostgreSQL was slow is started again, as by a supervisor.
 */
export const spawnService = (directory: string, environment: Record<string, string> = {}, options: SpawnOptions = {}): Promise<Spawned> =>
  whenReached(() => spawnOnce(directory, environment, options))

/** The same, with a function that kills it; the clean-up of `undo` kills it in any case. */
export const spawnUntil = async (undo: (() => unknown)[], directory: string, environment: Record<string, string>) => {
  const server = await spawnService(directory, environment)
  const kill = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    server.child.kill(signal)
    await server.ended
  }
  undo.push(() => kill())
  return { ...server, kill }
}
