import { computed, useSignal, type ReadonlySignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { pauseMs, rest, untilIs, untilReachable } from '../../api/away.js'
import { json, request, untilLoggedIn, type ApiError } from '../../api/request.js'
import { serverEvents } from '../../api/server-events.js'
import { ofStream, SilenceTimer } from '../../api/silence-timer.js'
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

/** The time for which events are collected before they are shown: each time the whole list is drawn. */
const collectMs = 100

/** Collects values for a moment, and passes them on together. @param keptMax of more values only the last ones are passed on */
const collecting = <T>(keptMax: number, pass: (values: T[]) => void): { add: (value: T) => void; end: () => void } => {
  let values: T[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = () => {
    timer = undefined
    pass(values)
    values = []
  }
  return {
    add: (value) => {
      values.push(value)
      if (values.length > 2 * keptMax) values = values.slice(-keptMax)
      timer ??= setTimeout(flush, collectMs)
    },
    end: () => clearTimeout(timer),
  }
}

type Following = {
  /** The filter, as the API expects it. */
  search: string
  /** The position that the events come after; undefined opens no stream. */
  after: number | undefined
  isPaused: ReadonlySignal<boolean>
  /** The most events that the page keeps. */
  keptMax: number
  /** Gets events that have arrived, the oldest first. */
  take: (events: LogEvent[]) => void
  /** Loads the newest events instead: so many came during a rest that none of those before would be kept. */
  loadNewest: () => void
}

/**
 * Returns the events after a position, as they are recorded. While they are paused, or the window is hidden, no stream is open; afterwards
 * it goes on from the same place, unless too many events came meanwhile.
 *
 * @example const live = useLiveEvents({ search: 'kind=skill', after: 120, isPaused, keptMax: 1_000, take: show, loadNewest: reload })
 */
export const useLiveEvents = ({ search, after, isPaused, keptMax, take, loadNewest }: Following): LiveState => {
  const state = useSignal<LiveState>({ is: 'away' })
  useEffect(() => {
    if (after === undefined) return undefined
    const aborting = new AbortController()
    const { signal } = aborting
    const isOver = () => signal.aborted
    const isWanted = computed(() => isVisible.value && !isPaused.value)
    let last = String(after)
    let mayBeBehind = false
    const collected = collecting(keptMax, take)
    /** Whether more events came since the last one than the page keeps. @throws as a request */
    const isFarBehind = async () => (await json<{ head: number }>('events?limit=1', { signal })).head - Number(last) > keptMax
    /** Reads one stream to its end. @throws when it is refused, or breaks off */
    const read = async () => {
      if (mayBeBehind && (await isFarBehind())) {
        loadNewest()
        return
      }
      mayBeBehind = true
      const silence = new SilenceTimer(ofStream)
      const wanted = whileTrue(isWanted)
      try {
        const response = await request(`events/stream?${new URLSearchParams([...new URLSearchParams(search), ['after', last]])}`, {
          headers: { Accept: 'text/event-stream' },
          signal: AbortSignal.any([signal, wanted.signal]),
          silence,
        })
        state.value = { is: 'live' }
        for await (const { id, data } of serverEvents(response)) {
          if (isOver() || wanted.signal.aborted) return
          silence.heard()
          if (data !== '') collected.add(JSON.parse(data) as LogEvent)
          if (id !== undefined) last = id
        }
      } finally {
        silence.end()
        wanted.end()
      }
    }
    const follow = async () => {
      let failures = 0
      while (!isOver()) {
        mayBeBehind ||= !isWanted.peek()
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
      collected.end()
      state.value = { is: 'away' }
    }
  }, [search, after])
  return state.value
}
