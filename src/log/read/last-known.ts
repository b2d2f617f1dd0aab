import type { Kind } from '../../../events/catalogue/catalogue.js'
import type { StreamId } from '../../../events/common.js'
import { foldEvent } from './fold.js'
import type { Log } from '../contract/log.js'
import type { Resource } from '../contract/lookups.js'
import { eventsOf } from './slices.js'

/**
 * The last state of a resource, even if it was deleted: for answers about earlier commands.
 *
 * @example await lastKnown(log, 'project', stream)
 */
export const lastKnown = async <K extends Kind>(
  log: Pick<Log, 'readStream' | 'resources'>,
  kind: K,
  stream: StreamId,
): Promise<Resource<K> | undefined> => {
  const there = await log.resources.byStream(kind, stream)
  if (there) return there
  let last: Resource<K> | undefined
  for await (const envelope of eventsOf(log, stream)) {
    const next = foldEvent(kind, stream, last, envelope)
    if (!next) return last
    last = next
  }
  return last
}
