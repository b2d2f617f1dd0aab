import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { isNumeric, shortText, shown } from '../../../components/value.js'
import { WholeValue, type Opened } from '../../../components/whole-value.js'
import type { Value } from '../../../api/sql.js'
import { drawnRange } from '../../../lists/drawn-rows.js'
import type { RowStore } from './rows.js'

const rowHeight = 28
/** Browsers cannot scroll further than some millions of pixels. Beyond that height, each pixel stands for several. */
const heightMax = 8_000_000
const spare = 6
const widthLeast = 56
const widthMost = 360
/** The approximate width of a character, in pixels. */
const characterWidth = 7.6

type Sort = { by: number | undefined; descending: boolean }

type Props = { store: RowStore; version: number; sort: Sort; onSort: (by: number) => void; label: string }

const widthsOf = (store: RowStore): number[] =>
  store.columns.map(({ name, type }, i) => {
    let longest = Math.max(name.length + 3, type.length)
    for (let at = 0; at < Math.min(60, store.length); at++) longest = Math.max(longest, shortText(store.row(at)?.[i]).length)
    return Math.round(Math.min(widthMost, Math.max(widthLeast, longest * characterWidth + 20)))
  })

/** The rows by which a turn of the wheel moves. */
const rowsOfWheel = ({ deltaMode, deltaY }: WheelEvent, inSight: number): number =>
  deltaMode === WheelEvent.DOM_DELTA_PIXEL ? deltaY / rowHeight : deltaMode === WheelEvent.DOM_DELTA_LINE ? deltaY : deltaY * inSight

/** The index of the header row, above the first row. */
const headRow = -1

/**
 * The rows of an answer. Only visible rows are in the page. Arrow keys move between the cells. Enter on a column name sorts, and Enter or a
 * double click on a cell shows its whole value.
 */
