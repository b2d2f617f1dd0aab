import { computed, useSignal, type ReadonlySignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { pauseMs, rest, untilIs, untilReachable } from '../../api/away.js'
import { request, untilLoggedIn, type ApiError } from '../../api/request.js'
import { serverEvents } from '../../api/server-events.js'
import { ofStream, Vigil } from '../../api/vigil.js'
import { asApiError } from '../../basics/loading.js'
import { isVisible } from '../../basics/visible.js'
import type { LogEvent } from './log-event.js'

/**
 * Whether new events arrive as they are recorded. A stream that ended is opened again by itself, unless the service refuses it permanently.
 */
export type LiveState = { is: 'live' | 'away' } | { is: 'refused'; error: ApiError }

/** Aborts when a state is false. */
const whileTrue = (state: ReadonlySignal<boolean>): { signal: AbortSignal; end: () => void } => {
  const aborting = new AbortController()
  return { signal: aborting.signal, end: state.subscribe((is) => !is && aborting.abort()) }
}

/**
 * Returns the events after a position, as they are recorded. While they are paused, or the window is hidden, no stream is open; afterwards
 * it goes on from the same place.
 *
 * @param search the filter, as the API expects it
 * @param after undefined opens no stream
 * @example const live = useLiveEvents('kind=skill', 120, isPaused, (event) => show(event))
 */
export const useLiveEvents = (
  search: string,
  after: number | undefined,
  isPaused: ReadonlySignal<boolean>,
  take: (event: LogEvent) => void,
): LiveState => {
  const state = useSignal<LiveState>({ is: 'away' })
  useEffect(() => {
    if (after === undefined) return undefined
    const aborting = new AbortController()
    const { signal } = aborting
    const isOver = () => signal.aborted
    const isWanted = computed(() => isVisible.value && !isPaused.value)
    let last = String(after)
    /** Reads one stream to its end. @throws when it is refused, or breaks off */
    const read = async () => {
      const vigil = new Vigil(ofStream)
      const wanted = whileTrue(isWanted)
      try {
        const response = await request(`events/stream?${new URLSearchParams([...new URLSearchParams(search), ['after', last]])}`, {
          headers: { Accept: 'text/event-stream' },
          signal: AbortSignal.any([signal, wanted.signal]),
          vigil,
        })
        state.value = { is: 'live' }
        for await (const { id, data } of serverEvents(response)) {
          if (isOver() || wanted.signal.aborted) return
          vigil.heard()
          if (data !== '') take(JSON.parse(data) as LogEvent)
          if (id !== undefined) last = id
        }
      } finally {
        vigil.end()
        wanted.end()
      }
    }
    const follow = async () => {
      let failures = 0
      while (!isOver()) {
        await untilIs(isWanted, true, signal)
        if (isOver()) return
        const refused = await read().then(() => undefined, asApiError)
        if (isOver()) return
        if (!isWanted.peek()) {
          state.value = { is: 'away' }
          continue
        }
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
