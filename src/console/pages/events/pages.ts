import { json } from '../../api/request.js'
import { select } from '../../api/sql.js'
import type { LogEvent } from './log-event.js'

/** The newest events up to a position of the log, and the log's head at that time. */
export type EventPage = { events: LogEvent[]; hasEarlier: boolean; head: number; search: string }

type Answered = { events: LogEvent[]; next: string | null; head: number }

const pageEvents = 100

/** The last position of a moment, which may be a time. */
const positionAt = async (moment: string, signal: AbortSignal): Promise<number> => {
  if (/^\d+$/.test(moment)) return Number(moment)
  const [last] = await select<{ p: number | null }>({ query: 'SELECT max(position) AS p FROM log.events', at: moment, signal })
  return last?.p ?? 0
}

/**
 * Reads the newest events that match a filter.
 *
 * @param until a position or a time; undefined is now
 * @example const { events, hasEarlier } = await readPage('kind=skill', '1042', signal)
 * @throws ApiError
 */
export const readPage = async (search: string, until: string | undefined, signal: AbortSignal): Promise<EventPage> => {
  const asked = new URLSearchParams(search)
  asked.set('order', 'desc')
  asked.set('limit', String(pageEvents))
  if (until !== undefined) asked.set('until', String(await positionAt(until, signal)))
  for (;;) {
    const { events, next, head } = await json<Answered>(`events?${asked.toString()}`, { signal })
    // The service examines a limited number of events per request. Matching events may be earlier.
    if (events.length > 0 || next === null) return { events, hasEarlier: next !== null, head, search }
    asked.set('cursor', next)
  }
}
