import type { Value } from '../api/sql.js'
import { countText, isNumeric, shortText } from './value.js'

const shownMax = 50
/** The most characters of a value. A reader can select and copy what is too wide for its column. */
const valueMax = 5_000

/** The first rows of a small table. @example <Rows label="Rows of the query" columns={['n']} rows={[[3]]} /> */
export const Rows = ({
  label,
  columns,
  types,
  rows,
  isCut = false,
}: {
  label: string
  columns: readonly string[]
  /** The types of the columns, if they are known: a number with many digits is a text. */
  types?: readonly string[]
  rows: readonly Value[][]
  isCut?: boolean
}) => {
  const isNumber = columns.map((_, i) => isNumeric(types?.[i] ?? '') || rows.some((row) => typeof row[i] === 'number'))
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="list">
        <thead>
          <tr>
            {columns.map((name, i) => (
              <th key={i} scope="col" class={isNumber[i] ? 'right' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, shownMax).map((row, i) => (
            <tr key={i}>
              {row.map((value, j) => (
                <td key={j} class={isNumber[j] ? 'right' : 'clipped'}>
                  {value === null ? <span class="null">NULL</span> : shortText(value, valueMax)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {(rows.length > shownMax || isCut) && (
        <p class="quiet">
          {countText(Math.min(shownMax, rows.length))} of {isCut ? 'more than ' : ''}
          {countText(rows.length)} rows are shown.
        </p>
      )}
    </div>
  )
}
