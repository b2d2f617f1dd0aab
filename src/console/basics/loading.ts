import { useComputed, useSignal, type ReadonlySignal, type Signal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext, useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { isReachable, lookNow, pauseMs, rest, setAway, untilReachable } from '../api/away.js'
import { ApiError, brokenOffError, isBrokenOff, untilLoggedIn } from '../api/request.js'
import { isVisible } from './visible.js'

/** The state of a page's request: loading, loaded or refused. Old data stays during a new request, and the frame says so. */
export type LoadState<T> = { value: T | undefined; error: ApiError | undefined; isLoading: boolean }

/**
 * The number of parts of a page that still show the data of earlier inputs, such as those of another moment. The frame says that the page
 * loads; what is outside of the page counts for nothing.
 */
export const Outdated = createContext<Signal<number> | undefined>(undefined)

/** Counts a part of the page as long as it shows the data of earlier inputs, before the browser draws it. */
const useOutdated = (isOutdated: boolean): void => {
  const outdated = useContext(Outdated)
  useLayoutEffect(() => {
    if (!outdated || !isOutdated) return undefined
    outdated.value = outdated.peek() + 1
    return () => {
      outdated.value = outdated.peek() - 1
    }
  }, [isOutdated])
}

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

/** Whether a request may succeed later: the service is away, is busy, is starting, or waits for its tables, or a gateway waited in vain. */
const isPassing = ({ status, isOfNetwork }: ApiError): boolean => isOfNetwork || status === 503 || status === 504

/** The number of failures in a row during which a page keeps its data, and after which it asks by itself only a service that says 503. */
const triesMax = 5

/**
 * Loads data when a component is shown, and again whenever one of `inputs` changes, or some time after a busy service refused it. While the
 * service is away or starting, the old data stays, and the frame of the page says so. Outdated requests are aborted.
 *
 * @example const { loaded, reload } = useLoaded((signal) => json<Project[]>('projects', { signal }), [at])
 */
export const useLoaded = <T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
): { loaded: ReadonlySignal<LoadState<T>>; reload: () => void } => {
  const state = useSignal<LoadState<T>>({ value: undefined, error: undefined, isLoading: true })
  const tries = useSignal(0)
  const failures = useRef(0)
  const loadedFor = useRef<readonly unknown[]>(undefined)
  const isLoadedFor = (): boolean => inputs.every((input, i) => input === loadedFor.current?.[i])
  useOutdated(state.value.value !== undefined && !isLoadedFor())
  // This happens before the page is seen: what depends on `isLoading` must not take a click for the inputs before.
  useLayoutEffect(() => {
    const aborting = new AbortController()
    const { signal } = aborting
    const isOver = () => signal.aborted
    if (!state.peek().isLoading) state.value = { ...state.peek(), isLoading: true }
    load(signal).then(
      (value) => {
        if (isOver()) return
        failures.current = 0
        loadedFor.current = inputs
        state.value = { value, error: undefined, isLoading: false }
      },
      async (error: unknown) => {
        if (isOver()) return
        const refused = asApiError(error)
        failures.current += 1
        const isAway = refused.isOfNetwork && !isReachable.peek()
        const isPast = failures.current > triesMax
        // Behind the login, and while the service is away or starts, a page keeps its data, but not in the place of other data.
        if (refused.status === 401) await untilLoggedIn(signal)
        else {
          const isSame = isLoadedFor() && state.peek().value !== undefined
          if (!isPassing(refused) || isPast || !(isSame || (isAway && failures.current === 1)))
            state.value = { value: undefined, error: refused, isLoading: false }
          if (!isPassing(refused) || (isPast && refused.status !== 503)) return
          if (!isAway || failures.current > 1) await rest(pauseMs(failures.current), signal)
          if (isAway) await untilReachable(signal)
        }
        if (!isOver()) tries.value += 1
      },
    )
    return () => aborting.abort()
  }, [...inputs, tries.value])
  return { loaded: useComputed(() => state.value), reload: () => (tries.value += 1) }
}

/**
 * Sends something that the user asked for, once at a time: a second click or a second Enter during a request sends nothing.
 *
 * @returns `error` is the refusal of the last request, until the next one begins or `forget` is called
 * @example const { send, isSending, error } = useSending(); const remove = () => send(async () => go((await json<Moved>(path)).place))
 */
export const useSending = (): {
  send: (act: () => Promise<unknown>) => Promise<void>
  isSending: boolean
  error: ApiError | undefined
  forget: () => void
} => {
  const error = useSignal<ApiError | undefined>(undefined)
  const isSending = useSignal(false)
  const send = async (act: () => Promise<unknown>) => {
    if (isSending.peek()) return
    isSending.value = true
    error.value = undefined
    try {
      await act()
    } catch (refused) {
      error.value = asApiError(refused)
    } finally {
      isSending.value = false
    }
  }
  return { send, isSending: isSending.value, error: error.value, forget: () => (error.value = undefined) }
}

/** Loads again some time after the last data arrived, however long that request took; never if there is no time, or in a hidden window. */
export const useRepeated = <T>(loaded: ReadonlySignal<LoadState<T>>, reload: () => void, everyMs: number | undefined): void => {
  const { isLoading } = loaded.value
  const isShown = isVisible.value
  useEffect(() => {
    if (isLoading || everyMs === undefined || !isShown) return undefined
    const timer = setTimeout(reload, everyMs)
    return () => clearTimeout(timer)
  }, [isLoading, everyMs, isShown])
}

/**
 * Loads the page again if the service is there. Otherwise the browser would show its own error in place of the page, and nothing of it
 * would be left; the frame then says that the service is away.
 */
export const reopen = async (): Promise<void> => {
  const found = await lookNow()
  if (found === 'there') location.reload()
  else if (found === 'away') setAway()
}

/**
 * Tells whether a component is still shown: an answer that comes later must not lead the user away from another page.
 *
 * @example const isShown = useIsShown(); await json(path, { method: 'DELETE' }); if (isShown()) go('/')
 */
export const useIsShown = (): (() => boolean) => {
  const isShown = useRef(true)
  // Another kind of effect would end with the next frame only, and an answer may come before it.
  useLayoutEffect(() => () => void (isShown.current = false), [])
  return () => isShown.current
}
