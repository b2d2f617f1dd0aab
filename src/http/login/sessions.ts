/** Room: who may ask: logins, their sessions, and the caller of a request. It imports only basics, log and http/protocol. */

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { unlessAborted } from '../../basics/concurrency/bounded-waits.js'
import { errorText, Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { FailedLogins } from './failed-logins.js'

/** Where the sessions of all nodes are kept, by the hash of their token. If it cannot be reached, its promises fail with StoreAwayError. */
export interface SessionStore {
  /** What only the nodes can compute from the beginning of a token: at least 16 bytes, the same at every node. */
  proofOf(beginning: Buffer): Buffer
  add(login: string, actor: string, maxAgeMs: number): Promise<void>
  /** Undefined for an unknown or ended login. */
  actorOf(login: string): Promise<string | undefined>
  remove(login: string): Promise<void>
}

/** The store of sessions cannot be reached. An error of another class is an answer of the store. */
export class StoreAwayError extends Error {}

type Options = {
  store?: SessionStore | undefined
  /** Whether reads go on while the store cannot be reached. They do for the sessions that this process has seen as valid. */
  readsLocally?: boolean
  /** Milliseconds of a clock that only goes forward. */
  elapsed?: () => number
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Identifies a login without revealing its token. */
export const loginOf = (token: string): string => digest(token).toString('hex')

/**
 * `ended` aborts when the session ends for any reason. `lookedAt` is when this node last began to ask whether it is valid, `validAt` when it
 * last learnt that it is.
 */
type LoginSession = { actor: string; ended: AbortController; lookedAt: number; validAt: number }

const tokenShape = /^pat_[\w-]{43}$/

/** The bytes of each half of a token. */
const halfBytes = 16

/** A token whose first half is random. With other nodes the second one proves that a node made it; else it is random, too. */
const tokenOf = (store: SessionStore | undefined, beginning: Buffer = randomBytes(halfBytes)): string => {
  const end = store?.proofOf(beginning).subarray(0, halfBytes) ?? randomBytes(halfBytes)
  return `pat_${Buffer.concat([beginning, end]).toString('base64url')}`
}

/** Whether a token may come from a login. Others are not looked up: without a login, nobody makes the nodes ask PostgreSQL. */
const mayBeMade = (store: SessionStore | undefined, token: string): boolean => {
  if (!tokenShape.test(token)) return false
  if (!store) return true
  const beginning = Buffer.from(token.replace('pat_', ''), 'base64url').subarray(0, halfBytes)
  return timingSafeEqual(digest(token), digest(tokenOf(store, beginning)))
}

const loginsAway = (cause: unknown): Problem =>
  new Problem('behind', 'Logins away', 'this node cannot find out whether the login is known: PostgreSQL does not answer', {
    retryAfterSeconds: 1,
    cause: errorText(cause),
  })

const away = (): Error => new StoreAwayError('the store of logins did not answer in time')

/**
 * The sessions of logged-in users. Tokens are kept hashed: in memory, so that a restart ends all logins; with other nodes also in
 * PostgreSQL.
 *
 * @example const token = await sessions.login('me', 'secret', '127.0.0.1'); await sessions.actorOf(token) // 'me'
 */
export class Sessions {
  readonly #tokens = new LRUCache<string, LoginSession>({
    ...{ max: limits.sessionsMax, ttl: limits.sessionMaxAgeMs },
    dispose: ({ ended }, _, reason) => {
      if (reason !== 'set') ended.abort()
    },
  })
  readonly #ofUser: Buffer
  readonly #failures = new FailedLogins()
  readonly #store: SessionStore | undefined
  readonly #readsLocally: boolean
  readonly #elapsed: () => number

  constructor(
    private readonly user: { username: string; password: string },
    { store, readsLocally = false, elapsed = () => performance.now() }: Options = {},
  ) {
    this.#ofUser = digest(JSON.stringify([user.username, user.password]))
    this.#store = store
    this.#readsLocally = readsLocally
    this.#elapsed = elapsed
  }

  /** The name under which nodes share a token. It depends on the username and password of the service: a new password ends all logins. */
  #nameOf(token: string): string {
    return createHmac('sha256', this.#ofUser).update(token).digest('hex')
  }

  /** @throws Problem 401 when it is not the configured user, 429 after too many failures from one address, 503 while logins are away */
  async login(username: string, password: string, address: string): Promise<string> {
    this.#failures.refuseMore(address)
    // Both comparisons always run, on digests of equal length, so that the time reveals nothing.
    const rightName = timingSafeEqual(digest(username), digest(this.user.username))
    const rightPassword = timingSafeEqual(digest(password), digest(this.user.password))
    if (!rightName || !rightPassword) {
      this.#failures.count(address)
      // MindsDB uses this title for this refusal, and clients compare titles.
      throw new Problem('unauthorized', 'Forbidden', 'wrong username or password')
    }
    const token = tokenOf(this.#store)
    const login = loginOf(token)
    await this.#asked((store) => store.add(this.#nameOf(token), username, limits.sessionMaxAgeMs))
    this.#keep(login, username)
    return token
  }

  /**
   * The user that a token belongs to; undefined for an unknown token. A session that this node saw not long ago is not looked up again.
   * With local reads, one that was valid stays so for a while when it cannot be looked up. Writes need the store's server, too.
   * @throws Problem 503 when other nodes may know it, and it cannot be looked up
   */
  async actorOf(token: string): Promise<string | undefined> {
    const known = this.#tokens.get(loginOf(token))
    // A token that this node knows was checked when it came first.
    if (!known && !mayBeMade(this.#store, token)) return undefined
    if (!this.#store || (known && !this.#isOld(known))) return known?.actor
    const looked = this.#lookUp(token, known)
    try {
      if (!known || !this.#outlivesStore(known)) return await looked
      return await unlessAborted(looked, AbortSignal.timeout(limits.sharedReadPatienceMs), away)
    } catch (error) {
      if (error instanceof StoreAwayError && known && this.#outlivesStore(known)) return known.actor
      throw loginsAway(error)
    }
  }

  #isOld({ lookedAt }: LoginSession): boolean {
    return this.#elapsed() - lookedAt > limits.sessionLookMs
  }

  /** Whether a session is still accepted while the store cannot be reached. */
  #outlivesStore({ validAt }: LoginSession): boolean {
    return this.#readsLocally && this.#elapsed() - validAt <= limits.sessionAwayMaxMs
  }

  /** Asks the sessions that all nodes share. @throws StoreAwayError, and errors of the store */
  async #lookUp(token: string, known: LoginSession | undefined): Promise<string | undefined> {
    const login = loginOf(token)
    const before = known?.lookedAt
    // Requests of the same session that come meanwhile need not ask, too.
    if (known) known.lookedAt = this.#elapsed()
    try {
      const actor = await this.#store?.actorOf(this.#nameOf(token))
      if (actor === undefined) this.#tokens.delete(login)
      else if (known) known.validAt = this.#elapsed()
      else this.#keep(login, actor)
      return actor
    } catch (error) {
      if (known && before !== undefined) this.#unanswered(known, before, error)
      throw error
    }
  }

  /** A session that goes on without the store asks again later, so that few of its requests wait. Any other one asks again at once. */
  #unanswered(known: LoginSession, before: number, error: unknown): void {
    const isAway = error instanceof StoreAwayError
    if (isAway && this.#outlivesStore(known)) return
    known.lookedAt = before
    // Where the store answers with an error, writes may work: the session counts only once it was found again.
    if (!isAway) known.validAt = -Infinity
  }

  /** The signal that aborts when the session ends here, for long answers; undefined for an invalid token. */
  endOf(token: string): AbortSignal | undefined {
    return this.#tokens.get(loginOf(token))?.ended.signal
  }

  /**
   * Whether a known session is still valid: an answer that lasts for hours checks again. A session that ended at another node then ends
   * here.
   */
  goesOn(token: string): boolean {
    const known = this.#tokens.get(loginOf(token))
    // While the logins cannot be reached, the state is unknown; running reads go on.
    if (known && this.#store && this.#isOld(known)) void this.#lookUp(token, known).catch(() => undefined)
    return known !== undefined
  }

  /** @throws Problem 503 when it goes on elsewhere */
  async logout(token: string): Promise<void> {
    if (!mayBeMade(this.#store, token)) return
    this.#tokens.delete(loginOf(token))
    await this.#asked((store) => store.remove(this.#nameOf(token)))
  }

  #keep(login: string, actor: string): void {
    const now = this.#elapsed()
    this.#tokens.set(login, { actor, ended: new AbortController(), lookedAt: now, validAt: now })
  }

  async #asked<T>(ask: (store: SessionStore) => Promise<T>): Promise<T | undefined> {
    if (!this.#store) return undefined
    try {
      return await ask(this.#store)
    } catch (error) {
      throw loginsAway(error)
    }
  }
}
