import { useComputed, useSignal, type ReadonlySignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { ApiError, brokenOffError, isBrokenOff, untilLoggedIn } from '../api/request.js'

/** The state of a page's request: loading, loaded or refused. Old data stays during a new request. */
export type LoadState<T> = { value: T | undefined; error: ApiError | undefined; isLoading: boolean }

/** Errors that no code throws on purpose. */
const mistakes = [TypeError, RangeError, ReferenceError, SyntaxError]

/** The error as the user sees it: only a mistake in the console's code is shown as its fault, a network failure never is. */
export const asApiError = (error: unknown): ApiError => {
  if (error instanceof ApiError) return error
  if (isBrokenOff(error)) return brokenOffError()
  const isMistake = mistakes.some((kind) => error instanceof kind)
  const detail = error instanceof Error ? error.message : String(error)
  return new ApiError({ status: 0, detail, hint: isMistake ? 'This is a fault of the console.' : undefined })
}

/** The pause before data is loaded again that a busy service refused. */
const againMs = 3_000

/** Whether the service refused for a moment only: it is busy, is starting, or waits for its tables. */
const isPassing = ({ status }: ApiError): boolean => status === 503

/**
 * Loads data when a component is shown, and again whenever one of `inputs` changes, or some time after a busy service refused it. Outdated
 * requests are aborted.
 *
 * @example const { loaded, reload } = useLoaded((signal) => json<Project[]>('projects', { signal }), [at])
 */
export const useLoaded = <T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
): { loaded: ReadonlySignal<LoadState<T>>; reload: () => void } => {
  const state = useSignal<LoadState<T>>({ value: undefined, error: undefined, isLoading: true })
  const tries = useSignal(0)
  useEffect(() => {
    const aborting = new AbortController()
    let again: ReturnType<typeof setTimeout> | undefined
    state.value = { ...state.peek(), isLoading: true }
    load(aborting.signal).then(
      (value) => {
        if (!aborting.signal.aborted) state.value = { value, error: undefined, isLoading: false }
      },
      async (error: unknown) => {
        const refused = asApiError(error)
        // A page behind the login keeps its data, and loads it again after the login.
        if (refused.status === 401) await untilLoggedIn(aborting.signal)
        if (aborting.signal.aborted) return
        if (refused.status === 401) tries.value += 1
        else state.value = { value: undefined, error: refused, isLoading: false }
        if (isPassing(refused)) again = setTimeout(() => (tries.value += 1), againMs)
      },
    )
    return () => {
      aborting.abort()
      clearTimeout(again)
    }
  }, [...inputs, tries.value])
  return { loaded: useComputed(() => state.value), reload: () => (tries.value += 1) }
}

/** Loads again some time after the last data arrived, however long that request took; never if there is no time. */
export const useRepeated = <T>(loaded: ReadonlySignal<LoadState<T>>, reload: () => void, everyMs: number | undefined): void => {
  const { isLoading } = loaded.value
  useEffect(() => {
    if (isLoading || everyMs === undefined) return undefined
    const timer = setTimeout(reload, everyMs)
    return () => clearTimeout(timer)
  }, [isLoading, everyMs])
}

/**
 * Tells whether a component is still shown: an answer that comes later must not lead the user away from another page.
 *
 * @example const isShown = useIsShown(); await json(path, { method: 'DELETE' }); if (isShown()) go('/')
 */
export const useIsShown = (): (() => boolean) => {
  const isShown = useRef(true)
  useEffect(() => () => void (isShown.current = false), [])
  return () => isShown.current
}
