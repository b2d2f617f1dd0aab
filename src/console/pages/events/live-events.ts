import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { apiUrl, isReachable, loginNeeded, refusalOf, untilLoggedIn, type ApiError } from '../../api/request.js'
import { serverEvents } from '../../api/server-events.js'
import type { LogEvent } from './log-event.js'

/** The waits before a stream that ended is opened again, in ms: longer after each failure. */
const firstWaitMs = 1_000
const longestWaitMs = 15_000

/**
 * Whether new events arrive as they are recorded. A stream that ended is opened again by itself, unless the service refuses it permanently.
 */
export type LiveState = { is: 'live' | 'away' } | { is: 'refused'; error: ApiError }

/** Resolves after a time in ms, or when the signal is aborted. */
const rest = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const stop = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      resolve()
    }
    const timer = setTimeout(stop, ms)
    signal.addEventListener('abort', stop)
  })

/**
 * Returns the events after a position, as they are recorded.
 *
 * @param search the filter, as the API expects it
 * @param after undefined opens no stream
 * @example const live = useLiveEvents('kind=skill', 120, (event) => show(event))
 */
export const useLiveEvents = (search: string, after: number | undefined, take: (event: LogEvent) => void): LiveState => {
  const state = useSignal<LiveState>({ is: 'away' })
  useEffect(() => {
    if (after === undefined) return undefined
    const url = apiUrl('events/stream')
    url.search = search
    url.searchParams.set('after', String(after))
    const aborting = new AbortController()
    const { signal } = aborting
    const isOver = () => signal.aborted
    const follow = async () => {
      let last = String(after)
      let wait = firstWaitMs
      while (!isOver()) {
        try {
          const response = await fetch(url, { headers: { Accept: 'text/event-stream', 'Last-Event-ID': last }, signal })
          isReachable.value = true
          if (response.status === 401) {
            loginNeeded.value = true
            await untilLoggedIn(signal)
            continue
          }
          // If the service is starting or busy, the stream is tried again.
          if (response.status >= 400 && response.status < 500 && response.status !== 429) {
            state.value = { is: 'refused', error: await refusalOf(response) }
            return
          }
          if (!response.ok || !response.body) throw new Error(`the service answered ${response.status}`)
          wait = firstWaitMs
          state.value = { is: 'live' }
          for await (const { id, data } of serverEvents(response)) {
            if (isOver()) return
            if (data !== '') take(JSON.parse(data) as LogEvent)
            if (id !== undefined) last = id
          }
        } catch {
          // The loop tries again.
        }
        if (isOver()) return
        state.value = { is: 'away' }
        await rest(wait, signal)
        wait = Math.min(longestWaitMs, 2 * wait)
      }
    }
    void follow()
    return () => {
      aborting.abort()
      state.value = { is: 'away' }
    }
  }, [search, after])
  return state.value
}
