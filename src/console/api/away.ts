import { signal, type ReadonlySignal } from '@preact/signals'
import { apiUrl } from './url.js'

const firstPauseMs = 1_000
const longestPauseMs = 15_000
/** The time that the service has to say that it is there. */
const answerMaxMs = 10_000

/** The pause before the next try, in ms: it doubles with each failure. @example pauseMs(2) // 4000 */
export const pauseMs = (failures: number): number => Math.min(longestPauseMs, firstPauseMs * 2 ** failures)

/** Resolves after a time in ms, or when the signal is aborted. */
export const rest = (ms: number, aborted: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const stop = () => {
      clearTimeout(timer)
      aborted.removeEventListener('abort', stop)
      resolve()
    }
    const timer = setTimeout(stop, ms)
    if (aborted.aborted) stop()
    else aborted.addEventListener('abort', stop)
  })

/** Resolves when a state is the wanted one, or when the signal is aborted. */
export const untilIs = async (state: ReadonlySignal<boolean>, wanted: boolean, aborted: AbortSignal): Promise<void> => {
  const over = new AbortController()
  let end = (): void => undefined
  await new Promise<void>((resolve) => {
    end = state.subscribe((is) => is === wanted && resolve())
    aborted.addEventListener('abort', () => resolve(), { signal: over.signal })
    if (aborted.aborted) resolve()
  })
  over.abort()
  end()
}

/** Whether the last request reached the service. */
export const isReachable = signal(true)

/** Resolves when the service can be reached, or when the signal is aborted. */
export const untilReachable = (aborted: AbortSignal): Promise<void> => untilIs(isReachable, true, aborted)

/** Whether a proxy answers in place of the service, whose own refusals are JSON. */
export const isFromProxy = ({ status, headers }: Response): boolean => status >= 500 && !/json/.test(headers.get('content-type') ?? '')

const isThere = (): Promise<boolean> =>
  fetch(apiUrl('health'), { cache: 'no-store', signal: AbortSignal.timeout(answerMaxMs) }).then(
    (response) => !isFromProxy(response),
    () => false,
  )

let looking: Promise<boolean> | undefined

/** Whether the service answers now. Requests that ask at the same time share one look, because a browser has few connections. */
export const isThereNow = (): Promise<boolean> => (looking ??= isThere().finally(() => (looking = undefined)))

let isLooking = false

/** Looks for the service with growing pauses until it answers. A network that is back is tried at once. */
const look = async (): Promise<void> => {
  isLooking = true
  for (let failures = 0; !isReachable.peek(); failures++) {
    const online = new AbortController()
    const stop = () => online.abort()
    addEventListener('online', stop)
    await rest(pauseMs(failures), online.signal)
    removeEventListener('online', stop)
    if (await isThere()) isReachable.value = true
  }
  isLooking = false
}

/** Says that the service cannot be reached, until it answers again. */
export const setAway = (): void => {
  isReachable.value = false
  if (!isLooking) void look()
}
