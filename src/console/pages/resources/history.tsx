import { useSignal } from '@preact/signals'
import { json, type ApiError } from '../../api/request.js'
import { asApiError } from '../../basics/loading.js'
import { hrefOf, momentShown } from '../../basics/place.js'
import { Diff } from '../../parts/diff.js'
import { Busy, Refusal } from '../../parts/notice.js'
import { PlannedEvents, type PlannedEvent } from '../../parts/planned-events.js'
import type { KindInfo } from '../../basics/kinds.js'
import { wordsOf } from '../../basics/words.js'
import { Earlier, useChanges } from './loaded-changes.js'

/** Kinds that have no rollback. The active version of a model is chosen on its card. */
const cannotRollBack: ReadonlySet<string> = new Set(['project', 'model'])

const RollBack = ({ path, version, done }: { path: string; version: number; done: () => void }) => {
  const preview = useSignal<PlannedEvent[] | undefined>(undefined)
  const error = useSignal<ApiError | undefined>(undefined)
  const send = async (dryRun: boolean) => {
    error.value = undefined
    try {
      const answer = await json<{ events: PlannedEvent[] }>(`${path}/rollback`, {
        method: 'POST',
        body: { version },
        headers: dryRun ? { Prefer: 'dry-run' } : {},
      })
      if (dryRun) preview.value = answer.events
      else done()
    } catch (refused) {
      error.value = asApiError(refused)
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
            <button type="button" class="primary" onClick={() => void send(false)}>
              Go back to version {version}
            </button>
            <button type="button" onClick={() => (preview.value = undefined)}>
              Leave it
            </button>
          </div>
        </div>
      ) : (
        <button type="button" class="plain" onClick={() => void send(true)}>
          Go back to this…
        </button>
      )}
    </div>
  )
}

/** The changes of a resource, the newest first: who changed what, and when. */
export const History = ({ info, path, changed }: { info: KindInfo; path: string; changed: () => void }) => {
  const at = momentShown()
  const { value, error, reload, earlier } = useChanges({ info, path, at })
  const goneBack = () => {
    reload()
    changed()
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
              <RollBack path={path} version={version} done={goneBack} />
            )}
          </li>
        ))}
      </ol>
      <Earlier value={value} earlier={earlier} />
    </>
  )
}
