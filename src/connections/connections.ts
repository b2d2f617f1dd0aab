/**
 * Room: the server's side of connected databases: it starts the processes and asks them. It imports only events, basics, setup, catalogue
 * and connections/contract.
 */

import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { inTime } from '../basics/concurrency/bounded-waits.js'
import { isProblem, Problem, stopping } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { residentBytes } from '../basics/resident-memory.js'
import { makeSocketDirectory } from '../basics/socket-directory.js'
import { driverOf, isOfFiles, whyNotOpened } from '../catalogue/connection-engines.js'
import {
  isWriting,
  noComments,
  type AnswerAddress,
  type Connection,
  type ListedColumns,
  type QueryEnd,
  type Query,
  type QueryLimits,
  type TableColumn,
  type TableComments,
  type Tables,
} from './contract/requests.js'
import type { MetadataAnswer, Metadata } from './contract/messages.js'
import type { AnswerColumn } from './contract/types.js'
import { Driver, type DriverSettings } from './driver.js'
import { RememberedLists } from './remembered-lists.js'

/** Whether a connection can be opened, in the form that MindsDB uses. */
export type ConnectionStatus = { status: 'success' } | { status: 'connection_error'; detail: string }

/** An answer that waits for its reader. `leave` says that nobody reads it any more. */
export type OpenAnswer = AnswerAddress & { ended: Promise<QueryEnd>; leave: () => void }

const mostOf: QueryLimits = {
  rows: limits.connectionMaxRows,
  bytes: limits.connectionMaxBytes,
  timeMs: limits.connectionStatementTimeoutMs,
  firstRowMs: limits.connectionFirstRowTimeoutMs,
}

const busy = (): Problem =>
  new Problem('busy', 'Busy', `${limits.connectionRequestsMax} requests to connected databases are under way (connectionRequestsMax)`, {
    retryAfterSeconds: 1,
  })

const filesBusy = (): Problem =>
  new Problem('busy', 'Busy', `${limits.connectionFileProcessesMax} requests to files are under way (connectionFileProcessesMax)`, {
    retryAfterSeconds: 1,
    hint: `None of them ended within ${limits.connectionQueueWaitMs} ms (connectionQueueWaitMs).`,
  })

const lookEveryMs = 100

/** Ends the process of a file that takes too much memory: the database sets no limit to the length of a value. */
const endBeyondMemory = (driver: Driver): void => {
  const look = setInterval(() => {
    const { pid, isOver } = driver
    if (isOver || pid === undefined) clearInterval(look)
    else
      void residentBytes(pid).then((bytes) => {
        if (bytes > limits.connectionFileProcessMaxBytes) driver.end()
      })
  }, lookEveryMs).unref()
}

/** A problem in one sentence, with its hint behind it. */
const sentence = ({ detail, extras: { hint } }: Problem): string => (hint === undefined ? detail : `${detail}. ${hint}`)

/**
 * The server's access to connected databases. The drivers run in processes of their own: one for all databases in the network, which starts
 * when it is first needed and ends when it is idle, and one for each request to a file.
 *
 * @example
 * const connections = new Connections({ egressAllow: '', loopback: true, files: undefined })
 * const { socket, ticket } = await connections.open(connection, { scan: { table: 'homes', columns: ['id'] } })
 */
export class Connections {
  #directory: string | undefined
  #network: Driver | undefined
  /** The processes that read files, one for each request, because work in them cannot be interrupted. */
  readonly #ofFiles = new Set<Driver>()
  /** Requests to files that wait for a process to end. */
  readonly #waiting = new Set<() => void>()
  #idle: NodeJS.Timeout | undefined
  #isStopped = false
  #asked = 0
  readonly #lists = new RememberedLists((connection, of) => this.#ask(connection, of))

  constructor(private readonly settings: DriverSettings) {}

  /** Tries to open a connection and to run a statement. Every fault of the database is part of the answer. */
  async check(connection: Connection): Promise<ConnectionStatus> {
    try {
      await this.#ask(connection, { check: true })
      return { status: 'success' }
    } catch (error) {
      if (!isProblem(error) || error.code === 'busy' || error.code === 'internal') throw error
      return { status: 'connection_error', detail: sentence(error) }
    }
  }

