import { LRUCache } from 'lru-cache'
import { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'

/** The failed logins of each address in the minute after the first of them. */
export class FailedLogins {
  readonly #counts = new LRUCache<string, number>({ max: limits.sessionsMax, ttl: 60_000 })

  /** @throws Problem 429 after too many of one address */
  refuseMore(address: string): void {
    if ((this.#counts.get(address) ?? 0) < limits.loginMaxFailuresPerMinute) return
    const detail = `more than ${limits.loginMaxFailuresPerMinute} failed logins in a minute`
    throw new Problem('too_many_attempts', 'Too many attempts', detail, { retryAfterSeconds: 60 })
  }

  count(address: string): void {
    this.#counts.set(address, (this.#counts.get(address) ?? 0) + 1, { noUpdateTTL: true })
  }
}
