import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Identifies a login without revealing its token. */
export const loginOf = (token: string): string => digest(token).toString('hex')

/** `ended` aborts when the session ends for any reason. */
type Session = { actor: string; ended: AbortController }

/**
 * The sessions of logged-in users. Tokens are kept hashed and in memory only: a restart logs everybody out.
 *
 * @example const token = sessions.login('me', 'secret', '127.0.0.1'); sessions.actorOf(token) // 'me'
 */
export class Sessions {
  readonly #tokens = new LRUCache<string, Session>({
    ...{ max: limits.sessionsMax, ttl: limits.sessionMaxAgeMs },
    dispose: ({ ended }) => ended.abort(),
  })
  readonly #failures = new LRUCache<string, number>({ max: limits.sessionsMax, ttl: 60_000 })

  constructor(private readonly user: { username: string; password: string }) {}

  /** @throws Problem 401 when it is not the configured user, 429 after too many failures from one address */
  login(username: string, password: string, address: string): string {
    const failures = this.#failures.get(address) ?? 0
    if (failures >= limits.loginMaxFailuresPerMinute)
      throw new Problem(
        'too_many_attempts',
        'Too many attempts',
        `more than ${limits.loginMaxFailuresPerMinute} failed logins in a minute`,
        {
          retryAfterSeconds: 60,
        },
      )
    // Both comparisons always run, on digests of equal length, so that the time reveals nothing.
    const rightName = timingSafeEqual(digest(username), digest(this.user.username))
    const rightPassword = timingSafeEqual(digest(password), digest(this.user.password))
    if (!rightName || !rightPassword) {
      this.#failures.set(address, failures + 1)
      throw new Problem('unauthorized', 'Unauthorized', 'wrong username or password')
    }
    const token = `pat_${randomBytes(32).toString('base64url')}`
    this.#tokens.set(loginOf(token), { actor: username, ended: new AbortController() })
    return token
  }

  actorOf(token: string | undefined): string | undefined {
    return this.#session(token)?.actor
  }

  /** The signal that aborts when the session ends, for long answers; undefined for an invalid token. */
  endOf(token: string | undefined): AbortSignal | undefined {
    return this.#session(token)?.ended.signal
  }

  #session(token: string | undefined): Session | undefined {
    return token === undefined ? undefined : this.#tokens.get(loginOf(token))
  }

  logout(token: string | undefined): void {
    if (token !== undefined) this.#tokens.delete(loginOf(token))
  }
}
