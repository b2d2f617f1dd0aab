import { LRUCache } from 'lru-cache'
import { errorCode, Problem } from '../basics/errors.js'
import { limits } from '../basics/limits.js'

/** Asks for all addresses of a name. */
export type NameLookup = (name: string) => Promise<readonly string[]>

const failuresMax = 1_000

/** A lookup that takes longer keeps others waiting. */
const slowMs = 1_000

const tooMany = (most: number): Problem =>
  new Problem('busy', 'Too many lookups', `${most} names are being looked up (egressLookupsMax)`, {
    retryAfterSeconds: 1,
    hint: 'Some names get no answer: check the hosts of connections, and the resolver of this machine.',
  })

/**
 * A lookup that many callers share. The system looks up only a few names at a time, and a name whose resolver is silent keeps its place for
 * long. So each name has at most one lookup under way, and the number of lookups is limited. A failure that took long is remembered for a
 * short time, and so is a name that does not exist; a passing failure is not.
 * Addresses are not remembered: each connection asks for them again.
 *
 * @example const lookup = sharedLookup(fromSystem); await lookup('db.example.com') // ['192.0.0.9']
 * @throws Problem busy if too many lookups are under way; Error if the name is not found
 */
export const sharedLookup = (
  ask: NameLookup,
  {
    most = limits.egressLookupsMax,
    failureMaxAgeMs = limits.egressLookupFailureMaxAgeMs,
  }: { most?: number; failureMaxAgeMs?: number } = {},
): NameLookup => {
  const underWay = new Map<string, Promise<readonly string[]>>()
  const failed = new LRUCache<string, true>({ max: failuresMax, ttl: failureMaxAgeMs })
  const begin = (name: string): Promise<readonly string[]> => {
    const began = performance.now()
    const asked = Promise.resolve(name).then(ask)
    underWay.set(name, asked)
    asked.then(
      () => underWay.delete(name),
      (error: unknown) => {
        underWay.delete(name)
        const isUnknown = errorCode(error) === 'ENOTFOUND'
        if (isUnknown || performance.now() - began > slowMs) failed.set(name, true)
      },
    )
    return asked
  }
  return async (name) => {
    if (failed.has(name)) throw new Error(`${name} was not found a moment ago`)
    const shared = underWay.get(name)
    if (shared) return shared
    if (underWay.size >= most) throw tooMany(most)
    return begin(name)
  }
}
