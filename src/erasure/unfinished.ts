import { logStream } from '../../events/records/log.js'
import { blobsOf, erasedBlobsOf, mayNameBlobs } from '../../events/references.js'
import type { BlobStore } from '../files/blob-store.js'
import type { Log } from '../log/contract/log.js'
import { eventsWith, streamEventsWith } from '../log/read/slices.js'

/** How many blobs were removed, and the version of the log's own stream up to which erasures are finished. */
type Finished = { removed: number; until: number }

/**
 * Removes the blobs that were erased but left behind by a crash. A blob is kept if a later event names it, or if it was put again since.
 * Where nodes share a log, this node must have all that was acknowledged before. It looks at erasures after a version of the log's own
 * stream, because an earlier call has finished the erasures up to there.
 *
 * @example await removeErasedBlobs(log, blobs) // { removed: 1, until: 12 }
 */
export const removeErasedBlobs = async (log: Pick<Log, 'readAll' | 'readStream'>, blobs: BlobStore, after = 0): Promise<Finished> => {
  const left = new Map<string, { position: number; erasedAt: string }>()
  let until = after
  for await (const { type, data, position, version, recorded_at: erasedAt } of streamEventsWith(log, logStream, after, () => true)) {
    for (const hash of erasedBlobsOf(type, data)) if (await blobs.has(hash)) left.set(hash, { position, erasedAt })
    until = version
  }
  if (left.size === 0) return { removed: 0, until }
  const first = [...left.values()].reduce((least, { position }) => Math.min(least, position), Infinity)
  for await (const { type, data, position } of eventsWith(log, first, mayNameBlobs))
    for (const hash of blobsOf(type, data)) if (position > (left.get(hash)?.position ?? position)) left.delete(hash)
  let removed = 0
  for (const [hash, { erasedAt }] of left) if (await blobs.removeErased(hash, erasedAt)) removed++
  return { removed, until }
}
