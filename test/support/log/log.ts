import Database from 'better-sqlite3'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { StreamId } from '../../../events/common.js'
import { streamId } from '../../../events/common.js'
import { retryWhileBusy } from '../../../src/basics/concurrency/retry.js'
import { Ledger } from '../../../src/commands/ledger.js'
import { isProblem, type ProblemCode } from '../../../src/basics/errors.js'
import type { Log, NewEvent, Origin, Submission } from '../../../src/log/contract/log.js'
import type { FileLog } from '../../../src/log/sqlite/file-log.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { Vault } from '../../../src/vault/vault.js'
import { temporaryDirectory } from '../directories.js'

export { temporaryDirectory }

export const origin: Origin = { actor: 'tester', source: 'rest', request: null, correlation: null, causation: null }

export const testKey = createHash('sha256').update('the master key of the tests').digest()

export type OpenLog = {
  log: FileLog
  ledger: Ledger
  vault: Vault
  file: string
  directory: string
  pragmas: string[]
  /** Opens it again after it was closed. */
  reopen: () => Promise<FileLog>
}

/** Opens a log on a file. */
export type OpenAt = (file: string, vault: Vault, pragmas?: string[]) => Promise<FileLog>

/** Runs a test over a log in its own directory, then closes the log and removes the directory. `pragmas` may be changed in between. */
export type WithLog = (run: (open: OpenLog) => Promise<void>, pragmas?: string[]) => Promise<void>

/** The same for logs with other options. */
export const withLogOf =
  (openAt: OpenAt): WithLog =>
  async (run, pragmas = []) => {
    const { path, remove } = temporaryDirectory()
    const vault = new Vault(testKey)
    const file = join(path, 'log.sqlite')
    const log = await openAt(file, vault, pragmas)
    try {
      const reopen = () => openAt(file, vault, pragmas)
      await run({ log, ledger: new Ledger(log, vault), vault, file, directory: path, pragmas, reopen })
    } finally {
      await log.close()
      remove()
    }
  }

export const openSqlite: OpenAt = async (file, vault, pragmas = []) => new SqliteLog({ file, vault, pragmas })

export const withLog = withLogOf(openSqlite)

/** The n-th stream of the tests, the same every time. */
export const stream = (n: number): StreamId => streamId.parse(`00000000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`)

/** A submission that always results in these events. */
export const writes = (...events: NewEvent[]): Submission => ({ origin, lookups: {}, decide: () => events, payloads: [] })

const eventsOfCommit = 1_000

/** Writes many events in a few commits, for a test that needs what they leave: as many requests would take a hundred times as long. */
export const record = async (log: Pick<Log, 'submit'>, events: readonly NewEvent[]): Promise<void> => {
  for (let from = 0; from < events.length; from += eventsOfCommit) await log.submit(writes(...events.slice(from, from + eventsOfCommit)))
}

export const projectCreated = (n: number, name = `project ${n}`): NewEvent => ({
  stream: stream(n),
  event: { type: 'ProjectCreated', data: { name } },
})

/** The code of the problem of a rejected promise; fails for any other error. */
export const refusal = async (promise: Promise<unknown>): Promise<ProblemCode> => {
  try {
    await promise
  } catch (error) {
    if (isProblem(error)) return error.code
    throw error
  }
  throw new Error('was not refused')
}

/**
 * Asks again while a shared log is behind. It waits a second to hear from PostgreSQL before it gives an earlier answer once more, and a
 * busy machine may take longer. What is asked must be safe to repeat.
 */
export const patiently = <T>(ask: () => Promise<T>): Promise<T> => retryWhileBusy(ask, () => false)

/** Opens a second connection, which may do things that the log never does. */
export const tamperWith = (file: string, change: (db: Database.Database) => void): void => {
  const db = new Database(file)
  try {
    db.exec(`DROP TRIGGER IF EXISTS events_stay_as_they_are; DROP TRIGGER IF EXISTS events_stay`)
    change(db)
  } finally {
    db.close()
  }
}
