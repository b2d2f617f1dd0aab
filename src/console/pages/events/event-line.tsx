import { useSignal } from '@preact/signals'
import { hrefOf } from '../../basics/place.js'
import { wordsOf } from '../../basics/words.js'
import { EventText } from './event-text.js'
import type { LogEvent } from './log-event.js'

/** One event as a line that opens, with links to related pages. */
export const EventLine = ({ event }: { event: LogEvent }) => {
  const isOpen = useSignal(false)
  return (
    <details onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
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
      <EventText event={event} isOpen={isOpen.value} />
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
}
