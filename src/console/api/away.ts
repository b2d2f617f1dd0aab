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

/** The connections that a browser has to one address over HTTP/1.1. Further requests wait until one of them is free. */
const connectionsMax = 6

/** The requests that are watched now: each may hold a connection. */
const watched = new Set<object>()
/** The time at which a part of an answer came last, in ms. */
let heardAt = -Infinity

/** Counts a request while it is watched. */
export const noteWatched = (request: object, is: boolean): void => {
  if (is) watched.add(request)
  else watched.delete(request)
}

/** Says that a part of an answer came from the service. */
export const noteHeard = (): void => {
  heardAt = performance.now()
}

const areAllTaken = (): boolean => watched.size >= connectionsMax

/** What a look for the service finds. It is `unsure` without an answer in time if the look itself may have waited for a connection. */
type Found = 'there' | 'away' | 'unsure'

const look = async (): Promise<Found> => {
  const from = performance.now()
  const wereAllTaken = areAllTaken()
  try {
    const response = await fetch(apiUrl('health'), { cache: 'no-store', signal: AbortSignal.timeout(answerMaxMs) })
    return isFromProxy(response) ? 'away' : 'there'
  } catch (error) {
    if (!(error instanceof DOMException) || error.name !== 'TimeoutError') return 'away'
    // What came on another connection meanwhile came from the service.
    if (heardAt > from) return 'there'
    return wereAllTaken || areAllTaken() ? 'unsure' : 'away'
  }
}

let looking: Promise<Found> | undefined

/** Looks whether the service answers now. Requests that ask at the same time share one look, because a browser has few connections. */
export const lookNow = (): Promise<Found> => (looking ??= look().finally(() => (looking = undefined)))

let isLooking = false

/** Looks for the service with growing pauses until it answers. A network that is back is tried at once. */
const lookUntilThere = async (): Promise<void> => {
  isLooking = true
  for (let failures = 0; !isReachable.peek(); failures++) {
    const online = new AbortController()
    const stop = () => online.abort()
    addEventListener('online', stop)
    await rest(pauseMs(failures), online.signal)
    removeEventListener('online', stop)
    if ((await look()) === 'there') isReachable.value = true
  }
  isLooking = false
}

/** Says that the service cannot be reached, until it answers again. */
export const setAway = (): void => {
  isReachable.value = false
  if (!isLooking) void lookUntilThere()
}
