/** Room: the page of the log's events. It imports only console/api, console/basics, console/components and console/lists. */

import { useSignal } from '@preact/signals'
import { useLoaded } from '../../basics/loading.js'
import { changeQuery, momentShown, place } from '../../basics/place.js'
import { Busy, Empty, Refusal } from '../../components/notice.js'
import { PageLinks } from '../../lists/page-links.js'
import { EventLine } from './event-line.js'
import { filterIn, Filters, searchOf } from './filters.js'
import { useLiveEvents, type LiveState } from './live-events.js'
import type { LogEvent } from './log-event.js'
import { readPage } from './pages.js'

/** The most events that the page keeps; older ones are loaded again when needed. */
const keptMax = 1_000

/** The page's text for the state of the stream of new events. */
const liveText: Readonly<Record<LiveState['is'], string>> = {
  live: 'Live',
  away: 'Not connected; it is tried again',
  refused: 'Not connected',
}

/** The events of the log, the newest first. New ones appear by themselves, and earlier ones page by page. */
export default () => {
  const { query } = place.value
  const at = momentShown()
  const filter = filterIn(query)
  const search = searchOf(filter)
  const until = query.get('position') ?? at
  const isPast = until !== undefined
  const newer = useSignal<LogEvent[]>([])
  const isPaused = useSignal(false)
  const { loaded, reload } = useLoaded(
    async (signal) => {
      const page = await readPage(search, until, signal)
      newer.value = []
      return page
    },
    [search, until],
  )
  const { value, error, isLoading } = loaded.value
  // New events match the filter, like those of the page below.
  const live = useLiveEvents({
    ...{ search, after: isPast || isLoading || value?.search !== search ? undefined : value.head },
    ...{ isPaused, keptMax, loadNewest: reload },
    take: (events) => (newer.value = [...events.toReversed(), ...newer.peek()].slice(0, keptMax)),
  })
  const all = [...newer.value, ...(value?.events ?? [])]
  const events = all.slice(0, keptMax)
  const oldest = events.at(-1)?.position
  const earlier = oldest !== undefined && (value?.hasEarlier === true || all.length > events.length) ? oldest - 1 : undefined
  return (
    <>
      <div class="title">
        <h1>Events</h1>
        <p role="status" class={live.is === 'live' ? 'live' : 'quiet'}>
          {isPast ? `Up to ${until}` : isPaused.value ? 'Paused' : liveText[live.is]}
        </p>
      </div>
      <div class="tools">
        <Filters filter={filter} at={at} events={events} />
        {!isPast && (
          <button type="button" aria-pressed={isPaused.value} onClick={() => (isPaused.value = !isPaused.peek())}>
            Pause
          </button>
        )}
        {isPast && (
          <button type="button" onClick={() => changeQuery({ position: undefined, at: undefined })}>
            Go on to now
          </button>
        )}
      </div>
      {error && <Refusal error={error} again={reload} />}
      {!value && !error && <Busy />}
      {!isPast && live.is === 'refused' && !isPaused.value && !error && (
        <div class="notice bad" role="alert">
          <p>New events do not arrive: {live.error.message}</p>
          {live.error.hint !== undefined && <p class="quiet">{live.error.hint}</p>}
          <button type="button" onClick={reload}>
            Connect again
          </button>
        </div>
      )}
      {value && events.length === 0 && <Empty title="No event fits" />}
      <ol class="events" aria-busy={isLoading}>
        {events.map((event) => (
          <li key={event.position}>
            <EventLine event={event} />
          </li>
        ))}
      </ol>
      {oldest !== undefined && (
        <PageLinks name="position" start={earlier} end={search === '' ? 'The log begins here.' : 'No earlier event fits.'} />
      )}
    </>
  )
}
