import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { ApiError, json } from '../api/request.js'
import { select, type Value } from '../api/sql.js'
import { useLoaded } from '../basics/loading.js'
import { Icon } from '../components/icon.js'
import { headAt } from '../basics/head.js'
import { changeQuery, momentShown } from '../basics/place.js'
import { wordsOf } from '../basics/words.js'

type LogHead = { head: number }
type EventTime = { type: string; recorded_at: string }

type Mark = { position: number; recorded_at: string } & Record<string, Value>

/** Positions at equal distances along the slider. */
const marksOf = (head: number): number[] => [...new Set([0, 1, 2, 3].map((third) => Math.max(1, Math.round((head * third) / 3))))]

/** Shows days if the log covers several days, else times of day. */
const textOf = (marks: readonly Mark[], { recorded_at }: Mark): string => {
  const isOneDay = marks.every((mark) => mark.recorded_at.slice(0, 10) === marks[0]?.recorded_at.slice(0, 10))
  return isOneDay ? recorded_at.slice(11, 16) : recorded_at.slice(0, 10)
}

/** When the positions along the slider were recorded. */
const Marks = ({ head }: { head: number }) => {
  const { loaded } = useLoaded(
    (signal) =>
      select<Mark>({
        query: 'SELECT position, recorded_at FROM log.events WHERE list_contains(:marks::BIGINT[], position) ORDER BY position',
        params: { marks: marksOf(head) },
        signal,
      }),
    [head],
  )
  const marks = loaded.value.value ?? []
  return (
    <div class="marks" aria-hidden="true">
      {marks.map((mark) => (
        <span key={mark.position}>{textOf(marks, mark)}</span>
      ))}
    </div>
  )
}

/** The position of a moment; undefined for one that does not exist, as the page below says. */
const positionAt = async (at: string, signal: AbortSignal): Promise<number | undefined> => {
  if (/^\d+$/.test(at)) return Number(at)
  return headAt(at, signal).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 200) return undefined
    throw error
  })
}

type Show = (moment: string | undefined, change?: { replace: boolean }) => void

/**
 * A slider over all positions of the log. It describes the events at a position before the whole console goes back to it. Keys show each
 * position on their way: together they are one step of the browser's history.
 */
const Slider = ({ at, show }: { at: string | undefined; show: Show }) => {
  const chosen = useSignal<number | undefined>(undefined)
  /** The moment that the slider showed last, until the next slide begins. */
  const slid = useRef<{ moment: string | undefined } | undefined>(undefined)
  const begin = () => (slid.current = undefined)
  const slide = (moment: string | undefined) => {
    show(moment, { replace: slid.current !== undefined && slid.current.moment === momentShown() })
    slid.current = { moment }
  }
  // A step back in the browser's history moves the slider, too. In the next frame it would take back a slide that began before.
  useLayoutEffect(() => {
    if (slid.current?.moment !== at) chosen.value = undefined
  }, [at])
  const { loaded } = useLoaded(
    async (signal) => {
      const [{ head }, then] = await Promise.all([
        json<LogHead>('events?order=desc&limit=1', { signal }),
        at === undefined ? undefined : positionAt(at, signal),
      ])
      return { head, then }
    },
    [at],
  )
  const { head = 0, then } = loaded.value.value ?? {}
  const position = chosen.value ?? then
  const { loaded: found } = useLoaded(
    async (signal) => (position === undefined ? undefined : json<EventTime>(`events/${position}`, { signal })),
    [position],
  )
  const event = found.value.value
  if (head === 0) return null
  return (
    <div class="time">
      <label>
        Position {(position ?? head).toLocaleString('en')} of {head.toLocaleString('en')}
        <input
          type="range"
          min={1}
          max={head}
          value={position ?? head}
          onInput={({ currentTarget }) => (chosen.value = Number(currentTarget.value))}
          onChange={({ currentTarget }) => slide(Number(currentTarget.value) === head ? undefined : currentTarget.value)}
          onPointerDown={begin}
          onBlur={begin}
        />
      </label>
      <Marks head={head} />
      <p class="quiet" aria-live="polite">
        {event && position !== undefined ? `${wordsOf(event.type)}, ${event.recorded_at.slice(0, 19).replace('T', ' ')}` : 'Now'}
      </p>
    </div>
  )
}

/** Shows the position or time of the shown data, and lets the user choose another one. */
export const Moment = () => {
  const at = momentShown()
  const isOpen = useSignal(false)
  const show: Show = (moment, change = { replace: false }) => changeQuery({ at: moment }, change)
  const choose = (event: SubmitEvent) => {
    event.preventDefault()
    const said = new FormData(event.currentTarget as HTMLFormElement).get('at')
    isOpen.value = false
    show(typeof said === 'string' && said.trim() !== '' ? said.trim() : undefined)
  }
  return (
    <div class="moment" onKeyDown={({ key }) => key === 'Escape' && (isOpen.value = false)}>
      <button
        type="button"
        class={at === undefined ? 'plain' : 'past'}
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        <Icon name="clock" />
        <span>{at === undefined ? 'Now' : `As of ${at}`}</span>
      </button>
      {isOpen.value && (
        <form class="popover" onSubmit={choose}>
          <Slider at={at} show={show} />
          <label>
            A position of the log, or a time in UTC
            <input key={at} name="at" defaultValue={at ?? ''} placeholder="1042, or 2026-01-31 12:00:00" />
          </label>
          <div class="row">
            <button type="submit" class="primary">
              Show
            </button>
            <button
              type="button"
              onClick={() => {
                isOpen.value = false
                show(undefined)
              }}
            >
              Now
            </button>
          </div>
        </form>
      )}
    </div>
  )
}
