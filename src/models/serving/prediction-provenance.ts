import type { StreamId } from '../../../events/common.js'
import type { TrainingResult } from '../../../events/model.js'
import { currentEvent } from '../../../events/catalogue/catalogue.js'
import type { Log } from '../../log/contract/log.js'
import { eventsOf } from '../../log/read/slices.js'
import { predictionsAt } from './prediction-events.js'

/**
 * The artefact that made a recorded prediction, even if its model was deleted.
 *
 * @example await artefactOfPrediction(log, 120) // 'c0ffee…', the hash of the version's artefact
 */
export const artefactOfPrediction = async (log: Pick<Log, 'readAll' | 'readStream'>, position: number): Promise<string | undefined> => {
  const served = await predictionsAt(log, position)
  return served && (await trainedAs(log, served.model, served.version))?.artefact
}

/** The training result of a version, even if the version was deleted since. */
export const trainedAs = async (log: Pick<Log, 'readStream'>, model: StreamId, version: number): Promise<TrainingResult | undefined> => {
  for await (const envelope of eventsOf(log, model)) {
    const event = currentEvent(envelope)
    if (event.type === 'ModelTrained' && event.data.version === version) return event.data
  }
  return undefined
}
