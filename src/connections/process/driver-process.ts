/**
 * Room: the process with the drivers: its sessions, their pools and their limits. It imports only events, basics, setup, egress, catalogue,
 * connections/contract, connections/batch and connections/engines.
 */

import { chmodSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { withDeadline } from '../../basics/concurrency/bounded-waits.js'
import { ignoreUserSignals } from '../../basics/user-signals.js'
import { whenOverdue } from '../../basics/concurrency/when-overdue.js'
import { parseEgress } from '../../egress/policy.js'
import { endWithParent } from '../../setup/end-with-parent.js'
import { encodeError, errorFields } from '../contract/frames.js'
import { isOfFiles } from '../../catalogue/connection-engines.js'
import type { MetadataAnswer, FromDriver, Metadata, ToDriver } from '../contract/messages.js'
import { noComments, type Connection, type QueryEnd, type Query, type QueryLimits } from '../contract/requests.js'
import type { DatabaseSession, Surroundings } from '../engines/contract/engine.js'
import { checkParameters } from '../engines/check-parameters.js'
import { engineOf } from '../engines/engines.js'
import { Answer } from './answer.js'
import { HeldBytes } from './held-bytes.js'
import { Pools } from './pools.js'
import { Tickets } from './tickets.js'
import { watchOrCancel } from './watch-step.js'

type OpenRequest = { id: number; connection: Connection; query: Query; limits: QueryLimits }

const ticketChars = 64
const lookEveryMs = 20

const say = (message: FromDriver): void => void process.send?.(message)

const fail = (id: number, error: unknown): void => {
  say({ failed: id, problem: errorFields(error) })
}

/** The outcome of a request whose statement was never sent. */
const nothing = (ending: 'failed' | 'cut'): QueryEnd => ({ rows: 0, bytes: 0, durationMs: 0, sent: undefined, ending, changed: false })

const ask = async (session: DatabaseSession, of: Metadata, isOfFile: boolean): Promise<MetadataAnswer> => {
  if ('tables' in of) return session.tables()
  if ('everyColumn' in of) return session.everyColumn()
  if ('comments' in of) return { comments: (await session.comments?.(of.comments.table, of.comments.schema)) ?? noComments }
  if ('described' in of) return { described: (await session.describe?.(of.described)) ?? null }
  if ('columns' in of) {
    const { table, schema } = of.columns
    const columns = await session.columns(table, schema)
    // Another question to a file would need another process.
    return { columns, ...(isOfFile && session.comments && { comments: await session.comments(table, schema) }) }
  }
  await session.check()
  return { checked: true }
}

/** The driver process talks to connected databases. The server asks it over IPC, and readers come with a ticket. */
class Driver {
  readonly #pools: Pools
  readonly #held = new HeldBytes(limits.connectionsReadMaxBytes)
  readonly #tickets = new Tickets<OpenRequest>()
  readonly #reading = new Map<number, Socket>()
  readonly #leaving = new AbortController()
  /** The questions under way. */
  #asking = 0

  constructor(private readonly around: Surroundings) {
    this.#pools = new Pools(around)
  }

  async hear(message: ToDriver): Promise<void> {
    if ('ask' in message) await this.#ask(message.ask, message.connection, message.of).catch((error: unknown) => fail(message.ask, error))
    else if ('open' in message) this.#admit(message.ticket, { ...message, id: message.open })
    else if ('forget' in message) this.#pools.forget(message.forget)
  }

  /** A reader comes: its first line is its ticket. */
  welcome(socket: Socket): void {
    const isHeard = whenOverdue(limits.connectionConnectTimeoutMs, () => socket.destroy())
    let line = ''
    const hear = (chunk: Buffer) => {
      line += chunk.toString('latin1')
      if (line.length <= ticketChars) return
      socket.off('data', hear)
      isHeard()
      // The process only reads the ticket, and notices when the reader leaves.
      socket.resume()
      this.#serve(socket, line.slice(0, ticketChars))
    }
    socket.on('data', hear)
    socket.on('error', () => undefined)
    socket.on('close', isHeard)
  }

  #serve(socket: Socket, ticket: string): void {
    const opening = this.#tickets.take(ticket)
    if (!opening) {
      socket.end(
        encodeError(new Problem('query_failed', 'No such answer', 'The ticket for this answer was used before, is too old, or is unknown')),
      )
      return
    }
    const { id, connection, query, limits: limit } = opening
    let answer: Answer
    try {
      const onSend = (statement: string) => say({ sending: id, statement })
      answer = new Answer(socket, this.#pools.forStatement(connection), { query, limit, onSend }, this.#held)
    } catch (error) {
      socket.end(encodeError(error))
      say({ ended: id, outcome: nothing('failed') })
      return
    }
    this.#reading.set(id, socket)
    void answer.send().then(async (outcome) => {
      // The process of a file ends with its answer.
      if (isOfFiles(connection.engine)) await answer.handedOver()
      this.#reading.delete(id)
      say({ ended: id, outcome })
    })
  }

  #admit(ticket: string, opening: OpenRequest): void {
    try {
      checkParameters(opening.connection)
    } catch (error) {
      fail(opening.id, error)
      return
    }
    this.#tickets.add(ticket, opening, () => say({ ended: opening.id, outcome: nothing('cut') }))
    say({ opened: opening.id })
  }

  /** Ends all answers and questions. Resolves when their statements have ended in the databases. */
  async leave(): Promise<void> {
    this.#leaving.abort()
    for (const socket of this.#reading.values()) socket.destroy()
    while (this.#reading.size + this.#asking > 0) await sleep(lookEveryMs)
  }

  async #ask(id: number, connection: Connection, of: Metadata): Promise<void> {
    this.#asking += 1
    const timeoutMs = limits.connectionMetadataTimeoutMs + limits.connectionConnectTimeoutMs
    try {
      const answer = await withDeadline(timeoutMs, this.#leaving.signal, (signal) => this.#answerTo(connection, of, signal))
      say({ answered: id, answer })
    } finally {
      this.#asking -= 1
    }
  }

  async #answerTo(connection: Connection, of: Metadata, signal: AbortSignal): Promise<MetadataAnswer> {
    const isCheck = 'check' in of
    const engine = engineOf(connection.engine)
    checkParameters(connection)
    // A connection is tested by opening it.
    const pool = isCheck ? undefined : this.#pools.forQuestion(connection)
    const session = pool ? await pool.acquire(signal) : await engine.connect(connection, this.around)
    const holding = this.#held.hold(session)
    let isClean = false
    try {
      const [what, limit, timeoutMs] = ['Its description', 'connectionMetadataTimeoutMs', limits.connectionMetadataTimeoutMs]
      const answer = await watchOrCancel(ask(session, of, isOfFiles(connection.engine)), {
        session,
        holding,
        timeoutMs,
        what,
        limit,
        signal,
      })
      isClean = true
      return answer
    } catch (error) {
      isClean = error instanceof Problem && error.code === 'not_found'
      throw error
    } finally {
      holding.end()
      if (pool) pool.release(session, isClean)
      else session.destroy()
    }
  }
}

let driver: Driver | undefined

const begin = ({ egressAllow, loopback, files, socket, readsFiles }: Extract<ToDriver, { settings: unknown }>['settings']): Driver => {
  // A statement of SQLite keeps the main thread busy. A statement in the network must be cancelled in its database first.
  if (readsFiles) endWithParent()
  const begun = new Driver({ policy: parseEgress(egressAllow, { loopback }), files, scratch: dirname(socket) })
  // The directory is private already; the socket is, too.
  const server = createServer((reader) => begun.welcome(reader)).listen(socket, () => {
    chmodSync(socket, 0o600)
    say({ listening: true })
  })
  server.on('error', () => process.exit(1))
  return begun
}

// A driver that gets an answer outside its protocol may throw an error that nothing catches. Then only the statement that waits for the
// answer fails, at its time limit. The others go on.
process.on('uncaughtException', () => undefined)
process.on('unhandledRejection', () => undefined)
ignoreUserSignals()
// The server is gone, or stops. Without a cancellation, a statement would go on in its database.
process.on('disconnect', () => {
  setTimeout(() => process.exit(0), 2 * limits.connectionCancelWaitMs)
  void Promise.resolve(driver?.leave()).finally(() => process.exit(0))
})
process.on('message', (message: ToDriver) => {
  if ('settings' in message) driver = begin(message.settings)
  else void driver?.hear(message)
})
