import type { Kind } from '../../events/catalogue.js'
import type { StreamId } from '../../events/common.js'
import { parseEnvelope } from '../../events/envelope.js'
import { limits } from '../limits.js'
import { foldEvent } from './fold.js'
import type { Log } from './log.js'
import type { Found } from './lookups.js'

/**
 * A resource as it was last, though it may be gone: for answers to what was carried out before.
 *
 * @example await lastKnown(log, 'project', stream)
 */
export const lastKnown = async <K extends Kind>(
  log: Pick<Log, 'readStream' | 'resources'>,
  kind: K,
  stream: StreamId,
): Promise<Found<K> | undefined> => {
  const there = await log.resources.byStream(kind, stream)
  if (there) return there
  let last: Found<K> | undefined
  for (let version = 0; ; version += limits.followerBatchEvents) {
    const page = await log.readStream(stream, version, limits.followerBatchEvents)
    for (const { text } of page) {
      const next = foldEvent(kind, stream, last, parseEnvelope(text))
      if (!next) return last
      last = next
    }
    if (page.length < limits.followerBatchEvents) return last
  }
}
