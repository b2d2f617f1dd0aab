import { select, type Value } from '../../api/sql.js'
import { useLoaded } from '../../basics/loading.js'
import { hrefOf } from '../../basics/place.js'
import { Listing } from '../../components/listing.js'
import { Busy, Refusal } from '../../components/notice.js'
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

/** The past erasures, and a form for a new one. */
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
        <Listing
          label="What was erased"
          isNarrow
          keyOf={({ position }) => position}
          columns={[
            { title: 'Event', of: ({ position }) => <a href={hrefOf('/events', { position: String(position) })}>{position}</a> },
            { title: 'What', of: ({ what }) => what },
            { title: 'Of', isClipped: true, of: ({ subject }) => subject },
            { title: 'Reason', isClipped: true, of: ({ reason }) => reason },
            { title: 'By', of: ({ actor }) => actor },
            { title: 'When', of: ({ recorded_at }) => recorded_at.slice(0, 16) },
          ]}
          rows={value}
        />
      )}
      {value?.length === shownErasures && <p class="quiet">The newest {shownErasures} are shown.</p>}
    </section>
  )
}
