import type { StreamId } from '../../events/common.js'
import type { TrainingResult } from '../../events/model.js'
import { parseEnvelope } from '../../events/envelope.js'
import { currentEvent } from '../log/current-event.js'
import type { Log } from '../log/log.js'
import { limits } from '../limits.js'

/**
 * The artefact that a recorded prediction was made with, though its model may be gone.
 *
 * @example await servedBy(log, 120) // 'c0ffee…', the hash of the version's artefact
 */
export const servedBy = async (log: Pick<Log, 'readAll' | 'readStream'>, position: number): Promise<string | undefined> => {
  const [stored] = await log.readAll(position - 1, 1)
  const served = stored && currentEvent(parseEnvelope(stored.text))
  return served?.type === 'PredictionsServed' ? (await trainedAs(log, served.data.model, served.data.version))?.artefact : undefined
}

/** What came of the training of a version, though it may be gone by now. */
export const trainedAs = async (log: Pick<Log, 'readStream'>, model: StreamId, version: number): Promise<TrainingResult | undefined> => {
  for (let after = 0; ; after += limits.followerBatchEvents) {
    const page = await log.readStream(model, after, limits.followerBatchEvents)
    for (const { text } of page) {
      const event = currentEvent(parseEnvelope(text))
      if (event.type === 'ModelTrained' && event.data.version === version) return event.data
    }
    if (page.length < limits.followerBatchEvents) return undefined
  }
}
