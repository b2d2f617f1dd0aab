import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { pauseMs, rest, untilReachable } from '../../api/away.js'
import { request, untilLoggedIn, type ApiError } from '../../api/request.js'
import { serverEvents } from '../../api/server-events.js'
import { asApiError } from '../../basics/loading.js'
import type { LogEvent } from './log-event.js'

/** A stream without an event or a heartbeat for this time is dead. The service sends a heartbeat every 15 seconds. */
const silentMaxMs = 60_000

/**
 * Whether new events arrive as they are recorded. A stream that ended is opened again by itself, unless the service refuses it permanently.
 */
export type LiveState = { is: 'live' | 'away' } | { is: 'refused'; error: ApiError }

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
    const aborting = new AbortController()
    const { signal } = aborting
    const isOver = () => signal.aborted
    let last = String(after)
    /** Reads one stream to its end. @throws when it is refused, or breaks off */
    const read = async () => {
      const silence = new AbortController()
      let timer: ReturnType<typeof setTimeout> | undefined
      const heard = () => {
        clearTimeout(timer)
        timer = setTimeout(() => silence.abort(), silentMaxMs)
      }
      heard()
      try {
        const response = await request(`events/stream?${new URLSearchParams([...new URLSearchParams(search), ['after', last]])}`, {
          headers: { Accept: 'text/event-stream' },
          signal: AbortSignal.any([signal, silence.signal]),
        })
        state.value = { is: 'live' }
        for await (const { id, data } of serverEvents(response)) {
          if (isOver()) return
          heard()
          if (data !== '') take(JSON.parse(data) as LogEvent)
          if (id !== undefined) last = id
        }
      } finally {
        clearTimeout(timer)
      }
    }
    const follow = async () => {
      let failures = 0
      while (!isOver()) {
        const refused = await read().then(() => undefined, asApiError)
        if (isOver()) return
        if (refused?.status === 401) {
          await untilLoggedIn(signal)
          continue
        }
        // If the service is starting or busy, the stream is tried again.
        if (refused && refused.status >= 400 && refused.status < 500 && refused.status !== 429) {
          state.value = { is: 'refused', error: refused }
          return
        }
        failures = state.peek().is === 'live' ? 0 : failures + 1
        state.value = { is: 'away' }
        await rest(pauseMs(failures), signal)
        await untilReachable(signal)
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
