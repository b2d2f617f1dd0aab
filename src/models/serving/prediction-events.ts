import { setImmediate } from 'node:timers/promises'
import type { StreamId } from '../../../events/common.js'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import { predictionsStream, type PredictionsServed } from '../../../events/records/predictions.js'
import { limits } from '../../basics/limits.js'
import { currentEvent } from '../../../events/catalogue/catalogue.js'
import type { Log, StoredEvent } from '../../log/contract/log.js'
import { eventAt } from '../../log/read/slices.js'

/** An event that served predictions. */
export type PredictionEvent = PredictionsServed & { position: number }

const asServed = ({ position, text }: StoredEvent): PredictionEvent | undefined => {
  const event = currentEvent(parseEnvelope(text))
  return event.type === 'PredictionsServed' ? { ...event.data, position } : undefined
}

/** The predictions at a position; undefined if there is no such event. */
export const predictionsAt = async (log: Pick<Log, 'readAll'>, position: number): Promise<PredictionEvent | undefined> => {
  const stored = await eventAt(log, position)
  return stored && asServed(stored)
}

const requestIn = /"request":("(?:[^"\\]|\\.)*"),"rows":\d/g

/** The requests with rows in the stored text of an event, as JSON writes their ids. */
const requestsIn = (text: string): string[] => [...text.matchAll(requestIn)].map(([, request = '']) => request)

/**
 * The last predictions of a model for each of these requests, searched from the newest event backwards. For a model with a million
 * predictions this takes seconds, during which other work continues.
 *
 * @example (await predictionsFor(log, model, ['0198…'])).get('0198…')?.position // 812
 */
export const predictionsFor = async (
  log: Pick<Log, 'readStream' | 'streamVersion'>,
  model: StreamId,
  requests: Iterable<string>,
): Promise<Map<string, PredictionEvent>> => {
  const stream = predictionsStream(model)
  const wanted = new Map(Array.from(requests, (request) => [JSON.stringify(request), request]))
  const found = new Map<string, PredictionEvent>()
  for (let end = await log.streamVersion(stream); end > 0 && wanted.size > 0; end -= limits.eventSliceMaxEvents) {
    const newest = await newestIn(log, stream, { after: Math.max(0, end - limits.eventSliceMaxEvents), end }, wanted)
    for (const [quoted, served] of newest) {
      const request = wanted.get(quoted)
      if (request !== undefined) found.set(request, served)
      wanted.delete(quoted)
    }
  }
  return found
}

/** The last predictions for each wanted request in a part of a stream. */
const newestIn = async (
  log: Pick<Log, 'readStream'>,
  stream: string,
  { after, end }: { after: number; end: number },
  wanted: ReadonlyMap<string, string>,
): Promise<Map<string, PredictionEvent>> => {
  const newest = new Map<string, PredictionEvent>()
  for (let version = after; version < end;) {
    const slice = await log.readStream(stream, version, end - version, limits.eventSliceMaxChars)
    for (const stored of slice) {
      const hits = requestsIn(stored.text).filter((quoted) => wanted.has(quoted))
      const served = hits.length > 0 ? asServed(stored) : undefined
      if (served) for (const quoted of hits) newest.set(quoted, served)
    }
    if (slice.length === 0) break
    version += slice.length
    await setImmediate()
  }
  return newest
}
