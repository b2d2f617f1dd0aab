import { useSignal } from '@preact/signals'
import { json } from '../../api/request.js'
import { useFocusWhen } from '../../basics/focus.js'
import { useIsShown, useLoaded, useSending } from '../../basics/loading.js'
import { changeQuery, hrefOf, momentShown, place } from '../../basics/place.js'
import { Diff } from '../../components/diff.js'
import { Busy, Refusal } from '../../components/notice.js'
import { PlanButtons, PlannedEvents, type PlannedEvent } from '../../lists/planned-events.js'
import type { KindInfo } from '../../basics/kinds.js'
import { wordsOf } from '../../basics/words.js'
import { Earlier, useChanges } from './loaded-changes.js'

/** Kinds that have no rollback. The active version of a model is chosen on its card. */
const cannotRollBack: ReadonlySet<string> = new Set(['project', 'model'])

type RollBackProps = {
  path: string
  version: number
  /** The version of now: another change in between is a conflict. */
  newest: number
  done: (name: string) => void
}

/** The events of going back to a version, before they are recorded. The plan takes the focus if the user asked for it here. */
const RollBackPlan = ({ path, version, newest, done, isAsked, leave }: RollBackProps & { isAsked: boolean; leave: () => void }) => {
  const rollBack = (isDryRun: boolean) =>
    json<{ events: PlannedEvent[]; name: string }>(`${path}/rollback`, {
      method: 'POST',
      body: { version },
      headers: { 'If-Match': `"${newest}"`, ...(isDryRun && { Prefer: 'dry-run' }) },
      isReading: isDryRun,
    })
  const { loaded, reload } = useLoaded(() => rollBack(true), [path, version, newest])
  const { send, isSending, error: refused } = useSending()
  const { value: plan, error } = loaded.value
  const goBack = () => send(async () => done((await rollBack(false)).name))
  const group = useFocusWhen<HTMLDivElement>(plan !== undefined && isAsked)
  if (!plan)
    return (
      <div>
        {error ? <Refusal error={error} again={reload} /> : <Busy />}
        <button type="button" onClick={leave}>
          Leave it
        </button>
      </div>
    )
  return (
    <div>
      {refused && <Refusal error={refused} />}
      <div ref={group} class="preview" role="group" tabIndex={-1} aria-label={`Version ${version}`}>
        <p>It would be as it was in version {version}. This would be recorded:</p>
        <PlannedEvents events={plan.events} />
        <PlanButtons name={`Go back to version ${version}`} isSending={isSending} carryOut={goBack} leave={leave} />
      </div>
    </div>
  )
}

/** The way back to a version. The address says which one is looked at. */
const RollBack = (props: RollBackProps) => {
  const isShown = place.value.query.get('back') === String(props.version)
  /** What the user did here last. */
  const last = useSignal<'asked' | 'left' | undefined>(undefined)
  const button = useFocusWhen<HTMLButtonElement>(!isShown && last.value === 'left')
  const show = (back: string | undefined) => {
    last.value = back === undefined ? 'left' : 'asked'
    changeQuery({ back })
  }
  if (isShown) return <RollBackPlan {...props} isAsked={last.value === 'asked'} leave={() => show(undefined)} />
  return (
    <div>
      <button ref={button} type="button" class="plain" onClick={() => show(String(props.version))}>
        Go back to this…
      </button>
    </div>
  )
}

/** The changes of a resource, the newest first: who changed what, and when. */
export const History = ({ info, path, changed }: { info: KindInfo; path: string; changed: (name: string) => boolean }) => {
  const at = momentShown()
  const { value, error, reload, earlier } = useChanges({ info, path, at })
  const isShown = useIsShown()
  const goneBack = (name: string) => {
    if (isShown()) changeQuery({ back: undefined })
    if (changed(name)) reload()
  }
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  return (
    <>
      <ol class="history" reversed>
        {value.changes.toReversed().map(({ position, version, type, recorded_at, actor, source, diff }) => (
          <li key={position}>
            <div class="when">
              <strong>{wordsOf(type)}</strong> by {actor} over {source}
              <br />
              <span class="quiet">
                <time dateTime={recorded_at}>{recorded_at.slice(0, 19).replace('T', ' ')} UTC</time> ·{' '}
                <a href={hrefOf('/events', { position: String(position) })}>event {position}</a> · version {version}
              </span>
            </div>
            <Diff operations={diff} />
            {at === undefined && version < value.version && !cannotRollBack.has(info.kind) && (
              <RollBack path={path} version={version} newest={value.version} done={goneBack} />
            )}
          </li>
        ))}
      </ol>
      <Earlier value={value} earlier={earlier} />
    </>
  )
}
