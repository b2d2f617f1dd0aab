import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'

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
  useEffect(() => {
    const element = place.current
    if (!element) return undefined
    let isWanted = true
    const watching = new ResizeObserver(() => drawn.current?.setSize({ width: element.clientWidth, height }))
    void Promise.all([import('uplot'), import('uplot/dist/uPlot.min.css')]).then(([{ default: Plot }]) => {
      if (!isWanted) return
      // A canvas needs colours and cannot read CSS variables, so the container's properties provide them.
      const style = getComputedStyle(element)
      const axis = { stroke: style.color, grid: { stroke: style.borderTopColor, width: 1 }, ticks: { show: false } }
      drawn.current = new Plot(
        {
          ...{ width: element.clientWidth, height, legend: { show: false }, cursor: { show: false } },
          scales: {
            x: { range: () => spanOf(newest.current) },
            y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] },
          },
          axes: [
            { ...axis, space: 80, values: (_, ticks) => ticks.map(timeText) },
            { ...axis, size: 74, values: (_, ticks) => ticks.map(text) },
          ],
          series: [
            {},
            { stroke: style.outlineColor, width: 2, points: { show: ({ data }) => data[0].length < 2, size: 8, fill: style.outlineColor } },
          ],
        },
        [[...newest.current.seconds], [...newest.current.values]],
        element,
      )
      watching.observe(element)
    })
    return () => {
      isWanted = false
      watching.disconnect()
      drawn.current?.destroy()
      drawn.current = undefined
    }
  }, [])
  useEffect(() => drawn.current?.setData([[...series.seconds], [...series.values]]), [series])
  const last = series.values.at(-1)
  return (
    <figure class="time-line">
      <figcaption>
        {label} <strong>{typeof last === 'number' ? text(last) : ''}</strong>
        {typeof last !== 'number' && <span class="quiet">after the next look…</span>}
      </figcaption>
      <div ref={place} role="img" aria-label={`${label} since this page was opened`} />
    </figure>
  )
}
