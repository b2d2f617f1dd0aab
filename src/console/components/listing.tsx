import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { countText } from './value.js'

/** A column of a list: its title, and its content for a row. The first column names the row. */
export type ListColumn<T> = {
  title: string
  of: (row: T) => ComponentChildren
  /** Aligns numbers to the right. */
  isRight?: boolean
  /** Cuts a long text at the end of its cell. */
  isClipped?: boolean
  /** Whether the content is a fault. */
  isBad?: (row: T) => boolean
}

type Props<T> = {
  label: string
  columns: readonly ListColumn<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string | number
  /** Makes the list as wide as its contents, not as its container. */
  isNarrow?: boolean
}

/** The number of rows that are added at once: a page with many thousands is slow. */
const pageRows = 500

const classOf = (...names: (string | false | undefined)[]): string | undefined => names.filter(Boolean).join(' ') || undefined

/**
 * A list with one row per item, accessible by keyboard and screen reader. A long list begins with its first rows.
 *
 * @example <Listing label="Models" columns={[{ title: 'Name', of: ({ name }) => name }]} rows={models} keyOf={({ name }) => name} />
 */
export const Listing = <T,>({ label, columns, rows, keyOf, isNarrow = false }: Props<T>) => {
  const most = useSignal(pageRows)
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label={label}>
        <table class={classOf('list', isNarrow && 'measured')}>
          <thead>
            <tr>
              {columns.map(({ title, isRight }) => (
                <th key={title} scope="col" class={classOf(isRight && 'right')}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, most.value).map((row) => (
              <tr key={keyOf(row)}>
                {columns.map(({ title, of, isRight, isClipped, isBad }, i) => {
                  const look = classOf(isRight && 'right', isClipped && 'clipped', isBad?.(row) && 'bad')
                  return i === 0 ? (
                    <th key={title} scope="row" class={look}>
                      {of(row)}
                    </th>
                  ) : (
                    <td key={title} class={look}>
                      {of(row)}
                    </td>
                  )
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > most.value && (
        <p class="tools" role="status">
          <span class="quiet">
            The first {countText(most.value)} of {countText(rows.length)} are here.
          </span>
          <button type="button" onClick={() => (most.value += pageRows)}>
            Show more
          </button>
        </p>
      )}
    </>
  )
}