export const Grid = ({ store, version, sort, onSort, label }: Props) => {
  const view = useRef<HTMLDivElement>(null)
  const top = useSignal(0)
  const height = useSignal(400)
  const cell = useSignal<{ row: number; column: number }>({ row: 0, column: 0 })
  const opened = useSignal<Opened | undefined>(undefined)
  const widths = useSignal<number[]>([])
  const known = useRef<RowStore | undefined>(undefined)
  const unturned = useRef(0)

  if (known.current !== store && (store.length > 0 || version > 0)) {
    known.current = store
    widths.value = widthsOf(store)
  }
  useLayoutEffect(() => {
    const element = view.current
    if (!element) return
    const watch = new ResizeObserver(() => (height.value = element.clientHeight))
    watch.observe(element)
    return () => watch.disconnect()
  }, [])
  // This happens before the rows are seen: later, it would take back the first steps of the reader.
  useLayoutEffect(() => {
    // After sorting by keys the focus stays on the name, so that the same key reverses the order.
    const { row, column } = cell.peek()
    const isSorting = row === headRow && column < store.columns.length
    cell.value = isSorting ? { row, column } : { row: 0, column: 0 }
    view.current?.scrollTo(isSorting ? view.current.scrollLeft : 0, 0)
    top.value = 0
  }, [store, sort.by, sort.descending])

  const rows = store.length
  const fullHeight = rows * rowHeight
  const scrollHeight = Math.min(fullHeight, heightMax)
  const inSight = Math.max(1, Math.floor((height.value - rowHeight) / rowHeight))
  const furthest = Math.max(1, scrollHeight + rowHeight - height.value)
  const isScaled = fullHeight > scrollHeight
  const first = isScaled ? Math.round((top.value / furthest) * Math.max(0, rows - inSight)) : Math.floor(top.value / rowHeight)
  const { from, to } = drawnRange({ first, inSight, rows, before: isScaled ? 0 : spare, after: spare })
  const offset = isScaled ? top.value : from * rowHeight
  const total = widths.value.reduce((sum, width) => sum + width, 0) + numberWidth(rows)

  /** Moves by rows, where a pixel of the height stands for several. Parts of a pixel are kept for the next turn. */
  const turn = (event: WheelEvent) => {
    const { currentTarget: element, deltaX, deltaY, ctrlKey, shiftKey } = event
    if (!isScaled || ctrlKey || shiftKey || Math.abs(deltaX) > Math.abs(deltaY) || !(element instanceof HTMLElement)) return
    const isAtEnd = deltaY < 0 ? element.scrollTop <= 0 : element.scrollTop >= furthest - 1
    if (isAtEnd) return
    event.preventDefault()
    const pixels = unturned.current + (rowsOfWheel(event, inSight) * furthest) / Math.max(1, rows - inSight)
    unturned.current = pixels - Math.trunc(pixels)
    element.scrollTop += Math.trunc(pixels)
  }
  const show = (row: number) => {
    const element = view.current
    if (!element || row === headRow) return
    if (isScaled) {
      if (row < first || row >= first + inSight)
        element.scrollTop = (Math.max(0, row - inSight / 2) / Math.max(1, rows - inSight)) * furthest
    } else if (row < first) element.scrollTop = row * rowHeight
    else if (row >= first + inSight) element.scrollTop = (row - inSight + 1) * rowHeight
  }
  const showColumn = (column: number) => {
    const element = view.current
    if (!element) return
    const left = numberWidth(rows) + widths.value.slice(0, column).reduce((sum, width) => sum + width, 0)
    const right = left + (widths.value[column] ?? 0)
    if (left < element.scrollLeft) element.scrollLeft = column === 0 ? 0 : left
    else if (right > element.scrollLeft + element.clientWidth) element.scrollLeft = right - element.clientWidth
  }
  const open = () => {
    const { row, column } = cell.value
    const value = store.row(row)?.[column]
    if (value !== undefined) opened.value = { name: `${store.columns[column]?.name ?? ''}, row ${row + 1}`, value }
  }
  const move = (event: KeyboardEvent) => {
    const { row, column } = cell.value
    const last = store.columns.length - 1
    if (row === headRow && (event.key === 'Enter' || event.key === ' ')) {
      event.preventDefault()
      onSort(column)
      return
    }
    if (event.key === 'Enter') {
      event.preventDefault()
      open()
      return
    }
    const next = {
      ArrowDown: { row: row + 1, column },
      ArrowUp: { row: row - 1, column },
      ArrowRight: { row, column: column + 1 },
      ArrowLeft: { row, column: column - 1 },
      PageDown: { row: row + inSight, column },
      PageUp: { row: Math.max(0, row - inSight), column },
      Home: { row: event.ctrlKey ? 0 : row, column: 0 },
      End: { row: event.ctrlKey ? rows - 1 : row, column: last },
    }[event.key]
    if (!next) return
    event.preventDefault()
    cell.value = { row: Math.max(headRow, Math.min(rows - 1, next.row)), column: Math.max(0, Math.min(last, next.column)) }
    show(cell.value.row)
    showColumn(cell.value.column)
  }
  const copy = (event: ClipboardEvent) => {
    if ((getSelection()?.toString() ?? '') !== '') return
    const { row, column } = cell.value
    const value = row === headRow ? store.columns[column]?.name : store.row(row)?.[column]
    event.clipboardData?.setData('text/plain', shown(value))
    event.preventDefault()
  }
  const columns = `${numberWidth(rows)}px ${widths.value.map((width) => `${width}px`).join(' ')}`
  const chosen = `cell-${cell.value.row}-${cell.value.column}`
  return (
    <>
      <div
        ref={view}
        class="grid"
        role="grid"
        aria-label={label}
        aria-rowcount={rows + 1}
        aria-colcount={store.columns.length}
        aria-activedescendant={cell.value.row === headRow || (cell.value.row >= from && cell.value.row < to) ? chosen : undefined}
        tabIndex={0}
        onWheel={turn}
        onScroll={({ currentTarget }) => (top.value = currentTarget.scrollTop)}
        onKeyDown={move}
        onCopy={copy}
      >
        <div class="grid-head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: columns, width: `${total}px` }}>
          <span class="number" role="presentation" />
          {store.columns.map(({ name, type }, i) => (
            <span
              key={i}
              id={`cell-${headRow}-${i}`}
              role="columnheader"
              aria-selected={cell.value.row === headRow && cell.value.column === i}
              aria-colindex={i + 1}
              aria-sort={sort.by === i ? (sort.descending ? 'descending' : 'ascending') : 'none'}
              class={isNumeric(type) ? 'right' : ''}
            >
              <button type="button" tabIndex={-1} onClick={() => onSort(i)} title={`${name}: ${type}. Sort by it`}>
                {name}
                <small>{sort.by === i ? (sort.descending ? ' ▼' : ' ▲') : ''}</small>
              </button>
            </span>
          ))}
        </div>
        <div class="grid-body" role="presentation" style={{ height: `${scrollHeight}px`, width: `${total}px` }}>
          <div class="grid-rows" role="presentation" style={{ transform: `translateY(${offset}px)` }}>
            {Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i).map((at) => {
              const row = store.row(at)
              return (
                <div key={at} class="grid-row" role="row" aria-rowindex={at + 2} style={{ gridTemplateColumns: columns }}>
                  <span class="number" role="rowheader">
                    {at + 1}
                  </span>
                  {store.columns.map(({ type }, i) => {
                    const value = row?.[i]
                    const isChosen = cell.value.row === at && cell.value.column === i
                    return (
                      <span
                        key={i}
                        id={`cell-${at}-${i}`}
                        role="gridcell"
                        aria-colindex={i + 1}
                        aria-selected={isChosen}
                        class={value === null ? 'null' : isNumeric(type) ? 'right' : ''}
                        title={isCutOff(value, widths.value[i]) ? 'Enter or a double click shows all of it' : undefined}
                        onMouseDown={() => (cell.value = { row: at, column: i })}
                        onDblClick={open}
                      >
                        {value === null ? 'NULL' : shortText(value)}
                      </span>
                    )
                  })}
                </div>
              )
            })}
          </div>
        </div>
      </div>
      {opened.value && <WholeValue opened={opened.value} close={() => (opened.value = undefined)} />}
    </>
  )
}

/** Whether the text of a cell is about as long as its column is wide, or longer. */
const isCutOff = (value: Value | undefined, width = 0): boolean => shortText(value).length * characterWidth + 16 > width

const numberWidth = (rows: number): number => Math.max(36, String(rows).length * characterWidth + 18)
