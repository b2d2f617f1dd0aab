import { erasedBlobsOf } from '../../events/catalogue/references.js'
import type { BlobStore } from '../files/blob-store.js'
import type { Log } from '../log/contract/log.js'

/**
 * Runs work that records erasures, and drops the files of erased blobs in the turn of each commit. So an upload or a rollback that begins
 * after the event does not find them, and one that began before is refused. Resolves when the disk has done it.
 *
 * @example await droppingErased(log, blobs, () => ledger.execute({ type: 'EraseData', data }, origin))
 */
export const droppingErased = async <T>(
  log: Pick<Log, 'onCommitted'>,
  blobs: Pick<BlobStore, 'drop'>,
  record: () => Promise<T>,
): Promise<T> => {
  let dropped: Promise<unknown> = Promise.resolve()
  const stop = log.onCommitted((_, __, written) => {
    const erased = written.flatMap(({ event }) => erasedBlobsOf(event.type, event.data))
    dropped = Promise.all([dropped, blobs.drop?.(erased)])
    // A failure is thrown at the end.
    dropped.catch(() => undefined)
  })
  try {
    return await record()
  } finally {
    stop()
    await dropped
  }
}
