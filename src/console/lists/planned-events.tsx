import type { Value } from '../api/sql.js'
import { wordsOf } from '../basics/words.js'
import { Diff } from '../components/diff.js'
import { useFirst } from './parts.js'
import { ShowMore } from './show-more.js'

/** An event that would be recorded. */
export type PlannedEvent = { type: string; stream: string; version: number; data: Value }

const shownMax = 200

/** The planned events of a dry run, in their order. */
export const PlannedEvents = ({ events }: { events: readonly PlannedEvent[] }) => {
  const { here, more } = useFirst(events, shownMax)
  return (
    <>
      <ol class="planned">
        {here.map(({ type, stream, version, data }, i) => (
          <li key={i} class="card">
            <strong>{wordsOf(type)}</strong>
            <p class="quiet">
              version {version} of <code>{stream}</code>
            </p>
            <Diff operations={[{ op: 'add', path: '', value: data }]} />
          </li>
        ))}
      </ol>
      <ShowMore here={here.length} {...more} />
    </>
  )
}

type PlanButtonsProps = { name: string; isSending: boolean; carryOut: (() => Promise<unknown>) | undefined; leave: () => void }

/** The buttons of a plan: to carry it out, once it is there, or to leave it. */
export const PlanButtons = ({ name, isSending, carryOut, leave }: PlanButtonsProps) => (
  <div class="row">
    {carryOut && (
      <button type="button" class="primary" disabled={isSending} onClick={() => void carryOut()}>
        {name}
      </button>
    )}
    <button type="button" disabled={isSending} onClick={leave}>
      Leave it
    </button>
  </div>
)