  /**
   * The tables and views of a connection, remembered for a while. With `soon`, a slow connection is not asked again for a while, so that a
   * list over all connections does not wait for it each time.
   * @throws Problem
   */
  async tables(connection: Connection, soon = false): Promise<Tables> {
    const answer = await this.#listed(connection, { tables: true }, soon)
    if ('tables' in answer) return answer
    throw new TypeError('the driver answered something else')
  }

  /** The columns of all tables, remembered for a while, and `soon` as with tables. @throws Problem */
  async everyColumn(connection: Connection, soon = false): Promise<ListedColumns> {
    const answer = await this.#listed(connection, { everyColumn: true }, soon)
    if ('listed' in answer) return answer
    throw new TypeError('the driver answered something else')
  }

  /**
   * The columns of a table with their types in DuckDB, remembered for a while, and `soon` as with tables.
   * @throws Problem not_found with the nearest name
   */
  async columns(connection: Connection, table: string, schema?: string, soon = false): Promise<readonly TableColumn[]> {
    const answer = await this.#listed(connection, { columns: { table, ...(schema !== undefined && { schema }) } }, soon)
    if ('columns' in answer) return answer.columns
    throw new TypeError('the driver answered something else')
  }

  /**
   * The columns of a statement in the language of the database that only reads, without running it, remembered for a while, and `soon` as
   * with tables. Undefined if only its rows can tell them.
   * @throws Problem
   */
  async described(connection: Connection, native: string, soon = false): Promise<readonly AnswerColumn[] | undefined> {
    // Each question to a file needs its own process.
    if (isOfFiles(connection.engine)) return undefined
    const answer = await this.#listed(connection, { described: native }, soon)
    if ('described' in answer) return answer.described ?? undefined
    throw new TypeError('the driver answered something else')
  }

  /** The comments on a table and its columns in its database, remembered for a while. @throws Problem */
  async comments(connection: Connection, table: string, schema?: string): Promise<TableComments> {
    const named = { table, ...(schema !== undefined && { schema }) }
    // Each question to a file needs its own process, and a query of the table has asked for its columns.
    const answer = await this.#lists.of(connection, isOfFiles(connection.engine) ? { columns: named } : { comments: named })
    if ('columns' in answer || 'comments' in answer) return answer.comments ?? noComments
    throw new TypeError('the driver answered something else')
  }

