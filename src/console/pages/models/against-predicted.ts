import type * as plot from '@observablehq/plot'

/** The common settings of all charts of a model's numbers. */
const frame = { height: 320, marginLeft: 60, className: 'plot', grid: true }

/** Draws marks by predicted value, over the diagonal of correct predictions. */
export const againstPredicted = (
  { line, plot: draw }: typeof plot,
  {
    width,
    target,
    label,
    predicted,
    marks,
  }: { width: number; target: string; label: string; predicted: readonly number[]; marks: plot.Markish[] },
): Element => {
  const [least, greatest] = [Math.min(...predicted), Math.max(...predicted)]
  const diagonal: [number, number][] = [
    [least, least],
    [greatest, greatest],
  ]
  return draw({
    ...{ ...frame, width: Math.min(width, 560) },
    x: { label: `${target}, predicted` },
    y: { label },
    marks: [line(diagonal, { stroke: 'var(--quiet)', strokeDasharray: '4 4' }), ...marks],
  })
}
