import type { Value } from '../api/sql.js'
import { countText, isNumeric, shortText } from '../components/value.js'
import { useFirst } from './parts.js'
import { ShowMore } from './show-more.js'

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
  const { here, more } = useFirst(rows, shownMax)
  const told = `${countText(here.length)} of ${isCut ? 'more than ' : ''}${countText(rows.length)} rows are shown.`
  const isNumber = columns.map((_, i) => isNumeric(types?.[i] ?? '') || rows.some((row) => typeof row[i] === 'number'))
  return (
    <>
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
            {here.map((row, i) => (
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
      </div>
      {isCut && rows.length <= shownMax ? (
        <p class="quiet">{told}</p>
      ) : (
        <ShowMore here={here.length} {...more} said={told} ended={isCut ? told : undefined} />
      )}
    </>
  )
}
