import { ApiError } from '../../api/request.js'
import { select, type Value } from '../../api/sql.js'
import { useLoaded } from '../../basics/loading.js'
import { hrefOf, momentShown } from '../../basics/place.js'
import { Busy, Refusal } from '../../components/notice.js'
import { Plotted } from '../../components/plot.js'
import { timeOf } from '../../basics/time.js'
import { shown } from '../../components/value.js'
import { firstForecasts, forecastQuery, lastKnown, seriesColumns, seriesCount, seriesMax } from './asked-in-sql.js'
import type { ModelName, ModelRecord, Report } from './reports.js'
import { loadTrainingRows, RowsOfNow, type TrainingRows } from './training-rows.js'

type Rows = readonly Record<string, Value>[]

/** The last known values, the rows of the training that have them, and why these could not be read. */
type Past = { known: Rows; training: TrainingRows | undefined; unread: ApiError | undefined }

/** The last known values of the series that are forecast. @throws ApiError when the service cannot be reached */
const loadPast = async (training: TrainingRows, query: string, signal: AbortSignal): Promise<Past> => {
  try {
    const known = await select<Record<string, Value>>({ query, at: training.at, readsOnly: true, signal })
    return { known, training, unread: undefined }
  } catch (error) {
    // The training data may be gone, but the model still forecasts.
    if (error instanceof ApiError && error.status === 200) return { known: [], training, unread: error }
    throw error
  }
}

/** A date in the form that the chart needs; whole numbers stay. */
const moment = (value: Value | undefined): Date | number => (typeof value === 'number' ? value : timeOf(shown(value)))

/** The forecasts after the last known values, with their bounds. Each series has a chart. */
export const Forecast = ({ of, record, report: { plan, data } }: { of: ModelName; record: ModelRecord; report: Report }) => {
  const at = momentShown()
  const { order, keys } = seriesColumns(plan)
  const target = record.predict
  const query = firstForecasts(of, record, plan)
  const { loaded, reload } = useLoaded(
    async (signal) => {
      const coming = await select<Record<string, Value>>({ query, at, signal })
      const training = await loadTrainingRows(of, record, data, at, signal)
      if (!training) return { known: [], training, unread: undefined, coming }
      return { ...(await loadPast(training, lastKnown(record, training.rows, plan, coming), signal)), coming }
    },
    [query, at],
  )
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  const seriesOf = (row: Record<string, Value>): string => keys.map((key) => shown(row[key])).join(', ')
  const known = value.known.map((row) => ({ series: seriesOf(row), when: moment(row[order]), y: Number(row[target]) }))
  const named = value.coming.map((row) => ({
    series: seriesOf(row),
    when: moment(row[order]),
    y: Number(row[target]),
    least: Number(row[`${target}_min`]),
    greatest: Number(row[`${target}_max`]),
  }))
  const drawn = [...new Set(named.map(({ series }) => series))]
  const all = Number(value.coming[0]?.[seriesCount] ?? drawn.length)
  return (
    <>
      <p>
        <a class="button" href={hrefOf('/query', { sql: forecastQuery(of, record, plan) })}>
          Query it
        </a>
      </p>
      {drawn.map((series) => {
        const rows = named.filter((row) => row.series === series)
        // Values that were added after the training are not shown as its past.
        const first = rows[0]?.when ?? Infinity
        const before = known.filter((row) => row.series === series && row.when < first)
        const coming = [...before.slice(-1).map((row) => ({ ...row, least: row.y, greatest: row.y })), ...rows]
        return (
          <figure key={series}>
            {series !== '' && <figcaption>{series}</figcaption>}
            <Plotted
              label={`${target}, known and to come${series === '' ? '' : ` of ${series}`}`}
              inputs={[rows.length, before.length, at]}
              draw={(plot, width) =>
                plot.plot({
                  ...{ width, height: 260, className: 'plot', grid: true },
                  x: { label: order },
                  y: { label: target },
                  marks: [
                    plot.lineY(before, { x: 'when', y: 'y', stroke: 'var(--quiet)', strokeWidth: 1.5 }),
                    plot.areaY(coming, { x: 'when', y1: 'least', y2: 'greatest', fill: 'var(--accent)', fillOpacity: 0.18 }),
                    plot.lineY(coming, { x: 'when', y: 'y', stroke: 'var(--accent)', strokeWidth: 2 }),
                  ],
                })
              }
            />
          </figure>
        )
      })}
      {value.unread ? (
        <p class="quiet">The known values are not drawn, because the rows of the training cannot be read: {value.unread.message}</p>
      ) : (
        <RowsOfNow training={value.training} />
      )}
      {all > seriesMax && (
        <p class="quiet">
          The first {seriesMax} of {all} series. The query shows all.
        </p>
      )}
    </>
  )
}
