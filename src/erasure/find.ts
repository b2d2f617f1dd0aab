import { logStream } from '../../events/log.js'
import { erasedBlobsOf } from '../../events/references.js'
import type { Log } from '../log/log.js'
import { streamEvents } from '../log/walk.js'

/** The erasure that took a blob away. */
type BlobErasure = { position: number; at: string; reason: string | null }

/** The last erasure of a blob; undefined when none took it. The log's own stream is short. */
export const erasureOfBlob = async (log: Pick<Log, 'readStream'>, hash: string): Promise<BlobErasure | undefined> => {
  const event = (await streamEvents(log, logStream)).findLast(({ type, data }) => erasedBlobsOf(type, data).includes(hash))
  return (
    event && {
      position: event.position,
      at: event.recorded_at,
      reason: typeof event.data['reason'] === 'string' ? event.data['reason'] : null,
    }
  )
}
