import type * as plot from '@observablehq/plot'
import { useEffect, useRef } from 'preact/hooks'

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

/**
 * A chart as wide as its container. The library is loaded with the first chart.
 *
 * @example <Plotted label="Rent by size" inputs={[rows]} draw={(plot, width) => plot.dot(rows, { x: 'size', y: 'rent' }).plot({ width, className: 'plot' })} />
 */
export const Plotted = ({ label, draw, inputs }: Props) => {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = place.current
    if (!element) return undefined
    let isWanted = true
    let watching: ResizeObserver | undefined
    void import('@observablehq/plot').then((plot) => {
      if (!isWanted) return
      let drawn = 0
      watching = new ResizeObserver(() => {
        const width = Math.floor(element.clientWidth)
        if (width === drawn || width === 0) return
        drawn = width
        element.replaceChildren(plain(draw(plot, width)))
      })
      watching.observe(element)
    })
    return () => {
      isWanted = false
      watching?.disconnect()
    }
  }, inputs)
  return <div ref={place} class="picture" role="img" aria-label={label} />
}
