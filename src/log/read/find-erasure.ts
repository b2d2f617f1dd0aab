import type { Envelope } from '../../../events/stored/envelope.js'
import { logStream } from '../../../events/records/log.js'
import { erasedBlobsOf, erasedPayloadsOf } from '../../../events/catalogue/references.js'
import type { Log } from '../contract/log.js'
import { streamEvents } from './slices.js'

/** The erasure that removed something. */
type Erasure = { position: number; at: string; reason: string | null }

/** The last erasure that passes a test. The log's own stream is short, so that all of it is read. */
const lastErasure = async (log: Pick<Log, 'readStream'>, takes: (event: Envelope) => boolean): Promise<Erasure | undefined> => {
  const event = (await streamEvents(log, logStream)).findLast(takes)
  return (
    event && {
      position: event.position,
      at: event.recorded_at,
      reason: typeof event.data['reason'] === 'string' ? event.data['reason'] : null,
    }
  )
}

/**
 * The last erasure of a blob since an event named it; undefined when there was none. `namedAt` is the time of that event: an event after an
 * erasure stored the blob again.
 */
export const erasureOfBlob = (log: Pick<Log, 'readStream'>, hash: string, namedAt = ''): Promise<Erasure | undefined> =>
  lastErasure(log, ({ type, data, recorded_at }) => recorded_at >= namedAt && erasedBlobsOf(type, data).includes(hash))

/** The last erasure of rows from a payload; undefined when there was none. */
export const erasureOfPayload = (log: Pick<Log, 'readStream'>, hash: string): Promise<Erasure | undefined> =>
  lastErasure(log, ({ type, data }) => erasedPayloadsOf(type, data).some((erased) => erased.hash === hash))