  /**
   * Gets a ticket for the answer to a scan or a native statement. The statement begins when a reader presents the ticket, see
   * `src/connections/reader`.
   *
   * @throws Problem wrong_arguments, busy, connection_failed
   */
  async open(connection: Connection, query: Query, most: Partial<QueryLimits> = {}): Promise<OpenAnswer> {
    const ticket = randomBytes(32).toString('hex')
    const written = isWriting(query) ? this.#lists.writes(connection.id) : undefined
    const { driver, ended } = await this.#again(connection, async (driver) => ({
      driver,
      ...(await driver.open(connection, query, { ...mostOf, ...most }, ticket)),
    })).catch((error: unknown) => {
      written?.()
      throw error
    })
    void ended.then(({ ending }) => {
      this.#leave(driver)
      written?.()
      // A statement may have failed because the tables have changed.
      if (ending === 'failed') this.#lists.forget(connection.id)
    })
    const endIn = (timeMs: number) => {
      // The process of a file cannot notice that its reader has left; the other one does.
      if (isOfFiles(connection.engine)) this.#endIn(driver, timeMs, ended)
    }
    endIn({ ...mostOf, ...most }.timeMs)
    return { socket: driver.socket, ticket, ended, leave: () => endIn(0) }
  }

  /** Forgets the lists of a changed or deleted connection, and closes its sessions. */
  forget(id: string): void {
    this.#lists.forget(id)
    this.#network?.forget(id)
  }

  /** The running processes. */
  get pids(): number[] {
    return this.#running.flatMap(({ pid }) => (pid === undefined ? [] : [pid]))
  }

  /** Ends the processes, and their statements in the databases. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#idle)
    if (this.#network?.isOver === false) this.#network.leave()
    for (const driver of this.#ofFiles) driver.end()
    this.#ofFiles.clear()
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true })
    this.#directory = undefined
  }

  async #ask(connection: Connection, of: Metadata): Promise<MetadataAnswer> {
    try {
      const ask = async (driver: Driver) => {
        try {
          return await driver.ask(connection, of)
        } finally {
          this.#leave(driver)
        }
      }
      return await this.#again(connection, ask)
    } finally {
      this.#rest()
    }
  }

  /**
   * Asks a process. If this process had already worked and has ended, asks another one. This is safe, because the database has not yet got
   * a statement that must not be repeated.
   */
  async #again<T>(connection: Connection, work: (driver: Driver) => Promise<T>): Promise<T> {
    const driver = await this.#driverInTurn(connection)
    const isNew = !driver.hasAnswered
    try {
      return await work(driver)
    } catch (error) {
      this.#leave(driver)
      if (isNew || !driver.isOver) throw error
      return work(await this.#driverInTurn(connection))
    }
  }

  #listed(connection: Connection, of: Metadata, soon: boolean): Promise<MetadataAnswer> {
    return soon ? this.#lists.soon(connection, of) : this.#lists.of(connection, of)
  }

  /** The process that talks to a connection's database. */
  #driver({ engine }: Connection): Driver {
    if (driverOf(engine) === undefined) throw new Problem('wrong_arguments', 'Wrong arguments', whyNotOpened(engine))
    if (this.#isStopped) throw stopping()
    this.#refuseTooMany()
    this.#asked += 1
    const forFile = isOfFiles(engine)
    if (!forFile && this.#network && !this.#network.isOver) return this.#network
    if (forFile && this.#ofFiles.size >= limits.connectionFileProcessesMax) throw filesBusy()
    this.#directory ??= makeSocketDirectory()
    const driver = new Driver(this.#directory, this.settings, forFile)
    if (forFile) {
      this.#ofFiles.add(driver)
      endBeyondMemory(driver)
    } else this.#network = driver
    return driver
  }

  /** @throws Problem busy */
  #refuseTooMany(): void {
    const load = this.#running.reduce((sum, driver) => sum + driver.load, 0)
    if (load + this.#waiting.size >= limits.connectionRequestsMax) throw busy()
  }

  /**
   * The same, when its turn comes: a request to a file waits until another process may start. A query does not wait for itself, because it
   * reads its answers one after the other, and an answer that was read leaves its process.
   */
  async #driverInTurn(connection: Connection): Promise<Driver> {
    const until = performance.now() + limits.connectionQueueWaitMs
    for (;;) {
      const left = until - performance.now()
      if (!isOfFiles(connection.engine) || this.#ofFiles.size < limits.connectionFileProcessesMax || left <= 0)
        return this.#driver(connection)
      this.#refuseTooMany()
      let wake: () => void = () => undefined
      const woken = new Promise<void>((resolve) => (wake = resolve))
      this.#waiting.add(wake)
      await inTime(woken, left, undefined)
      this.#waiting.delete(wake)
    }
  }

  get #running(): Driver[] {
    return [...(this.#network ? [this.#network] : []), ...this.#ofFiles].filter(({ isOver }) => !isOver)
  }

  /** A request has ended: the process of a file ends with it. */
  #leave(driver: Driver): void {
    if (this.#ofFiles.delete(driver)) driver.end()
    for (const wake of this.#waiting) wake()
    this.#rest()
  }

  /** Ends the process of a file when its time is over. */
  #endIn(driver: Driver, timeMs: number, ended: Promise<QueryEnd>): void {
    const timer = setTimeout(() => this.#leave(driver), timeMs + limits.connectionCancelWaitMs).unref()
    void ended.then(() => clearTimeout(timer))
  }

  /** Ends the process when it has not been asked for a while. */
  #rest(): void {
    clearTimeout(this.#idle)
    const asked = this.#asked
    this.#idle = setTimeout(() => {
      if (asked !== this.#asked) return
      if (this.#network?.load === 0) this.#network.end()
    }, limits.connectionProcessIdleMs).unref()
  }
}
