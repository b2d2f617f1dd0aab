import { useSignal } from '@preact/signals'
import type { ApiError } from '../../api/request.js'
import { asApiError, useLoaded } from '../../basics/loading.js'
import { Refusal } from '../../parts/notice.js'
import { countText } from '../../parts/value.js'
import { loadNewest, loadUntil, type Changes, type ChangesOf } from './changes.js'

/** The changes that a page has so far, and how it gets earlier ones. */
type KnownChanges = {
  value: Changes | undefined
  error: ApiError | undefined
  reload: () => void
  earlier: { load: () => void; isLoading: boolean; error: ApiError | undefined }
}

/**
 * The newest changes of a resource, and those before them as they are asked for.
 *
 * @param isWanted false loads nothing
 * @example const { value, earlier } = useChanges({ info, path, at })
 */
export const useChanges = (of: ChangesOf, isWanted = true): KnownChanges => {
  const { loaded, reload } = useLoaded(async (signal) => (isWanted ? loadNewest(of, signal) : undefined), [of.path, of.at, isWanted])
  const { value: newest, error } = loaded.value
  /** What is known with earlier changes; `of` are the newest ones that it belongs to. */
  const joined = useSignal<{ of: Changes; all: Changes } | undefined>(undefined)
  const isLoading = useSignal(false)
  const refused = useSignal<ApiError | undefined>(undefined)
  const value = joined.value && joined.value.of === newest ? joined.value.all : newest
  const load = async () => {
    if (!newest || !value || isLoading.peek()) return
    isLoading.value = true
    refused.value = undefined
    try {
      const { changes, from } = await loadUntil(of, value.from)
      joined.value = { of: newest, all: { ...value, changes: [...changes, ...value.changes], from } }
    } catch (failed) {
      refused.value = asApiError(failed)
    } finally {
      isLoading.value = false
    }
  }
  return { value, error, reload, earlier: { load: () => void load(), isLoading: isLoading.value, error: refused.value } }
}

/** Which changes are not there yet, and the control that loads them. Nothing where all are there. */
export const Earlier = ({ value, earlier }: Pick<KnownChanges, 'value' | 'earlier'>) =>
  value && value.from > 0 ? (
    <>
      {earlier.error && <Refusal error={earlier.error} />}
      <p class="tools" role="status">
        <span class="quiet">
          The last {countText(value.version - value.from)} of {countText(value.version)} changes are here.
        </span>
        <button type="button" disabled={earlier.isLoading} onClick={earlier.load}>
          Earlier changes
        </button>
      </p>
    </>
  ) : null
