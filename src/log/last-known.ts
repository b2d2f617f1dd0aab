import { evolve, type Kind } from '../../events/catalogue.js'
import type { StreamId } from '../../events/common.js'
import { parseEnvelope } from '../../events/envelope.js'
import { limits } from '../limits.js'
import { currentEvent } from './current-event.js'
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
    for (const { position, text } of page) {
      const envelope = parseEnvelope(text)
      const state = evolve(kind, last?.state, currentEvent(envelope))
      if (!state) return last
      const { version, recorded_at: updated_at } = envelope
      const { id, created_at } = last ?? { id: position, created_at: updated_at }
      last = { kind, stream, id, version, created_at, updated_at, state }
    }
    if (page.length < limits.followerBatchEvents) return last
  }
}
