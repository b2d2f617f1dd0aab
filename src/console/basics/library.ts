import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ApiError } from '../api/request.js'
import { asApiError, reopen, useLoaded } from './loading.js'

const unloaded = (): ApiError =>
  new ApiError({
    status: 0,
    detail: 'the code that draws this picture could not be loaded',
    hint: 'Try it again when the service can be reached. Some browsers then load the whole page again.',
  })

type Drawing<T> = {
  /** Undefined until it is loaded. */
  library: T | undefined
  /** Why there is no picture. */
  refused: ApiError | undefined
  /** Tries again what was refused. */
  again: () => void
  /** Carries out a step of drawing, and keeps why it failed. */
  attempt: (draw: () => void) => void
}

/**
 * The library of a picture. It is loaded with the first picture; what it cannot load or draw is told in the picture's place.
 *
 * @param inputs what the picture shows: a failure to draw belongs to the old ones
 * @example const { library, refused, again, attempt } = useLibrary(() => import('@observablehq/plot'), [rows])
 */
export const useLibrary = <T>(load: () => Promise<T>, inputs: readonly unknown[]): Drawing<T> => {
  const { loaded, reload } = useLoaded(
    () =>
      load().catch(() => {
        throw unloaded()
      }),
    [],
  )
  const failure = useSignal<ApiError | undefined>(undefined)
  const forget = () => {
    failure.value = undefined
  }
  useEffect(forget, inputs)
  const { value: library, error } = loaded.value
  // Some browsers keep the failure of a file until the page is loaded again.
  const loadAgain = () => void load().then(reload, reopen)
  const attempt = (draw: () => void) => {
    try {
      draw()
    } catch (refused) {
      failure.value = asApiError(refused)
    }
  }
  return { library, refused: error ?? failure.value, again: error ? loadAgain : forget, attempt }
}
