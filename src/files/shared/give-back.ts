import { hasHash } from '../../basics/disk.js'
import { isProblem } from '../../basics/errors.js'
import type { Log } from '../../log/contract/log.js'
import { ErasedWhileStored } from '../blob-store.js'
import { dropAllNamed } from '../unnamed-blobs.js'
import type { SharedStore } from './open-store.js'
import { isBlobDamaged } from './problems.js'

type Options = Pick<SharedStore, 'blobs' | 'register' | 'cache'> & {
  log: Log
  /** Resolves when this node's log has all events that any node acknowledged before. */
  newest: () => Promise<void>
}

/**
 * Stores blobs again that events name and this node has, but the shared store has lost: PostgreSQL may have been created again from another
 * node, or have lost its last rows. Blobs that the store lacks, and that no event names at two calls, are removed from this node, because
 * they were given up or collected. Resolves with the number of blobs that it stored again. It may be called again and again.
 *
 * @example await givingBack({ log, newest: () => log.newest(), blobs, register, cache })(signal) // 2
 * @throws Problem storage_failed, the signal's reason
 */
export const givingBack = ({ log, newest, blobs, register, cache }: Options): ((signal: AbortSignal) => Promise<number>) => {
  /** Blobs that no event named, with the position of the last one that was looked through. */
  let unnamedUpTo = new Map<string, number>()

  const givesBack = async (sha: string): Promise<boolean> => {
    const held = cache.hold(sha)
    if (!held) return false
    try {
      if (!(await hasHash(held.file, sha))) return false
      await blobs.keep(held.file, sha)
      return true
    } catch (error) {
      // It was erased meanwhile, or the disk here does not keep its bytes.
      if (error instanceof ErasedWhileStored || (isProblem(error) && isBlobDamaged(error))) return false
      throw error
    } finally {
      held.release()
    }
  }

  return async (signal) => {
    const lacking = await register.lacking(cache.names)
    const unnamed = new Set(lacking)
    // From now on this node knows what was named and erased.
    if (lacking.length > 0) await newest()
    const { position } = await log.head()
    const after = lacking.reduce((least, sha) => Math.min(least, unnamedUpTo.get(sha) ?? 0), position)
    await dropAllNamed(unnamed, log, signal, after)
    for (const sha of unnamed) if (unnamedUpTo.has(sha)) blobs.forget(sha)
    unnamedUpTo = new Map([...unnamed].map((sha) => [sha, position]))
    let given = 0
    for (const sha of lacking) {
      signal.throwIfAborted()
      if (!unnamed.has(sha) && (await givesBack(sha))) given++
    }
    return given
  }
}
