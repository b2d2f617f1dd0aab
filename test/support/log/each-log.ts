import { afterAll, beforeAll, describe } from '@jest/globals'
import pg from 'pg'
import { SharedLog } from '../../../src/log/shared/shared-log.js'
import { password, startPostgres, type Postgres } from '../connections/postgres.js'
import { whenReached } from '../until.js'
import { openSqlite, withLogOf, type OpenAt, type WithLog } from './log.js'

/** A log under test. `isShared` means that its file is a replica, so changes of the file alone do not change the log. */
export type LogKind = { openAt: OpenAt; withLog: WithLog; isShared: boolean }

/** A PostgreSQL server for the tests of a file, with a database for each log. */
export type LogServer = {
  postgres: Postgres
  /** The address of a new database. */
  newUrl: () => Promise<string>
  /** Runs statements directly in a log's database. */
  inDatabase: (url: string, statements: string) => Promise<void>
}

/** A PostgreSQL that runs, with a database for each log. */
export const logServerOf = (postgres: Postgres): LogServer => {
  let databases = 0
  return {
    postgres,
    newUrl: async () => {
      const name = `log_${++databases}`
      await postgres.run(`CREATE DATABASE ${name}`)
      return `postgres://postgres:${password}@127.0.0.1:${postgres.port}/${name}`
    },
    inDatabase: async (url, statements) => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      await client.query(statements)
      await client.end()
    },
  }
}

/** Starts PostgreSQL before the tests of a file, and stops it after them. */
export const logServer = (): { server: () => LogServer } => {
  let running: LogServer | undefined
  beforeAll(async () => {
    running = logServerOf(await startPostgres())
  })
  afterAll(() => running?.postgres.stop())
  return {
    server: () => {
      if (!running) throw new Error('PostgreSQL does not run yet')
      return running
    },
  }
}

/**
 * Runs the same tests over each kind of log.
 *
 * @example eachLog(({ withLog }) => test('it grows', () => withLog(async ({ log }) => …)))
 */
export const eachLog = (tests: (kind: LogKind) => void): void => {
  describe('in SQLite', () => tests({ openAt: openSqlite, withLog: withLogOf(openSqlite), isShared: false }))
  describe('on PostgreSQL', () => {
    const { server } = logServer()
    const urls = new Map<string, string>()
    const openAt: OpenAt = async (file, vault, pragmas = []) => {
      const url = urls.get(file) ?? (await server().newUrl())
      urls.set(file, url)
      // These tests need every write, however long a busy machine takes for it.
      return whenReached(() => SharedLog.open({ url, file, vault, pragmas, writePatienceMs: 120_000 }))
    }
    tests({ openAt, withLog: withLogOf(openAt), isShared: true })
  })
}
