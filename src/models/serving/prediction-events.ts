import type { Json, StreamId } from '../../../events/common.js'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import type { PredictionsServed } from '../../../events/records/predictions.js'
import { currentEvent } from '../../../events/catalogue/catalogue.js'
import type { Log } from '../../log/contract/log.js'
import { eventAt } from '../../log/read/slices.js'

/** An event that served predictions. */
export type PredictionEvent = PredictionsServed & { position: number }

/** The predictions at a position; undefined if there is no such event. */
export const predictionsAt = async (log: Pick<Log, 'readAll'>, position: number): Promise<PredictionEvent | undefined> => {
  const stored = await eventAt(log, position)
  const event = stored && currentEvent(parseEnvelope(stored.text))
  return event?.type === 'PredictionsServed' ? { ...event.data, position } : undefined
}

/** The current rows of a small query of the service, with these values for its parameters. It takes a turn of `client`. */
export type ReadRows = (sql: string, client: string, params: Readonly<Record<string, Json>>) => Promise<unknown[][]>

const lastPositions = `
  SELECT request, max(position) FROM log.predictions
  WHERE model_id = :model AND request IN (SELECT unnest(from_json(:requests, '["VARCHAR"]')))
  GROUP BY request`

/** One query looks up so many requests. */
const requestsAtOnce = 1_000
/** Every id of a request is shorter. */
const requestMaxChars = 1_000

/**
 * The positions of the last predictions of a model for each of these requests, by the tables of SQL: a model may have more predictions than
 * can be searched for a request. A request without predictions is missing.
 *
 * @example (await positionsOf(readRows, { model, client, requests: ['0198…'] })).get('0198…') // 812
 */
export const positionsOf = async (
  readRows: ReadRows,
  { model, client, requests }: { model: StreamId; client: string; requests: Iterable<string> },
): Promise<Map<string, number>> => {
  const positions = new Map<string, number>()
  const ids = [...requests].filter(({ length }) => length < requestMaxChars)
  for (let from = 0; from < ids.length; from += requestsAtOnce) {
    const some = JSON.stringify(ids.slice(from, from + requestsAtOnce))
    for (const [request, position] of await readRows(lastPositions, client, { model, requests: some }))
      positions.set(String(request), Number(position))
  }
  return positions
}
