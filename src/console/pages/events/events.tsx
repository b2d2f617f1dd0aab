/** Room: the page of the log's events. It imports console/api, console/basics and console/parts alone. */

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { apiUrl, json, loginNeeded } from '../../api/request.js'
import { serverEvents } from '../../api/server-events.js'
import { select, type Value } from '../../api/sql.js'
import { kinds } from '../../basics/kinds.js'
import { useLoaded } from '../../basics/loading.js'
import { changeQuery, hrefOf, momentShown, place } from '../../basics/place.js'
import { Busy, Empty, Refusal } from '../../parts/notice.js'
import { wordsOf } from '../../basics/words.js'

type LogEvent = {
  position: number
  stream: string
  version: number
  type: string
  recorded_at: string
  actor: string
  source: string
  request: string | null
  causation: string | null
  data: Value
}

type Page = { events: LogEvent[]; next: string | null; head: number }

/** The last position of a moment: a time has one, too. */
const positionAt = async (moment: string, signal: AbortSignal): Promise<number> => {
  if (/^\d+$/.test(moment)) return Number(moment)
  const [last] = await select<{ p: number | null }>({ query: 'SELECT max(position) AS p FROM log.events', at: moment, signal })
  return last?.p ?? 0
}

/** How long a stream that ended waits before it is asked for again, in ms: longer after each failure. */
const firstWaitMs = 1_000
const longestWaitMs = 15_000
/** Events that the page keeps: older ones are asked for again. */
const keptMax = 1_000
const kindsOffered = [...kinds.map(({ kind }) => kind), 'predictions']

type Filter = { kind: string | null; actor: string | null; project: string | null }

const searchOf = ({ kind, actor, project }: Filter): URLSearchParams => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries({ kind, actor, project })) if (value !== null && value !== '') search.set(name, value)
  return search
}

/** The events after a position, as they are recorded; the browser connects again by itself. */
const useStream = (filter: Filter, after: number | undefined, take: (event: LogEvent) => void): boolean => {
  const isLive = useSignal(false)
  useEffect(() => {
    if (after === undefined) return
    const url = apiUrl('events/stream')
    url.search = searchOf(filter).toString()
    url.searchParams.set('after', String(after))
    const aborting = new AbortController()
    const follow = async () => {
      let last = String(after)
      let wait = firstWaitMs
      while (!aborting.signal.aborted) {
        try {
          const response = await fetch(url, { headers: { Accept: 'text/event-stream', 'Last-Event-ID': last }, signal: aborting.signal })
          if (response.status === 401) loginNeeded.value = true
          // What is refused for good is not asked again. A service that starts or is busy is.
          if (response.status >= 400 && response.status < 500 && response.status !== 429) break
          if (!response.ok || !response.body) throw new Error(`the service answered ${response.status}`)
          wait = firstWaitMs
          isLive.value = true
          for await (const { id, data } of serverEvents(response)) {
            if (id !== undefined) last = id
            if (data !== '') take(JSON.parse(data) as LogEvent)
          }
        } catch {
          // It is tried again below.
        }
        isLive.value = false
        await new Promise((resolve) => setTimeout(resolve, wait))
        wait = Math.min(longestWaitMs, 2 * wait)
      }
      isLive.value = false
    }
    void follow()
    return () => aborting.abort()
  }, [after, filter.kind, filter.actor, filter.project])
  return isLive.value
}

const Details = ({ event }: { event: LogEvent }) => (
  <details>
    <summary>
      <span class="position">{event.position}</span>
      <strong>{wordsOf(event.type)}</strong>
      <span class="quiet">
        {event.actor} over {event.source}
      </span>
      <time class="quiet" dateTime={event.recorded_at}>
        {event.recorded_at.slice(0, 19).replace('T', ' ')}
      </time>
    </summary>
    <pre>{JSON.stringify(event, null, 2)}</pre>
    <p class="tools">
      <a class="button" href={hrefOf('/audit', { event: String(event.position) })}>
        Prove it
      </a>
      <a class="button" href={hrefOf('/', { at: String(event.position) })}>
        See everything as of then
      </a>
      <a class="button" href={hrefOf('/compare', { from: String(event.position - 1), to: String(event.position) })}>
        What it changed
      </a>
    </p>
  </details>
)

/** The log as it grows, the newest first. */
export default () => {
  const { query } = place.value
  const at = momentShown()
  const position = query.get('position')
  const filter: Filter = { kind: query.get('kind'), actor: query.get('actor'), project: query.get('project') }
  const newer = useSignal<LogEvent[]>([])
  const search = searchOf(filter)
  search.set('order', 'desc')
  search.set('limit', '100')
  const until = position ?? at
  const isPast = until !== undefined
  const address = `events?${search.toString()}`
  const { loaded, reload } = useLoaded(
    async (signal) => {
      newer.value = []
      return json<Page>(until === undefined ? address : `${address}&until=${await positionAt(until, signal)}`, { signal })
    },
    [address, until],
  )
  const { value, error } = loaded.value
  const isLive = useStream(filter, isPast ? undefined : value?.head, (event) => {
    newer.value = [event, ...newer.value].slice(0, keptMax)
  })
  const all = [...newer.value, ...(value?.events ?? [])]
  return (
    <>
      <div class="title">
        <h1>Events</h1>
        <p role="status" class={isLive ? 'live' : 'quiet'}>
          {isPast ? `Up to ${until}` : isLive ? 'Live' : 'Not connected'}
        </p>
      </div>
      <div class="tools">
        <label class="inline">
          <span>Kind</span>
          <select value={filter.kind ?? ''} onChange={({ currentTarget }) => changeQuery({ kind: currentTarget.value })}>
            <option value="">all</option>
            {kindsOffered.map((kind) => (
              <option key={kind} value={kind}>
                {kind.replace('_', ' ')}
              </option>
            ))}
          </select>
        </label>
        <label class="inline">
          <span>By</span>
          <input
            value={filter.actor ?? ''}
            onChange={({ currentTarget }) => changeQuery({ actor: currentTarget.value })}
            placeholder="anybody"
          />
        </label>
        <label class="inline">
          <span>Project</span>
          <input
            value={filter.project ?? ''}
            onChange={({ currentTarget }) => changeQuery({ project: currentTarget.value })}
            placeholder="all"
          />
        </label>
        {isPast && (
          <button type="button" onClick={() => changeQuery({ position: undefined, at: undefined })}>
            Go on to now
          </button>
        )}
      </div>
      {error && <Refusal error={error} again={reload} />}
      {!value && !error && <Busy />}
      {value && all.length === 0 && <Empty title="No event fits" />}
      <ol class="events">
        {all.map((event) => (
          <li key={event.position}>
            <Details event={event} />
          </li>
        ))}
      </ol>
    </>
  )
}
