import { json } from '../../api/request.js'
import { headAt } from '../../basics/head.js'
import type { LogEvent } from './log-event.js'

/** The newest events up to a position of the log, and the log's head at that time. */
export type EventPage = { events: LogEvent[]; hasEarlier: boolean; head: number; search: string }

type Answered = { events: LogEvent[]; next: string | null; head: number }

const pageEvents = 100

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
  if (until !== undefined) asked.set('until', /^\d+$/.test(until) ? until : String(await headAt(until, signal)))
  for (;;) {
    const { events, next, head } = await json<Answered>(`events?${asked.toString()}`, { signal })
    // The service examines a limited number of events per request. Matching events may be earlier.
    if (events.length > 0 || next === null) return { events, hasEarlier: next !== null, head, search }
    asked.set('cursor', next)
  }
}
