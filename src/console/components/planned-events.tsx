import type { Value } from '../api/sql.js'
import { wordsOf } from '../basics/words.js'
import { Diff } from './diff.js'

/** An event that would be recorded. */
export type PlannedEvent = { type: string; stream: string; version: number; data: Value }

const shownMax = 200

/** The planned events of a dry run, in their order. */
export const PlannedEvents = ({ events }: { events: readonly PlannedEvent[] }) => (
  <>
    <ol class="planned">
      {events.slice(0, shownMax).map(({ type, stream, version, data }, i) => (
        <li key={i} class="card">
          <strong>{wordsOf(type)}</strong>
          <p class="quiet">
            version {version} of <code>{stream}</code>
          </p>
          <Diff operations={[{ op: 'add', path: '', value: data }]} />
        </li>
      ))}
    </ol>
    {events.length > shownMax && <p class="quiet">The first {shownMax} are shown.</p>}
  </>
)
