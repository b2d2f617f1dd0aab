import type { ComponentChildren } from 'preact'
import type { Column } from '../api/sql.js'
import { countText, figure, shown } from './value.js'
import type { ColumnSummary } from './summary.js'

const Bars = ({ bars, label }: { bars: readonly number[]; label: string }) => {
  const most = Math.max(...bars)
  return (
    <svg class="bars" viewBox={`0 0 ${bars.length * 5} 32`} preserveAspectRatio="none" role="img" aria-label={label}>
      {bars.map((count, i) => {
        const height = most === 0 ? 0 : Math.max(count > 0 ? 1 : 0, (count / most) * 32)
        return <rect key={i} x={i * 5} y={32 - height} width="4" height={height} />
      })}
    </svg>
  )
}

/** The least or greatest number; a number with too many digits for a JavaScript number is a text. */
const bound = (value: string | number | null): string => (typeof value === 'string' ? value : figure(value))

type Props = {
  summaries: readonly ColumnSummary[]
  rows: number
  /** The actions for a column. */
  action?: (column: Column) => ComponentChildren
}

/** A summary of each column: the number of values, the most frequent values, and their distribution. */
export const Columns = ({ summaries, rows, action }: Props) => (
  <ul class="columns">
    {summaries.map(({ column, nulls, distinct, isDistinctMore, least, greatest, mean, top, bars }) => (
      <li key={column.name} class="card">
        <h2>
          {column.name} <small class="quiet">{column.type}</small>
        </h2>
        {bars && <Bars bars={bars} label={`Values of ${column.name} from ${shown(least)} to ${shown(greatest)}`} />}
        <p class="quiet">
          {countText(distinct)}
          {isDistinctMore ? ' or more' : ''} distinct · {rows === 0 ? 0 : ((100 * nulls) / rows).toFixed(nulls === 0 ? 0 : 1)} % NULL
        </p>
        {mean !== undefined ? (
          <p>
            {bound(least)} to {bound(greatest)}, mean {figure(mean)}
          </p>
        ) : (
          <>
            {least !== null && (
              <p>
                {shown(least)} to {shown(greatest)}
              </p>
            )}
            {isDistinctMore && top.length === 0 && <p class="quiet">No value is frequent.</p>}
            <ol class="frequent">
              {top.map(([value, count], i) => (
                <li key={i}>
                  <span class="clipped">{value}</span>{' '}
                  <span class="quiet">
                    {isDistinctMore ? 'at least ' : ''}
                    {countText(count)}
                  </span>
                </li>
              ))}
            </ol>
          </>
        )}
        {action?.(column)}
      </li>
    ))}
  </ul>
)
