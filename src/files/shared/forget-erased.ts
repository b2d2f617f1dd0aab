import { logStream } from '../../../events/records/log.js'
import { erasedBlobsOf, mayEraseBlobs } from '../../../events/catalogue/references.js'
import type { Log } from '../../log/contract/log.js'
import { streamEventsWith } from '../../log/read/slices.js'
import type { SharedBlobs } from './shared-blobs.js'

/**
 * Removes erased blobs from this node: those of missed erasures before this resolves, and those of later erasures as soon as the node
 * follows their events. From then on it does not fetch them either, although their bytes may still be in the store. A blob that was
 * stored again since is fetched again. Returns the function that stops it.
 *
 * @example const stop = await forgetErased(log, blobs)
 */
export const forgetErased = async (
  log: Pick<Log, 'onCommitted' | 'readStream' | 'erasedAt'>,
  blobs: Pick<SharedBlobs, 'noteErased'>,
): Promise<() => void> => {
  const stop = log.onCommitted((_, __, written) => {
    for (const { event, recordedAt } of written)
      for (const hash of erasedBlobsOf(event.type, event.data)) blobs.noteErased(hash, recordedAt)
  })
  if ((await log.erasedAt()) > 0)
    for await (const { type, data, recorded_at: recordedAt } of streamEventsWith(log, logStream, 0, mayEraseBlobs))
      for (const hash of erasedBlobsOf(type, data)) blobs.noteErased(hash, recordedAt)
  return stop
}
