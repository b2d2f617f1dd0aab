import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'
import { isDark } from '../basics/theme.js'
import { useLibrary } from '../basics/library.js'
import { Refusal } from './notice.js'

/** Numbers over time: seconds since 1970, and one value for each; null if it is unknown. */
export type Series = { seconds: readonly number[]; values: readonly (number | null)[] }

const height = 120
/** The local time of day. */
const timeText = (seconds: number): string => new Date(seconds * 1_000).toLocaleTimeString('en-GB')

/** The least period that the chart shows. */
const leastSeconds = 60

/** The first samples alone would give a line without width. The axis ends at the last sample, so all new samples appear at the right. */
const spanOf = ({ seconds }: Series): [number, number] => {
  const last = seconds.at(-1) ?? 0
  return [Math.min(seconds[0] ?? 0, last - leastSeconds), last]
}

const loadPlot = async (): Promise<typeof uPlot> => {
  const [{ default: Plot }] = await Promise.all([import('uplot'), import('uplot/dist/uPlot.min.css')])
  return Plot
}

/** Draws a series. A canvas needs colours and cannot read CSS variables, so the container's properties provide them. */
const lineIn = (element: HTMLElement, Plot: typeof uPlot, shown: () => Series, text: (value: number) => string): uPlot => {
  const style = getComputedStyle(element)
  const axis = { stroke: style.color, grid: { stroke: style.borderTopColor, width: 1 }, ticks: { show: false } }
  const points: uPlot.Series.Points = { show: ({ data }) => data[0].length < 2, size: 8, fill: style.outlineColor }
  return new Plot(
    {
      ...{ width: element.clientWidth, height, legend: { show: false }, cursor: { show: false } },
      scales: {
        x: { range: () => spanOf(shown()) },
        y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] },
      },
      axes: [
        { ...axis, space: 80, values: (_, ticks) => ticks.map(timeText) },
        { ...axis, size: 74, values: (_, ticks) => ticks.map(text) },
      ],
      series: [{}, { stroke: style.outlineColor, width: 2, points }],
    },
    [[...shown().seconds], [...shown().values]],
    element,
  )
}

/**
 * A line chart that grows while it is shown. The library and its stylesheet are loaded with the first chart.
 *
 * @example <TimeLine label="Memory" series={{ seconds: [1, 2], values: [10, 12] }} text={bytesText} />
 */
export const TimeLine = ({ label, series, text }: { label: string; series: Series; text: (value: number) => string }) => {
  const place = useRef<HTMLDivElement>(null)
  const drawn = useRef<uPlot | undefined>(undefined)
  const newest = useRef(series)
  newest.current = series
  const inputs = [isDark.value]
  const { library, refused, again, attempt } = useLibrary(loadPlot, inputs)
  useEffect(() => {
    const element = place.current
    if (!element || !library) return undefined
    const watching = new ResizeObserver(() => drawn.current?.setSize({ width: element.clientWidth, height }))
    attempt(() => {
      drawn.current = lineIn(element, library, () => newest.current, text)
      watching.observe(element)
    })
    return () => {
      watching.disconnect()
      drawn.current?.destroy()
      drawn.current = undefined
    }
  }, [library, refused, ...inputs])
  useEffect(() => drawn.current?.setData([[...series.seconds], [...series.values]]), [series])
  const last = series.values.at(-1)
  return (
    <figure class="time-line">
      <figcaption>
        {label} <strong>{typeof last === 'number' ? text(last) : ''}</strong>
        {typeof last !== 'number' && <span class="quiet">after the next look…</span>}
      </figcaption>
      {refused ? (
        <Refusal error={refused} again={again} />
      ) : (
        <div ref={place} role="img" aria-label={`${label} since this page was opened`} />
      )}
    </figure>
  )
}
