import { Plotted } from '../../components/plot.js'
import { againstPredicted } from './against-predicted.js'
import type { Report } from './reports.js'

/** Predicted against true values, of rows that were not learned from. Each dot is a group of rows with similar predictions. */
export const Residuals = ({ residuals, target }: Pick<Report, 'residuals'> & { target: string }) => (
  <div class="pictures">
    <Plotted
      label={`What was true of ${target}, by what was predicted`}
      inputs={[residuals]}
      draw={(plot, width) =>
        againstPredicted(plot, {
          ...{ width, target, label: 'true on average, and how far it misses', predicted: residuals.map(({ predicted }) => predicted) },
          marks: [
            plot.ruleX(residuals, {
              x: 'predicted',
              y1: ({ actual, rmse }: Report['residuals'][number]) => actual - rmse,
              y2: ({ actual, rmse }: Report['residuals'][number]) => actual + rmse,
              stroke: 'var(--accent)',
              strokeOpacity: 0.35,
              strokeWidth: 5,
            }),
            plot.dot(residuals, { x: 'predicted', y: 'actual', r: 4, fill: 'var(--accent)' }),
          ],
        })
      }
    />
    <Plotted
      label={`How far predictions of ${target} are off on average, by what was predicted`}
      inputs={[residuals]}
      draw={(plot, width) =>
        plot.plot({
          ...{ width: Math.min(width, 560), height: 320, marginLeft: 60, className: 'plot', grid: true },
          x: { label: `${target}, predicted` },
          y: { label: 'true less predicted, on average' },
          marks: [
            plot.ruleY([0], { stroke: 'var(--quiet)' }),
            plot.ruleX(residuals, {
              x: 'predicted',
              y1: 0,
              y2: ({ actual, predicted }: Report['residuals'][number]) => actual - predicted,
              stroke: 'var(--accent)',
              strokeWidth: 5,
            }),
          ],
        })
      }
    />
  </div>
)
