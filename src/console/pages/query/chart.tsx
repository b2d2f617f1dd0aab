import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { asApiError, useLoaded } from '../../basics/loading.js'
import { changeQuery, place } from '../../basics/place.js'
import { Busy, Empty, Refusal } from '../../components/notice.js'
import { Plotted } from '../../components/plot.js'
import { countText, isNumeric } from '../../components/value.js'
import type { ColumnSummary } from '../../components/summary.js'
import type { RowStore } from './rows.js'
import { alongLine, areSummed, colourable, pictureKinds, proposedPicture, sampleOf, type Picture, type Point } from './sample.js'
import { savePng, saveSvg } from './save-picture.js'

/** The most bars of a chart: those of the first rows. */
const barsMax = 80

type Plot = Parameters<Parameters<typeof Plotted>[0]['draw']>[0]

const marksOf = (plot: Plot, { kind, x, y, by }: Picture, points: Point[], names: ReadonlySet<string>) => {
  const colour = by === '' ? 'var(--accent)' : by
  if (kind === 'histogram') return [plot.rectY(points, { ...plot.binX({ y: 'count' }, { x }), fill: 'var(--accent)' }), plot.ruleY([0])]
  if (kind === 'bar') return [plot.barY(points.slice(0, barsMax), { x, y, fill: colour }), plot.ruleY([0])]
  if (kind === 'dots') return [plot.dot(points, { x, y, stroke: colour, r: 2.5 })]
  const line = alongLine(points, x)
  const series = by === '' ? {} : { z: by }
  const band =
    names.has(`${y}_min`) && names.has(`${y}_max`)
      ? [plot.areaY(line, { x, y1: `${y}_min`, y2: `${y}_max`, ...series, fill: colour, fillOpacity: 0.18 })]
      : []
  return [...band, plot.lineY(line, { x, y, ...series, stroke: colour, strokeWidth: 1.8 })]
}

const Choice = ({
  label,
  value,
  options,
  set,
}: {
  label: string
  value: string
  options: readonly string[]
  set: (value: string) => void
}) => (
  <label class="inline">
    <span>{label}</span>
    <select value={value} onChange={({ currentTarget }) => set(currentTarget.value)}>
      {options.map((option) => (
        <option key={option} value={option}>
          {option === '' ? 'none' : option}
        </option>
      ))}
    </select>
  </label>
)

type Props = { store: RowStore; version: number; summaries: readonly ColumnSummary[] }

/** A chart of the rows that have arrived. The address stores its kind and its columns. */
export const Chart = ({ store, version, summaries }: Props) => {
  const { query } = place.value
  const shown = useRef<HTMLDivElement>(null)
  const failure = useSignal<unknown>(undefined)
  const { loaded } = useLoaded((signal) => sampleOf(store, signal), [store, version])
  const coloured = colourable(summaries)
  const proposed = proposedPicture(store.columns, coloured)
  if (!proposed) return <Empty title="No column has numbers">A picture needs one.</Empty>
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} />
  if (!value) return <Busy what="Drawing" />
  const names = store.columns.map(({ name }) => name)
  const numbers = store.columns.filter(({ type }) => isNumeric(type)).map(({ name }) => name)
  const oneOf = (key: string, usual: string, options: readonly string[]) => {
    const asked = query.get(key)
    return asked !== null && options.includes(asked) ? asked : usual
  }
  const kind = pictureKinds.find((one) => one === query.get('kind')) ?? proposed.kind
  const picture: Picture = {
    kind,
    x: oneOf('x', proposed.x, names),
    y: oneOf('y', proposed.y, numbers),
    by: query.get('by') === 'none' ? '' : oneOf('by', proposed.by, coloured),
  }
  // Bars of the same name are stacked.
  const up = kind === 'bar' && areSummed(value.points.slice(0, barsMax), picture.x) ? `sum of ${picture.y}` : picture.y
  const svg = () => shown.current?.querySelector<SVGSVGElement>('svg.plot') ?? undefined
  const save = (how: (picture: SVGSVGElement) => unknown) => {
    const drawn = svg()
    if (drawn) Promise.resolve(how(drawn)).catch((refused: unknown) => (failure.value = refused))
  }
  return (
    <>
      <div class="tools">
        <Choice label="Chart" value={kind} options={pictureKinds} set={(next) => changeQuery({ kind: next })} />
        <Choice label="Along" value={picture.x} options={kind === 'histogram' ? numbers : names} set={(next) => changeQuery({ x: next })} />
        {kind !== 'histogram' && <Choice label="Up" value={picture.y} options={numbers} set={(next) => changeQuery({ y: next })} />}
        {kind !== 'histogram' && (
          <Choice
            label="Colour by"
            value={picture.by}
            options={['', ...coloured]}
            set={(next) => changeQuery({ by: next === '' ? 'none' : next })}
          />
        )}
        <button type="button" onClick={() => save(saveSvg)}>
          SVG
        </button>
        <button type="button" onClick={() => save(savePng)}>
          PNG
        </button>
      </div>
      {failure.value !== undefined && <Refusal error={asApiError(failure.value)} />}
      <div ref={shown}>
        <Plotted
          label={kind === 'histogram' ? `How ${picture.x} is spread` : `${up} by ${picture.x}`}
          inputs={[value, kind, picture.x, picture.y, picture.by]}
          draw={(plot, width) =>
            plot.plot({
              ...{ width, height: Math.max(260, Math.min(520, width * 0.5)), className: 'plot', grid: true, marginLeft: 60 },
              ...(picture.by !== '' && { color: { legend: true, scheme: 'observable10' } }),
              x: {
                label: picture.x,
                ...(kind === 'bar' && {
                  type: 'band',
                  domain: [...new Set(value.points.slice(0, barsMax).map((one) => one[picture.x]))] as string[],
                }),
              },
              ...(kind !== 'histogram' && { y: { label: up } }),
              marks: marksOf(plot, picture, value.points, new Set(names)),
            })
          }
        />
      </div>
      {value.every > 1 && kind !== 'bar' && <p class="quiet">One row of each {countText(value.every)} is drawn.</p>}
      {kind === 'bar' && store.total > barsMax && <p class="quiet">The first {barsMax} rows are drawn.</p>}
    </>
  )
}
