import { hasHash } from '../../basics/disk.js'
import { isProblem } from '../../basics/errors.js'
import type { Log } from '../../log/contract/log.js'
import { dropAllNamed } from '../unnamed-blobs.js'
import type { SharedStore } from './open-store.js'
import { isBlobDamaged } from './problems.js'

type Options = Pick<SharedStore, 'blobs' | 'register' | 'cache'> & {
  log: Log
  /** Resolves when this node's log has all events that any node acknowledged before. */
  newest: () => Promise<void>
}

/**
 * Stores blobs again that events name, that this node has, and that the shared store lost: PostgreSQL may have been made anew from another
 * node, or have lost its last rows. Resolves with the number of these blobs.
 *
 * @example await giveBackBlobs({ log, newest: () => log.newest(), blobs, register, cache }, signal) // 2
 * @throws Problem storage_failed, the signal's reason
 */
export const giveBackBlobs = async ({ log, newest, blobs, register, cache }: Options, signal: AbortSignal): Promise<number> => {
  const lacking = await register.lacking(cache.names)
  if (lacking.length === 0) return 0
  // From now on this node knows what was erased.
  await newest()
  const unnamed = new Set(lacking)
  await dropAllNamed(unnamed, log, signal)
  let given = 0
  for (const sha of lacking) {
    signal.throwIfAborted()
    const held = unnamed.has(sha) ? undefined : cache.hold(sha)
    if (!held) continue
    try {
      if (!(await hasHash(held.file, sha))) continue
      await blobs.keep(held.file, sha)
      given++
    } catch (error) {
      // It was erased meanwhile.
      if (!isProblem(error) || !isBlobDamaged(error)) throw error
    } finally {
      held.release()
    }
  }
  return given
}
