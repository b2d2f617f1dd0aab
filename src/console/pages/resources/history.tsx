import { useSignal } from '@preact/signals'
import { json, type ApiError } from '../../api/request.js'
import { asApiError } from '../../basics/loading.js'
import { hrefOf, momentShown } from '../../basics/place.js'
import { Diff } from '../../components/diff.js'
import { Busy, Refusal } from '../../components/notice.js'
import { PlannedEvents, type PlannedEvent } from '../../components/planned-events.js'
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

const RollBack = ({ path, version, newest, done }: RollBackProps) => {
  const isSending = useSignal(false)
  const preview = useSignal<PlannedEvent[] | undefined>(undefined)
  const error = useSignal<ApiError | undefined>(undefined)
  const send = async (dryRun: boolean) => {
    error.value = undefined
    isSending.value = true
    try {
      const answer = await json<{ events: PlannedEvent[]; name: string }>(`${path}/rollback`, {
        method: 'POST',
        body: { version },
        headers: { 'If-Match': `"${newest}"`, ...(dryRun && { Prefer: 'dry-run' }) },
      })
      preview.value = dryRun ? answer.events : undefined
      if (!dryRun) done(answer.name)
    } catch (refused) {
      error.value = asApiError(refused)
    } finally {
      isSending.value = false
    }
  }
  return (
    <div>
      {error.value && <Refusal error={error.value} />}
      {preview.value ? (
        <div class="preview">
          <p>It would be as it was in version {version}. This would be recorded:</p>
          <PlannedEvents events={preview.value} />
          <div class="row">
            <button type="button" class="primary" disabled={isSending.value} onClick={() => void send(false)}>
              Go back to version {version}
            </button>
            <button type="button" disabled={isSending.value} onClick={() => (preview.value = undefined)}>
              Leave it
            </button>
          </div>
        </div>
      ) : (
        <button type="button" class="plain" disabled={isSending.value} onClick={() => void send(true)}>
          Go back to this…
        </button>
      )}
    </div>
  )
}

/** The changes of a resource, the newest first: who changed what, and when. */
export const History = ({ info, path, changed }: { info: KindInfo; path: string; changed: (name: string) => boolean }) => {
  const at = momentShown()
  const { value, error, reload, earlier } = useChanges({ info, path, at })
  const goneBack = (name: string) => {
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
