import type { StreamId } from '../../events/common.js'
import { parseEnvelope, type Envelope } from '../../events/envelope.js'
import { limits } from '../limits.js'
import type { Log } from '../log/log.js'

/**
 * The event by which a version of a model was asked for; undefined when the log has no such version.
 *
 * @example (await trainingRequest(log, model.stream, 2))?.actor // 'ada'
 */
export const trainingRequest = async (log: Pick<Log, 'readStream'>, model: StreamId, version: number): Promise<Envelope | undefined> => {
  for (let after = 0; ; after += limits.followerBatchEvents) {
    const page = await log.readStream(model, after, limits.followerBatchEvents)
    for (const { text } of page) {
      const envelope = parseEnvelope(text)
      if (envelope.type === 'ModelTrainingRequested' && envelope.data['version'] === version) return envelope
    }
    if (page.length < limits.followerBatchEvents) return undefined
  }
}
