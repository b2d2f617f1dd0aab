import { useSignal } from '@preact/signals'
import type { ApiError } from '../../api/request.js'
import { useLoaded, useSending } from '../../basics/loading.js'
import { countText } from '../../components/value.js'
import { ShowMore } from '../../lists/show-more.js'
import { loadNewest, loadUntil, type Changes, type ChangesOf } from './changes.js'

/** The loaded changes of a page, and a function that loads earlier ones. */
type KnownChanges = {
  value: Changes | undefined
  error: ApiError | undefined
  reload: () => void
  earlier: { load: () => void; isLoading: boolean; error: ApiError | undefined }
}

/**
 * The newest changes of a resource, and earlier ones on demand.
 *
 * @param isWanted if false, nothing is loaded
 * @example const { value, earlier } = useChanges({ info, path, at })
 */
export const useChanges = (of: ChangesOf, isWanted = true): KnownChanges => {
  const { loaded, reload } = useLoaded(async (signal) => (isWanted ? loadNewest(of, signal) : undefined), [of.path, of.at, isWanted])
  const { value: newest, error } = loaded.value
  /** The changes including earlier ones; `of` are the newest changes that they precede. */
  const joined = useSignal<{ of: Changes; all: Changes } | undefined>(undefined)
  const { send, isSending: isLoading, error: refused } = useSending()
  const value = joined.value && joined.value.of === newest ? joined.value.all : newest
  const load = () =>
    send(async () => {
      if (!newest || !value) return
      const { changes, ...beginning } = await loadUntil(of, value.from)
      joined.value = { of: newest, all: { ...beginning, changes: [...changes, ...value.changes], version: value.version } }
    })
  return { value, error, reload, earlier: { load: () => void load(), isLoading, error: refused } }
}

/** Says which changes are not loaded yet, with a button that loads them. Nothing if all are loaded. */
export const Earlier = ({ value, earlier }: Pick<KnownChanges, 'value' | 'earlier'>) => {
  if (!value) return null
  const here = value.version - value.from
  return (
    <ShowMore
      {...earlier}
      here={here}
      all={value.version}
      said={`The last ${countText(here)} of ${countText(value.version)} changes are here.`}
      name="Earlier changes"
    />
  )
}
