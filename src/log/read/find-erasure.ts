import type { Envelope } from '../../../events/stored/envelope.js'
import { logStream } from '../../../events/records/log.js'
import { erasedBlobsOf, erasedPayloadsOf } from '../../../events/catalogue/references.js'
import type { Log } from '../contract/log.js'
import { streamEventsWith } from './slices.js'

/** The erasure that removed something. */
type Erasure = { position: number; at: string; reason: string | null }

/** The last erasure that names a hash and passes a test. Each erasure may name many hashes, so no others are parsed or kept. */
const lastErasure = async (
  log: Pick<Log, 'readStream'>,
  hash: string,
  takes: (event: Envelope) => boolean,
): Promise<Erasure | undefined> => {
  let last: Erasure | undefined
  for await (const event of streamEventsWith(log, logStream, 0, (text) => text.includes(hash))) {
    if (!takes(event)) continue
    const { reason } = event.data
    last = { position: event.position, at: event.recorded_at, reason: typeof reason === 'string' ? reason : null }
  }
  return last
}

/**
 * The last erasure of a blob since an event named it; undefined when there was none. `namedAt` is the time of that event: an event after an
 * erasure stored the blob again.
 */
export const erasureOfBlob = (log: Pick<Log, 'readStream'>, hash: string, namedAt = ''): Promise<Erasure | undefined> =>
  lastErasure(log, hash, ({ type, data, recorded_at }) => recorded_at >= namedAt && erasedBlobsOf(type, data).includes(hash))

/** The last erasure of rows from a payload; undefined when there was none. */
export const erasureOfPayload = (log: Pick<Log, 'readStream'>, hash: string): Promise<Erasure | undefined> =>
  lastErasure(log, hash, ({ type, data }) => erasedPayloadsOf(type, data).some((erased) => erased.hash === hash))
