import { logStream } from '../../events/records/log.js'
import { blobsOf, erasedBlobsOf, mayEraseBlobs, mayNameBlobs } from '../../events/catalogue/references.js'
import type { BlobStore } from '../files/blob-store.js'
import type { Log } from '../log/contract/log.js'
import { everyResource } from '../log/read/every-resource.js'
import { eventsWith, streamEventsWith } from '../log/read/slices.js'

/** The number of removed blobs, and the version of the log's own stream up to which erasures are finished. */
type RemovalProgress = { removed: number; until: number }

/**
 * Removes the remains of erased blobs after a crash or a failure. It keeps a blob that was stored again since. It also keeps one that a
 * later event refers to, if the store does not know when the blob was stored. With a shared log, this node must first have all acknowledged
 * events. It reads erasures after a given version of the log's own stream, because an earlier call has finished the erasures before; with
 * `only`, it looks only at these blobs.
 *
 * @example await removeErasedBlobs(log, blobs) // { removed: 1, until: 12 }
 */
export const removeErasedBlobs = async (
  log: Pick<Log, 'readAll' | 'readStream' | 'resources' | 'streamVersion'>,
  blobs: BlobStore,
  after = 0,
  only?: ReadonlySet<string>,
): Promise<RemovalProgress> => {
  const left = new Map<string, { position: number; erasedAt: string }>()
  const until = await log.streamVersion(logStream)
  const mayMatter = (text: string) => mayEraseBlobs(text) && (!only || [...only].some((hash) => text.includes(hash)))
  for await (const { type, data, position, recorded_at: erasedAt } of streamEventsWith(log, logStream, after, mayMatter))
    for (const hash of erasedBlobsOf(type, data))
      if (only?.has(hash) !== false && (await blobs.isLeft(hash))) left.set(hash, { position, erasedAt })
  if (left.size === 0) return { removed: 0, until }
  const named = new Set<string>()
  // A content that was uploaded again is that of a file now, so most often no event has to be read.
  for await (const { state, updated_at: updatedAt } of everyResource(log.resources, 'file')) {
    const one = left.get(state.content)
    if (one && updatedAt > one.erasedAt) named.add(state.content)
  }
  const others = [...left].filter(([hash]) => !named.has(hash))
  const first = others.reduce((least, [, { position }]) => Math.min(least, position), Infinity)
  if (others.length > 0)
    for await (const { type, data, position } of eventsWith(log, first, mayNameBlobs))
      for (const hash of blobsOf(type, data)) if (position > (left.get(hash)?.position ?? position)) named.add(hash)
  let removed = 0
  for (const [hash, { erasedAt }] of left) if (await blobs.removeErased(hash, erasedAt, named.has(hash))) removed++
  return { removed, until }
}
