/** Room: the tables and statements of a log that nodes share, in PostgreSQL. It imports only events, basics, setup and log/storage. */

import { errorText } from '../../../basics/errors.js'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { limits } from '../../../basics/limits.js'
import { addressesIn, placeIn } from '../../../setup/postgres-url.js'
import { isDeposed, noteTimeline, type ServerTimeline } from './timelines.js'

/** PostgreSQL cannot be reached, or the connection was lost. The effect of the statement is not known. */
export class UnreachableError extends Error {}

/** PostgreSQL committed a batch, but gave up waiting for its standby: a failover may lose it. */
export class UnreplicatedError extends Error {}

/** The function in PostgreSQL that warns about standbys. Its name is the same in every language of messages. */
const standbyRoutine = 'SyncRepWaitForLSN'

/** The settings that a node relies on in each of its sessions. Settings that a server does not know are left out. */
const settings = (version: number): string[] => [
  `SET statement_timeout = ${limits.sharedStatementTimeoutMs}`,
  `SET idle_in_transaction_session_timeout = ${limits.sharedLockIdleTimeoutMs}`,
  // A batch that was acknowledged is on the disk, and on that of a synchronous standby.
  `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')`,
  // A statement that waited for another node sees what that one wrote. Under a higher default of the database it would be refused.
  `SET default_transaction_isolation = 'read committed'`,
  `SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3`,
  ...(version >= 120_000 ? [`SET tcp_user_timeout = ${limits.sharedAnswerTimeoutMs}`] : []),
  // A node that is cut off between a statement and its end would hold the head.
  ...(version >= 170_000 ? [`SET transaction_timeout = ${2 * limits.sharedStatementTimeoutMs}`] : []),
]

/** The codes of a server that is a standby now or about to stop, and of the end of a session. Another session may find another server. */
const isAway = /^(?:08|57P|25006$|25P0[34]$)/

/** Whether PostgreSQL refused a statement, which had no effect. Its code says so: the severity is a word of the server's language. */
export const isRefusal = (error: unknown): error is pg.DatabaseError => error instanceof pg.DatabaseError && !isAway.test(error.code ?? '')

/** The codes of a statement that took too long, or waited too long for a lock. */
const slow: ReadonlySet<string | undefined> = new Set(['57014', '55P03'])

/** Whether PostgreSQL refused a statement because it took too long. */
export const isTooSlow = (error: unknown): boolean => isRefusal(error) && slow.has(error.code)

/** The words of the driver when an answer does not come in time. */
const noAnswerInTime = 'Query read timeout'

/** Whether a statement took too long: PostgreSQL gave it up, or its answer did not arrive in time. */
export const isLate = (error: unknown): boolean =>
  isTooSlow(error) || (error instanceof UnreachableError && errorText(error.cause) === noAnswerInTime)

/** The errors of several addresses of one name come as one error without a message. None of their messages contains a password. */
const said = (error: unknown): string => {
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : []
  const text = first === undefined ? errorText(error) : said(first)
  return text.replaceAll(/\s+/g, ' ')
}

const unreachable = (error: unknown): UnreachableError => new UnreachableError(said(error), { cause: error })

/** @throws UnreachableError when a file that the address names cannot be read */
const clientFor = (url: string): pg.Client => {
  try {
    return new pg.Client({
      connectionString: url,
      application_name: 'mindledger',
      connectionTimeoutMillis: limits.sharedConnectTimeoutMs,
      query_timeout: limits.sharedAnswerTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
    })
  } catch (error) {
    throw unreachable(error)
  }
}

/** Called with the text of each notification, and its channel. */
type OnNotified = (said: string, channel: string) => void

const replaced = 'it was replaced: another server was promoted since'

/**
 * The identifier of a cluster, which a server shares with its standbys; empty where the server does not tell it. A new cluster in the place
 * of another one begins with the first timeline.
 */
