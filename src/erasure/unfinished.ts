import { logStream } from '../../events/records/log.js'
import { blobsOf, erasedBlobsOf, mayNameBlobs } from '../../events/references.js'
import type { BlobStore } from '../files/blob-store.js'
import type { Log } from '../log/contract/log.js'
import { eventsWith, streamEvents } from '../log/read/slices.js'

/**
 * Removes the blobs that were erased but left behind by a crash. One that a later event names is kept, or that was put again since.
 * Where nodes share a log, this one has to have all that was acknowledged before. Resolves with how many it removed.
 *
 * @example await removeErasedBlobs(log, blobs) // 1
 */
export const removeErasedBlobs = async (log: Pick<Log, 'readAll' | 'readStream'>, blobs: BlobStore): Promise<number> => {
  const left = new Map<string, { position: number; erasedAt: string }>()
  for (const { type, data, position, recorded_at: erasedAt } of await streamEvents(log, logStream))
    for (const hash of erasedBlobsOf(type, data)) if (await blobs.has(hash)) left.set(hash, { position, erasedAt })
  if (left.size === 0) return 0
  const first = Math.min(...[...left.values()].map(({ position }) => position))
  for await (const { type, data, position } of eventsWith(log, first, mayNameBlobs))
    for (const hash of blobsOf(type, data)) if (position > (left.get(hash)?.position ?? position)) left.delete(hash)
  let removed = 0
  for (const [hash, { erasedAt }] of left) if (await blobs.removeErased(hash, erasedAt)) removed++
  return removed
}
