import type { StreamId } from '../../events/common.js'
import type { TrainingResult } from '../../events/model.js'
import { parseEnvelope } from '../../events/envelope.js'
import { currentEvent } from '../log/current-event.js'
import type { Log } from '../log/log.js'
import { eventsOf } from '../log/walk.js'

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
  for await (const envelope of eventsOf(log, model)) {
    const event = currentEvent(envelope)
    if (event.type === 'ModelTrained' && event.data.version === version) return event.data
  }
  return undefined
}
