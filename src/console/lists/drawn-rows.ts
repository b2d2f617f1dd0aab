import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** Some rows one after another: the first one, and the one after the last. */
export type RowRange = { from: number; to: number }

type Sight = {
  /** The first row in sight, and how many are. */
  first: number
  inSight: number
  /** The number of all rows. */
  rows: number
  /** The rows that are drawn before and after those in sight. */
  before: number
  after: number
}

/** The rows to draw. @example drawnRange({ first: 100, inSight: 20, rows: 5_000, before: 6, after: 6 }) // { from: 94, to: 126 } */
export const drawnRange = ({ first, inSight, rows, before, after }: Sight): RowRange => ({
  from: Math.max(0, first - before),
  to: Math.min(rows, first + inSight + after),
})

/** Ranges in order; those that touch are one. @example joinedRanges([{ from: 4, to: 6 }, { from: 0, to: 4 }]) // [{ from: 0, to: 6 }] */
export const joinedRanges = (ranges: readonly RowRange[]): RowRange[] => {
  const joined: RowRange[] = []
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else if (from < to) joined.push({ from, to })
  }
  return joined
}

/** The rows around those in sight of a list. */
const spare = 40
/** The place of the rows in sight is counted in such steps: not every move of the reader draws the list. */
const step = 10
/** The rows at both ends, and on both sides of the focus: keys go on to them, wherever the reader has scrolled. */
const near = 3
/** The height of a row before one was measured. */
const usualHeight = 37

type DrawnRows = {
  /** The ref of the part of the table that has the rows; those of gaps have the class `gap`. */
  body: RefObject<HTMLTableSectionElement | null>
  /** The rows to draw, if the list is long. */
  ranges: () => RowRange[]
  rowHeight: () => number
  /** Notes the row that has the focus. */
  focus: (row: number) => void
}

/**
 * The rows of a table that are in the page: those in sight, in whatever scrolls around them, those at the ends, and those around the focus.
 *
 * @param rows the number of all rows
 * @example const { body, ranges } = useDrawnRows(rows.length)
 */
export const useDrawnRows = (rows: number): DrawnRows => {
  const body = useRef<HTMLTableSectionElement>(null)
  const seen = useSignal<{ first: number; inSight: number }>({ first: 0, inSight: spare })
  const height = useSignal(usualHeight)
  const focused = useSignal<number | undefined>(undefined)
  useLayoutEffect(() => {
    const element = body.current
    if (!element) return undefined
    // The first row may have another border above it.
    const [one, other = one] = element.querySelectorAll('tr:not(.gap)')
    const row = other?.getBoundingClientRect().height ?? 0
    if (row > 0) height.value = row
    const look = () => {
      const { top } = element.getBoundingClientRect()
      const [begin, end] = [-top, innerHeight - top].map((pixels) => pixels / height.peek() / step)
      const first = Math.max(0, Math.floor(begin ?? 0) * step)
      const inSight = Math.max(0, Math.ceil(end ?? 0) * step - first)
      if (first !== seen.peek().first || inSight !== seen.peek().inSight) seen.value = { first, inSight }
    }
    look()
    const watching = new AbortController()
    // Scrolling is told to the element that scrolls alone, which may be any one around the list.
    addEventListener('scroll', look, { capture: true, passive: true, signal: watching.signal })
    addEventListener('resize', look, { signal: watching.signal })
    return () => watching.abort()
  }, [rows])
  const ranges = () => {
    const around = focused.value
    return joinedRanges([
      drawnRange({ ...seen.value, rows, before: spare, after: spare }),
      { from: 0, to: Math.min(near, rows) },
      { from: Math.max(0, rows - near), to: rows },
      ...(around === undefined ? [] : [drawnRange({ first: Math.min(around, rows - 1), inSight: 1, rows, before: near, after: near })]),
    ])
  }
  return { body, ranges, rowHeight: () => height.value, focus: (row) => (focused.value = row) }
}
