import type { Value } from '../../api/sql.js'
import { hrefOf } from '../../basics/place.js'
import { Listing } from '../../lists/listing.js'
import { selectPart, useParts } from '../../lists/parts.js'
import { Busy, Refusal } from '../../components/notice.js'
import { Erase } from './erase.js'

type Erasure = {
  position: number
  recorded_at: string
  actor: string
  what: string
  subject: string | null
  reason: string | null
} & Record<string, Value>

const erasures = { query: 'SELECT position, recorded_at, actor, what, subject, reason FROM log.erasures', order: 'position DESC' }

/** The past erasures, the newest first, and a form for a new one. */
export const Erasures = () => {
  const { rows, error, reload, more } = useParts((part, signal) => selectPart<Erasure>(erasures, part, signal), undefined, [], 'erasures')
  return (
    <section aria-label="Erasures">
      <h2>What was erased</h2>
      <Erase erased={reload} />
      {error && <Refusal error={error} again={reload} />}
      {!rows && !error && <Busy />}
      {rows?.length === 0 && <p class="quiet">Nothing was erased.</p>}
      {rows && rows.length > 0 && (
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
          rows={rows}
          more={more}
        />
      )}
    </section>
  )
}
