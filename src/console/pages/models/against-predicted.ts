import type * as plot from '@observablehq/plot'

/** What pictures of a model's numbers have in common. */
const frame = { height: 320, marginLeft: 60, className: 'plot', grid: true }

/** Draws marks by what was predicted, over the line on which a prediction is right. */
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
