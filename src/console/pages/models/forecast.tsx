import { quoted, select, type Value } from '../../api/sql.js'
import { useLoaded } from '../../basics/loading.js'
import { hrefOf, momentShown } from '../../basics/place.js'
import { Busy, Refusal } from '../../parts/notice.js'
import { Plotted } from '../../parts/plot.js'
import { shown } from '../../parts/value.js'
import type { ModelName, ModelRecord, Report } from './reports.js'

const stepsMax = 2_000
const seriesMax = 12

/** A date as the picture needs it; whole numbers stay. */
const moment = (value: Value | undefined): Date | number => (typeof value === 'number' ? value : new Date(shown(value).replace(' ', 'T')))

/** What is to come, with the range that it is expected in. Each series has a picture. */
export const Forecast = ({ of, record, plan }: { of: ModelName; record: ModelRecord; plan: Report['plan'] }) => {
  const at = momentShown()
  const options = JSON.parse(plan.find(({ name }) => name === 'options')?.value ?? '{}') as {
    order_by?: string
    group_by?: string[] | string
  }
  const order = options.order_by ?? ''
  const keys = [options.group_by ?? []].flat()
  const target = record.predict
  const columns = [order, ...keys].map(quoted).join(', ')
  const query = `SELECT ${columns}, ${quoted(target)}, ${quoted(`${target}_min`)}, ${quoted(`${target}_max`)}
FROM ${quoted(of.project)}.${quoted(of.model)}.${record.version} WHERE ${quoted(order)} > LATEST ORDER BY ${[...keys, order].map(quoted).join(', ')} LIMIT ${stepsMax}`
  const { loaded, reload } = useLoaded((signal) => select<Record<string, Value>>({ query, at, signal }), [query, at])
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  const named = value.map((row) => ({
    series: keys.map((key) => shown(row[key])).join(', '),
    when: moment(row[order]),
    y: Number(row[target]),
    least: Number(row[`${target}_min`]),
    greatest: Number(row[`${target}_max`]),
  }))
  const all = [...new Set(named.map(({ series }) => series))]
  return (
    <>
      <p>
        <a class="button" href={hrefOf('/query', { sql: query })}>
          Query it
        </a>
      </p>
      {all.slice(0, seriesMax).map((series) => {
        const rows = named.filter((row) => row.series === series)
        return (
          <figure key={series}>
            {series !== '' && <figcaption>{series}</figcaption>}
            <Plotted
              label={`${target} to come${series === '' ? '' : ` of ${series}`}`}
              inputs={[rows.length, at]}
              draw={(plot, width) =>
                plot.plot({
                  ...{ width, height: 260, className: 'plot', grid: true },
                  x: { label: order },
                  y: { label: target },
                  marks: [
                    plot.areaY(rows, { x: 'when', y1: 'least', y2: 'greatest', fill: 'var(--accent)', fillOpacity: 0.18 }),
                    plot.lineY(rows, { x: 'when', y: 'y', stroke: 'var(--accent)', strokeWidth: 2 }),
                  ],
                })
              }
            />
          </figure>
        )
      })}
      {all.length > seriesMax && (
        <p class="quiet">
          The first {seriesMax} of {all.length} series. The query shows all.
        </p>
      )}
    </>
  )
}
