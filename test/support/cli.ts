import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { commands } from '../../src/cli/commands.js'

/** The program behind `npx mindledger`. */
export const cliFile = fileURLToPath(new URL('../../bin/mindledger.js', import.meta.url))
/** The folder of package.json. */
export const repository = fileURLToPath(new URL('../../..', import.meta.url))

export type Ended = { code: number | null; out: string; err: string }

/** Runs a program to its end. */
export const runProgram = async (
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<Ended> => {
  const env: NodeJS.ProcessEnv = { ...process.env, ...options.env }
  // The program must not inherit the flags of the test runner.
  delete env['NODE_OPTIONS']
  const child = spawn(program, args, { ...(options.cwd !== undefined && { cwd: options.cwd }), env, stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, out, err }
}

/**
 * The arguments of a command that shows no progress, which it does after ten seconds: a busy machine would change what is printed. The
 * command `sql` prints less with this option, so its tests choose.
 */
export const withoutProgress = (args: readonly string[]): string[] => {
  const [command = ''] = args
  return Object.hasOwn(commands, command) && command !== 'sql' ? ['--quiet', ...args] : [...args]
}

/** Runs a command of the CLI to its end, without its progress. */
export const mindledger = (args: readonly string[], env: Record<string, string> = {}, cwd?: string): Promise<Ended> =>
  runProgram(process.execPath, [cliFile, ...withoutProgress(args)], { env, ...(cwd !== undefined && { cwd }) })

/**
 * The same for a user with normal write permissions. Root may write everywhere, so it gives up that right; another user might not be able
 * to read this program in a private directory.
 */
export const mindledgerWithoutRights = (args: readonly string[], env: Record<string, string> = {}): Promise<Ended> =>
  process.getuid?.() === 0
    ? runProgram('setpriv', ['--bounding-set=-all', '--inh-caps=-all', process.execPath, cliFile, ...withoutProgress(args)], { env })
    : mindledger(args, env)

/** The ports from 15,000 on are divided among this many workers. */
const workers = 16
const portsOfWorker = 1_000
/** The ports that this process has given away. */
const given = new Set<number>()

/**
 * A port for a server that starts later, or starts again. It is below the ports that systems choose automatically and use for outgoing
 * connections, because another test could get one of those meanwhile. For the same reason each worker has its own ports, and gives none
 * twice.
 */
export const freePort = async (): Promise<number> => {
  const worker = Number(process.env['JEST_WORKER_ID'] ?? 0) % workers
  const port = 15_000 + worker + workers * randomInt(portsOfWorker)
  if (given.size === portsOfWorker) given.clear()
  if (given.has(port)) return freePort()
  given.add(port)
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return freePort()
  }
  server.close()
  await once(server, 'close')
  return port
}
