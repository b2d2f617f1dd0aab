import { limits } from '../../basics/limits.js'
import type { Log } from '../../log/contract/log.js'
import { dropAllNamed } from '../unnamed-blobs.js'
import type { Register } from './register.js'
import type { SharedBlobs } from './shared-blobs.js'

type Options = {
  log: Log
  /** Resolves when this node's log has all events that any node acknowledged before. */
  newest: () => Promise<void>
  blobs: SharedBlobs
  register: Register
  ageMs?: number
}

/**
 * Removes unneeded data from the shared store: interrupted uploads, remains of earlier removals, and blobs that no event names. Another
 * node may be about to name a blob, at a time that is not known, so only old blobs are removed. A blob that is put again counts as new. Any
 * number of nodes may do this at once; one at a time is enough. Resolves with the number of blobs that it removed.
 *
 * @example await collectBlobs({ log, newest: () => log.newest(), blobs, register }, signal) // 2
 * @throws Problem storage_failed, the signal's reason
 */
export const collectBlobs = async (
  { log, newest, blobs, register, ageMs = limits.blobUnnamedMaxAgeMs }: Options,
  signal: AbortSignal,
): Promise<number> => {
  const old = await register.unnamed(ageMs)
  const unnamed = new Set(old)
  if (old.length > 0) {
    // From now on this node knows the blobs that other nodes named.
    await newest()
    await dropAllNamed(unnamed, log, signal)
    await register.named(old.filter((sha) => !unnamed.has(sha)))
    for (const sha of await register.eraseUnnamed([...unnamed], ageMs)) blobs.forget(sha)
  }
  await blobs.removeObjects(await register.doomOlder(ageMs), signal)
  return unnamed.size
}
