import { evolve, type Kind, currentEvent } from '../../../events/catalogue/catalogue.js'
import type { StreamId } from '../../../events/common.js'
import type { Envelope } from '../../../events/stored/envelope.js'
import type { Resource } from '../contract/lookups.js'

/**
 * A resource after one more event of its stream; undefined when the event ends it.
 *
 * @example for (const envelope of envelopes) found = foldEvent('skill', stream, found, envelope)
 */
export const foldEvent = <K extends Kind>(
  kind: K,
  stream: StreamId,
  found: Resource<K> | undefined,
  envelope: Envelope,
): Resource<K> | undefined => {
  const { position, version, recorded_at: updated_at } = envelope
  const state = evolve(kind, found?.state, currentEvent(envelope))
  const { id, created_at } = found ?? { id: position, created_at: updated_at }
  return state && { kind, stream, id, version, created_at, updated_at, state }
}
