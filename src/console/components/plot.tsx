import type * as plot from '@observablehq/plot'
import { useEffect, useRef } from 'preact/hooks'
import { useLibrary } from '../basics/library.js'
import { Refusal } from './notice.js'

type Plot = typeof plot

type Props = {
  /** A description of the chart for screen readers. */
  label: string
  /** Draws the chart for a width in pixels. Set `className: 'plot'`, so that the console's styles apply. */
  draw: (plot: Plot, width: number) => Element
  /** The chart is drawn again when one of these changes. */
  inputs: readonly unknown[]
}

/**
 * The page's policy forbids inline styles, so the console's own stylesheet has the rules. The container has the description of the chart.
 */
const plain = (picture: Element): Element => {
  for (const style of picture.querySelectorAll('style')) style.remove()
  for (const named of picture.querySelectorAll('[aria-label]')) named.removeAttribute('aria-label')
  return picture
}

const loadPlot = (): Promise<Plot> => import('@observablehq/plot')

/**
 * A chart as wide as its container. The library is loaded with the first chart.
 *
 * @example <Plotted label="Rent by size" inputs={[rows]} draw={(plot, width) => plot.dot(rows, { x: 'size', y: 'rent' }).plot({ width, className: 'plot' })} />
 */
export const Plotted = ({ label, draw, inputs }: Props) => {
  const place = useRef<HTMLDivElement>(null)
  const { library, refused, again, attempt } = useLibrary(loadPlot, inputs)
  useEffect(() => {
    const element = place.current
    if (!element || !library) return undefined
    let drawn = 0
    const watching = new ResizeObserver(() => {
      const width = Math.floor(element.clientWidth)
      if (width === drawn || width === 0) return
      drawn = width
      attempt(() => element.replaceChildren(plain(draw(library, width))))
    })
    watching.observe(element)
    return () => watching.disconnect()
  }, [library, refused, ...inputs])
  if (refused) return <Refusal error={refused} again={again} />
  return <div ref={place} class="picture" role="img" aria-label={label} />
}