const clusterOf = async (client: pg.Client): Promise<string> => {
  try {
    const { rows } = await client.query<{ id: string }>('SELECT system_identifier::text AS id FROM pg_control_system()')
    return rows[0]?.id ?? ''
  } catch (error) {
    if (isRefusal(error)) return ''
    throw error
  }
}

/** A connection to PostgreSQL. It is used until it fails once, or until another server is known to have taken the place of this one. */
export class SharedLogSession {
  #isOpen = true
  #isUnreplicated = false
  /** The last statement. The next one waits for it, because the driver should get one at a time. */
  #last: Promise<unknown> = Promise.resolve()
  readonly #client: pg.Client
  #server: ServerTimeline = { servers: '', timeline: 0 }

  private constructor(client: pg.Client, onNotified?: OnNotified) {
    this.#client = client
    const end = () => {
      this.#isOpen = false
    }
    client.on('error', end)
    client.on('end', end)
    client.on('notice', ({ routine }) => {
      if (routine === standbyRoutine) this.#isUnreplicated = true
    })
    client.on('notification', ({ payload, channel }) => onNotified?.(payload ?? '', channel))
  }

  /**
   * Opens a session with the host of the URL. Several hosts are asked at once. Of those that accept writes, the one that was promoted
   * last is used, because a server that was replaced may have come back. A server that this process knows to be replaced counts as away.
   * @throws UnreachableError
   */
  static async open(url: string, onNotified?: OnNotified): Promise<SharedLogSession> {
    const addresses = addressesIn(url)
    if (addresses.length === 1) return SharedLogSession.#openAt(url, url, onNotified)
    const failures: string[] = []
    let opened: SharedLogSession[] | undefined = []
    const asked = addresses.map(async (address) => {
      try {
        const found = await SharedLogSession.#openAt(address, url, onNotified)
        if (opened) opened.push(found)
        else found.destroy()
      } catch (error) {
        failures.push(`${placeIn(address)}: ${said(error)}`)
        throw error
      }
    })
    // A host that is away answers late or never.
    const soon = Promise.any(asked).then(
      () => sleep(limits.sharedHostsWaitMs, undefined, { ref: false }),
      () => undefined,
    )
    await Promise.race([Promise.allSettled(asked), soon])
    const [newest, ...others] = opened.sort((one, other) => other.#server.timeline - one.#server.timeline)
    opened = undefined
    for (const other of others) other.destroy()
    if (newest) return newest
    throw new UnreachableError(failures.join('; '))
  }

  /** Asks all hosts of the URL, however long they take, so that a server that was promoted is known, and the one before it is left. */
  static async meet(url: string): Promise<void> {
    const asked = addressesIn(url).map(async (address) => (await SharedLogSession.#openAt(address, url)).destroy())
    await Promise.allSettled(asked)
  }

  /** Opens a session with one of the hosts of an URL. */
  static async #openAt(address: string, url: string, onNotified?: OnNotified): Promise<SharedLogSession> {
    const client = clientFor(address)
    const session = new SharedLogSession(client, onNotified)
    try {
      await client.connect()
      const { rows } = await client.query<{ version: string; timeline: string | null }>(
        `SELECT current_setting('server_version_num') AS version,
          CASE WHEN NOT pg_is_in_recovery() THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END AS timeline`,
      )
      const { version, timeline } = rows[0] ?? {}
      if (typeof timeline !== 'string') throw new Error('it is a standby')
      session.#server = { servers: `${await clusterOf(client)} ${url}`, timeline: Number.parseInt(timeline, 16) }
      noteTimeline(session.#server)
      if (session.isDeposed) throw new Error(replaced)
      await client.query(settings(Number(version)).join('; '))
      return session
    } catch (error) {
      session.destroy()
      throw unreachable(error)
    }
  }

  get isOpen(): boolean {
    if (this.#isOpen && this.isDeposed) this.destroy()
    return this.#isOpen
  }

  /** Whether its server is an old primary that lives on. */
  get isDeposed(): boolean {
    return isDeposed(this.#server)
  }

  /**
   * Runs a statement; several when there are no values. One with a name is parsed once in each session.
   * @throws pg.DatabaseError when PostgreSQL refused it, and it had no effect; UnreachableError when its effect is not known
   */
  query<R extends pg.QueryResultRow>(text: string, values?: readonly unknown[], name?: string): Promise<pg.QueryResult<R>> {
    const answer = this.#last.then(() => this.#query<R>(text, values, name))
    this.#last = answer.catch(() => undefined)
    return answer
  }

  async #query<R extends pg.QueryResultRow>(text: string, values?: readonly unknown[], name?: string): Promise<pg.QueryResult<R>> {
    if (!this.isOpen) throw new UnreachableError(this.isDeposed ? replaced : 'the connection to PostgreSQL was lost')
    try {
      const answer = await this.#client.query<R>({ text, ...(values && { values: [...values] }), ...(name !== undefined && { name }) })
      // What an old primary acknowledged is not in the log.
      if (this.isDeposed) throw new Error(replaced)
      return answer
    } catch (error) {
      if (isRefusal(error)) throw error
      this.destroy()
      throw unreachable(error)
    }
  }

  /** @throws UnreplicatedError when a commit since the last call did not wait for its standby */
  checkReplicated(): void {
    const isUnreplicated = this.#isUnreplicated
    this.#isUnreplicated = false
    if (isUnreplicated) throw new UnreplicatedError('PostgreSQL did not wait for its standby')
  }

  /** Ends the connection at once; an open transaction is rolled back. */
  destroy(): void {
    this.#isOpen = false
    // The driver would wait for statements that are under way.
    const { connection } = this.#client as unknown as { connection: { stream: { destroy: () => void } } }
    connection.stream.destroy()
  }

  /** Ends the connection as the protocol says, or cuts it if PostgreSQL does not answer. */
  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    const ended = this.#client.end().catch(() => undefined)
    await Promise.race([ended, sleep(limits.sharedGoodbyeMs, undefined, { ref: false })])
    this.destroy()
  }
}

/** A way to PostgreSQL that is opened again after it failed. */
export class Link {
  #session: SharedLogSession | undefined
  #opening: Promise<SharedLogSession> | undefined
  #failed: { error: Error; until: number } | undefined
  #isClosed = false

  constructor(
    private readonly url: string,
    private readonly onOpened: (session: SharedLogSession) => Promise<void> = async () => undefined,
    private readonly onNotified?: OnNotified,
  ) {}

  /**
   * The open session. For a moment after a failed attempt there is no new one: all callers are refused at once.
   * @throws UnreachableError
   */
  session(): Promise<SharedLogSession> {
    if (this.#isClosed) return Promise.reject(new UnreachableError('the log is closed'))
    if (this.#session?.isOpen) return Promise.resolve(this.#session)
    if (this.#failed && performance.now() < this.#failed.until) return Promise.reject(this.#failed.error)
    return (this.#opening ??= this.#open().finally(() => (this.#opening = undefined)))
  }

  async #open(): Promise<SharedLogSession> {
    let session: SharedLogSession | undefined
    try {
      session = await SharedLogSession.open(this.url, this.onNotified)
      if (this.#isClosed) session.destroy()
      await this.onOpened(session)
      this.#failed = undefined
      return (this.#session = session)
    } catch (error) {
      // PostgreSQL may refuse the first statement; each attempt would leave a connection.
      session?.destroy()
      const failure = error instanceof Error ? error : new Error(String(error))
      this.#failed = { error: failure, until: performance.now() + (limits.sharedReconnectMaxMs * (1 + Math.random())) / 2 }
      throw error
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#opening?.catch(() => undefined)
    await this.#session?.close()
  }
}
