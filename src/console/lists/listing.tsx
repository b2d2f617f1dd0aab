/** Room: lists, and how they come part by part. It imports only console/api, console/basics and console/components. */

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useDrawnRows } from './drawn-rows.js'
import { useFirst, type More } from './parts.js'
import { ShowMore } from './show-more.js'

/** A column of a list: its title, and its content for a row. */
export type ListColumn<T> = {
  title: string
  /** Leaves the title to screen readers. */
  isTitleHidden?: boolean
  of: (row: T) => ComponentChildren
  /** Aligns numbers to the right. */
  isRight?: boolean
  /** Cuts a long text at the end of its cell. */
  isClipped?: boolean
  /** Whether the content is a fault. */
  isBad?: (row: T) => boolean
  /** Whether it names the row; by default the first column does. */
  isName?: boolean
}

type Props<T> = {
  label: string
  columns: readonly ListColumn<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string | number
  /** Makes the list as wide as its contents, not as its container. */
  isNarrow?: boolean
  /** What leads to further rows; without it the rows are all that there are, and a long list begins with its first ones. */
  more?: More
}

/** The most rows that are all in the page. Of a longer list only the rows in sight are. */
const wholeMax = 2_000

const classOf = (...names: (string | false | undefined)[]): string | undefined => names.filter(Boolean).join(' ') || undefined

/**
 * A list with one row per item, accessible by keyboard and screen reader. Further rows come when the reader asks for them.
 *
 * @example <Listing label="Models" columns={[{ title: 'Name', of: ({ name }) => name }]} rows={models} keyOf={({ name }) => name} />
 */
export const Listing = <T,>({ label, columns, rows, keyOf, isNarrow = false, more }: Props<T>) => {
  const head = useRef<HTMLTableRowElement>(null)
  const first = useFirst(rows)
  const { here, more: further } = more ? { here: rows, more } : first
  const { body, ranges, rowHeight, focus } = useDrawnRows(here.length)
  /** The widths of the columns: with other rows in sight they stay. */
  const widths = useSignal<readonly number[]>([])
  const isLong = here.length > wholeMax
  const fixed = isLong ? widths.value : []
  const isFixed = fixed.length > 0
  useLayoutEffect(() => {
    if (isLong && widths.peek().length > 0) return
    widths.value = Array.from(head.current?.cells ?? [], (cell) => cell.getBoundingClientRect().width)
  }, [here.length, isLong, isFixed])
  useLayoutEffect(() => {
    const measureAgain = () => (widths.value = [])
    addEventListener('resize', measureAgain)
    return () => removeEventListener('resize', measureAgain)
  }, [])
  const row = (item: T, at: number) => (
    <tr key={keyOf(item)} aria-rowindex={isLong ? at + 2 : undefined} onFocusIn={() => focus(at)}>
      {columns.map(({ title, of, isRight, isClipped, isBad, isName }, i) => {
        const look = classOf(isRight && 'right', isClipped && 'clipped', isBad?.(item) && 'bad')
        return (isName ?? i === 0) ? (
          <th key={title} scope="row" class={look}>
            {of(item)}
          </th>
        ) : (
          <td key={title} class={look}>
            {of(item)}
          </td>
        )
      })}
    </tr>
  )
  /** The space of rows that are not drawn. No gap takes the place of another one: a row that is moved loses the focus. */
  const gap = (from: number, to: number) =>
    from < to && (
      <tr key={`gap\n${to}`} class="gap" aria-hidden="true">
        <td colSpan={columns.length} style={{ height: `${(to - from) * rowHeight()}px` }} />
      </tr>
    )
  const drawn = isLong ? ranges() : [{ from: 0, to: here.length }]
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label={label}>
        <table
          class={classOf('list', isNarrow && 'measured', isFixed && 'fixed')}
          style={isFixed && isNarrow ? { width: `${fixed.reduce((sum, width) => sum + width, 0)}px` } : undefined}
          aria-rowcount={isLong ? further.all + 1 : undefined}
        >
          <thead>
            <tr ref={head} aria-rowindex={isLong ? 1 : undefined}>
              {columns.map(({ title, isTitleHidden, isRight }, i) => (
                <th
                  key={title}
                  scope="col"
                  class={classOf(isRight && 'right')}
                  style={isFixed ? { width: `${fixed[i] ?? 0}px` } : undefined}
                >
                  {isTitleHidden ? <span class="hidden">{title}</span> : title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody ref={body}>
            {drawn.flatMap(({ from, to }, i) => [
              gap(drawn[i - 1]?.to ?? 0, from),
              ...here.slice(from, to).map((item, n) => row(item, from + n)),
            ])}
          </tbody>
        </table>
      </div>
      <ShowMore here={here.length} {...further} />
    </>
  )
}
