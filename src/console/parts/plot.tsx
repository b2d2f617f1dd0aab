import type * as plot from '@observablehq/plot'
import { useEffect, useRef } from 'preact/hooks'

type Plot = typeof plot

type Props = {
  /** What the picture shows, for readers who do not see it. */
  label: string
  /** Draws it at a width in pixels. Set `className: 'plot'`, so that the style of the console fits. */
  draw: (plot: Plot, width: number) => Element
  /** It is drawn again when one of these changes. */
  inputs: readonly unknown[]
}

/** The policy of the page forbids inline styles; the console's own style has their rules. The place has the words of the picture. */
const plain = (picture: Element): Element => {
  for (const style of picture.querySelectorAll('style')) style.remove()
  for (const named of picture.querySelectorAll('[aria-label]')) named.removeAttribute('aria-label')
  return picture
}

/**
 * A picture of data, as wide as its place. The library is loaded when the first one is shown.
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
