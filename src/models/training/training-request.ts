import type { StreamId } from '../../../events/common.js'
import type { Envelope } from '../../../events/stored/envelope.js'
import type { Log } from '../../log/contract/log.js'
import { eventsOf } from '../../log/read/slices.js'

/**
 * The event that requested a version of a model; undefined when the log has no such version.
 *
 * @example (await trainingRequest(log, model.stream, 2))?.actor // 'ada'
 */
export const trainingRequest = async (log: Pick<Log, 'readStream'>, model: StreamId, version: number): Promise<Envelope | undefined> => {
  for await (const envelope of eventsOf(log, model))
    if (envelope.type === 'ModelTrainingRequested' && envelope.data['version'] === version) return envelope
  return undefined
}
