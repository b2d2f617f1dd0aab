import { logStream } from '../../events/records/log.js'
import { blobsOf, erasedBlobsOf, mayNameBlobs } from '../../events/references.js'
import type { BlobStore } from '../files/blob-store.js'
import type { Log } from '../log/contract/log.js'
import { eventsWith, streamEvents } from '../log/read/slices.js'

/**
 * Removes the blobs that were erased but left behind by a crash. One that a later event names is kept.
 *
 * @example await removeErasedBlobs(log, blobs) // 1
 */
export const removeErasedBlobs = async (log: Pick<Log, 'readAll' | 'readStream'>, blobs: BlobStore): Promise<number> => {
  const left = new Map<string, number>()
  for (const { type, data, position } of await streamEvents(log, logStream))
    for (const hash of erasedBlobsOf(type, data)) if (await blobs.has(hash)) left.set(hash, position)
  if (left.size === 0) return 0
  const first = Math.min(...left.values())
  for await (const { type, data, position } of eventsWith(log, first, mayNameBlobs))
    for (const hash of blobsOf(type, data)) if (position > (left.get(hash) ?? position)) left.delete(hash)
  for (const hash of left.keys()) await blobs.remove(hash)
  return left.size
}
