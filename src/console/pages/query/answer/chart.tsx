import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { asApiError, useLoaded } from '../../../basics/loading.js'
import { changeQuery, place } from '../../../basics/place.js'
import { Busy, Empty, Refusal } from '../../../components/notice.js'
import { Plotted } from '../../../components/plot.js'
import { countText, isNumeric } from '../../../components/value.js'
import type { Column } from '../../../api/sql.js'
import type { ColumnSummary } from '../../../components/summary.js'
import type { RowStore } from './rows.js'
import { colourable, pictureKinds, proposedPicture, type Picture } from './proposed-picture.js'
import { alongLine, barNamesMax, barsOf, sampleOf, spreadOf, type Drawing, type Point } from './sample.js'
import { savePng, saveSvg } from './save-picture.js'

const numbersIn = (columns: readonly Column[]): string[] => columns.filter(({ type }) => isNumeric(type)).map(({ name }) => name)

/** Whether a chart has bars, for which all rows are read. */
const hasBars = ({ kind }: Picture): boolean => kind === 'bar' || kind === 'histogram'

/** The columns that a kind of chart can have along its lower edge. */
const alongOf = (kind: Picture['kind'], columns: readonly Column[]): string[] =>
  kind === 'histogram' ? numbersIn(columns) : columns.map(({ name }) => name)

type Plot = Parameters<Parameters<typeof Plotted>[0]['draw']>[0]

const marksOf = (plot: Plot, { kind, x, y, by }: Picture, points: Point[], names: ReadonlySet<string>) => {
  const colour = by === '' ? 'var(--accent)' : by
  if (kind === 'histogram')
    return [plot.rectY(points, { x1: 'from', x2: 'to', y: 'rows', insetLeft: 1, fill: 'var(--accent)' }), plot.ruleY([0])]
  if (kind === 'bar') return [plot.barY(points, { x: 'x', y: 'y', fill: by === '' ? colour : 'by' }), plot.ruleY([0])]
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

/** The picture that the address asks for, as far as the columns allow it; undefined if no column has numbers. */
const askedPicture = (query: URLSearchParams, columns: readonly Column[], coloured: readonly string[]): Picture | undefined => {
  const proposed = proposedPicture(columns, coloured)
  if (!proposed) return undefined
  const kind = pictureKinds.find((one) => one === query.get('kind')) ?? proposed.kind
  const names = alongOf(kind, columns)
  const oneOf = (key: string, usual: string, options: readonly string[]) => {
    const asked = query.get(key)
    return asked !== null && options.includes(asked) ? asked : usual
  }
  return {
    kind,
    x: oneOf('x', names.includes(proposed.x) ? proposed.x : proposed.y, names),
    y: oneOf('y', proposed.y, numbersIn(columns)),
    by: query.get('by') === 'none' ? '' : oneOf('by', proposed.by, coloured),
  }
}

type Props = { store: RowStore; version: number; summaries: readonly ColumnSummary[] }

/** A chart of the rows that fit the filter. The address stores its kind and its columns. */
export const Chart = ({ store, version, summaries }: Props) => {
  const shown = useRef<HTMLDivElement>(null)
  const failure = useSignal<unknown>(undefined)
  const coloured = colourable(summaries)
  const picture = askedPicture(place.value.query, store.columns, coloured)
  const bars = picture && hasBars(picture) ? picture : undefined
  const { loaded } = useLoaded<Drawing>(
    (signal) => (!bars ? sampleOf(store, signal) : bars.kind === 'bar' ? barsOf(store, bars, signal) : spreadOf(store, bars, signal)),
    [store, version, JSON.stringify(bars)],
  )
  if (!picture) return <Empty title="No column has numbers">A picture needs one.</Empty>
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} />
  if (!value) return <Busy what="Drawing" />
  const { kind } = picture
  const names = store.columns.map(({ name }) => name)
  const numbers = numbersIn(store.columns)
  // While other bars are added up, the picture stays the one of the bars that are known.
  const drawn = value.bars?.picture ?? picture
  const up = drawn.kind === 'histogram' ? 'rows' : value.bars?.isSummed === true ? `sum of ${drawn.y}` : drawn.y
  const svg = () => shown.current?.querySelector<SVGSVGElement>('svg.plot') ?? undefined
  const save = (how: (picture: SVGSVGElement) => unknown) => {
    const plotted = svg()
    if (plotted) Promise.resolve(how(plotted)).catch((refused: unknown) => (failure.value = refused))
  }
  return (
    <>
      <div class="tools">
        <Choice label="Chart" value={kind} options={pictureKinds} set={(next) => changeQuery({ kind: next })} />
        <Choice label="Along" value={picture.x} options={alongOf(kind, store.columns)} set={(next) => changeQuery({ x: next })} />
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
        {hasBars(drawn) && !value.bars ? (
          <Busy what="Drawing" />
        ) : (
          <Plotted
            label={drawn.kind === 'histogram' ? `How ${drawn.x} is spread` : `${up} by ${drawn.x}`}
            inputs={[value, drawn.kind, drawn.x, drawn.y, drawn.by]}
            draw={(plot, width) =>
              plot.plot({
                ...{ width, height: Math.max(260, Math.min(520, width * 0.5)), className: 'plot', grid: true, marginLeft: 60 },
                ...(drawn.by !== '' && { color: { legend: true, scheme: 'observable10', label: drawn.by } }),
                x: { label: drawn.x, ...(drawn.kind === 'bar' && { type: 'band', domain: value.points.map(({ x }) => x) as string[] }) },
                y: { label: up },
                marks: marksOf(plot, drawn, value.points, new Set(names)),
              })
            }
          />
        )}
      </div>
      {value.every > 1 && <p class="quiet">One row of each {countText(value.every)} is drawn.</p>}
      {value.bars?.isMore === true && <p class="quiet">The first {barNamesMax} names are drawn, each with all its rows. There are more.</p>}
    </>
  )
}
