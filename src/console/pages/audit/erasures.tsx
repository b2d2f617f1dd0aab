import { select, type Value } from '../../api/sql.js'
import { useLoaded } from '../../basics/loading.js'
import { hrefOf } from '../../basics/place.js'
import { Busy, Refusal } from '../../parts/notice.js'
import { Erase } from './erase.js'

const shownErasures = 50

type Erasure = {
  position: number
  recorded_at: string
  actor: string
  what: string
  subject: string | null
  reason: string | null
} & Record<string, Value>

/** What was erased, and a form to erase more. */
export const Erasures = () => {
  const { loaded, reload } = useLoaded(
    (signal) =>
      select<Erasure>({
        query: `SELECT position, recorded_at, actor, what, subject, reason FROM log.erasures ORDER BY position DESC LIMIT ${shownErasures}`,
        signal,
      }),
    [],
  )
  const { value, error } = loaded.value
  return (
    <section aria-label="Erasures">
      <h2>What was erased</h2>
      <Erase erased={reload} />
      {error && <Refusal error={error} again={reload} />}
      {!value && !error && <Busy />}
      {value?.length === 0 && <p class="quiet">Nothing was erased.</p>}
      {value && value.length > 0 && (
        <ul class="newest">
          {value.map(({ position, recorded_at, actor, what, subject, reason }) => (
            <li key={position}>
              <a href={hrefOf('/events', { position: String(position) })}>{position}</a> {what} {subject}
              {reason === null ? '' : `: ${reason}`}{' '}
              <span class="quiet">
                by {actor} · {recorded_at.slice(0, 16)}
              </span>
            </li>
          ))}
        </ul>
      )}
      {value?.length === shownErasures && <p class="quiet">The newest {shownErasures} are shown.</p>}
    </section>
  )
}
