import type { StreamId } from '../../events/common.js'
import { parseEnvelope } from '../../events/envelope.js'
import { limits } from '../limits.js'
import { currentEvent } from '../log/current-event.js'
import type { Log } from '../log/log.js'

/**
 * Who asked for a version of a model, as its log says; undefined when the log has no such version.
 *
 * @example await requesterOf(log, model.stream, 2) // 'ada'
 */
export const requesterOf = async (log: Pick<Log, 'readStream'>, model: StreamId, version: number): Promise<string | undefined> => {
  for (let after = 0; ; after += limits.followerBatchEvents) {
    const page = await log.readStream(model, after, limits.followerBatchEvents)
    for (const { text } of page) {
      const envelope = parseEnvelope(text)
      const event = currentEvent(envelope)
      if (event.type === 'ModelTrainingRequested' && event.data.version === version) return envelope.actor
    }
    if (page.length < limits.followerBatchEvents) return undefined
  }
}
