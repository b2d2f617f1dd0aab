import { Listing } from '../../lists/listing.js'
import { Plotted } from '../../components/plot.js'
import { Shares } from '../../lists/shares.js'
import { countText, figure } from '../../components/value.js'
import type { Report } from './reports.js'
import { Residuals } from './residuals.js'

const percent = (share: number): string => `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`

const tenths = (share: number): string => `${(100 * share).toFixed(1)} %`

const Metrics = ({ metrics }: Pick<Report, 'metrics'>) => (
  <ul class="cards metrics">
    {metrics.map(({ metric, value, about }) => (
      <li key={metric} class="card">
        <strong>{metric.replaceAll('_', ' ')}</strong>
        <span class="count">{figure(value)}</span>
        <span class="quiet">{about}</span>
      </li>
    ))}
  </ul>
)

/** The confusion matrix of the classes. The rows on its diagonal were predicted as what they are. */
const Confusion = ({ confusion }: Pick<Report, 'confusion'>) => {
  const classes = [...new Set(confusion.flatMap(({ actual, predicted }) => [actual, predicted]))].sort()
  const rows = new Map(confusion.map(({ actual, predicted, rows }) => [`${actual}\n${predicted}`, rows]))
  const count = (actual: string, predicted: string) => rows.get(`${actual}\n${predicted}`) ?? 0
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Confusion">
      <table class="list measured">
        <thead>
          <tr>
            <th scope="col">true ↓, predicted →</th>
            {classes.map((name) => (
              <th key={name} scope="col" class="right">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {classes.map((actual) => (
            <tr key={actual}>
              <th scope="row">{actual}</th>
              {classes.map((predicted) => (
                <td
                  key={predicted}
                  class={actual === predicted ? 'right good' : count(actual, predicted) > 0 ? 'right bad' : 'right quiet'}
                >
                  {countText(count(actual, predicted))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The accuracy for each range of confidence. On the diagonal, the accuracy equals the confidence. */
const Calibration = ({ calibration }: Pick<Report, 'calibration'>) => (
  <Plotted
    label="Share of answers that were right, by the confidence that they had"
    inputs={[calibration]}
    draw={(plot, width) =>
      plot.plot({
        ...{ width: Math.min(width, 560), height: 320, className: 'plot', grid: true },
        x: { domain: [0, 1], label: 'confidence' },
        y: { domain: [0, 1], label: 'share that was right' },
        marks: [
          plot.line(
            [
              [0, 0],
              [1, 1],
            ],
            { stroke: 'var(--quiet)', strokeDasharray: '4 4' },
          ),
          plot.lineY(calibration, { x: 'confidence', y: 'accuracy', stroke: 'var(--accent)' }),
          plot.dot(calibration, {
            x: 'confidence',
            y: 'accuracy',
            r: ({ rows }: { rows: number }) => Math.sqrt(rows),
            fill: 'var(--accent)',
          }),
        ],
      })
    }
  />
)

/** The metrics and the training data of a version. All metrics are of rows that the model had not seen. */
export const Card = ({ report, target }: { report: Report; target: string }) => {
  const { metrics, importances, classes, confusion, calibration, residuals, coverage, data, plan } = report
  return (
    <>
      {metrics.length > 0 && (
        <>
          <h2>How good it is</h2>
          <Metrics metrics={metrics} />
          <p class="quiet">Measured on rows that it had not learned from.</p>
        </>
      )}
      {importances.length > 0 && (
        <>
          <h2>What it uses</h2>
          <Shares
            label="Importances"
            shares={importances.map(({ column, importance }) => ({ name: column, value: importance, text: percent(importance) }))}
          />
        </>
      )}
      {residuals.length > 0 && (
        <>
          <h2>What it predicts, and what is true</h2>
          <Residuals residuals={residuals} target={target} />
          <p class="quiet">Rows that it had not learned from, in groups of like predictions. On the line it is right on average.</p>
        </>
      )}
      {coverage.length > 0 && (
        <>
          <h2>Whether its intervals hold</h2>
          <Listing
            label="Coverage"
            isNarrow
            keyOf={({ confidence }) => String(confidence)}
            columns={[
              { title: 'Promised', isRight: true, of: ({ confidence }) => tenths(confidence) },
              { title: 'True values within', isRight: true, of: (one) => tenths(one.coverage) },
              { title: 'Mean width', isRight: true, of: (one) => figure(one.mean_width) },
            ]}
            rows={coverage}
          />
          <p class="quiet">Intervals of rows that it had not learned from, as wide as the errors of other rows made them.</p>
        </>
      )}
      {confusion.length > 0 && (
        <>
          <h2>What it takes for what</h2>
          <Confusion confusion={confusion} />
        </>
      )}
      {classes.length > 0 && (
        <>
          <h2>Classes</h2>
          <Listing
            label="Classes"
            isNarrow
            keyOf={({ class: name }) => name}
            columns={[
              { title: 'Class', of: (one) => one.class },
              { title: 'Rows', isRight: true, of: ({ rows }) => countText(rows) },
              { title: 'Right when answered (precision)', isRight: true, of: ({ precision }) => percent(precision) },
              { title: 'Found of all (recall)', isRight: true, of: ({ recall }) => percent(recall) },
            ]}
            rows={classes}
          />
        </>
      )}
      {calibration.length > 0 && (
        <>
          <h2>Whether its confidence holds</h2>
          <Calibration calibration={calibration} />
        </>
      )}
      <h2>What it learned from</h2>
      <dl class="fields">
        {data.map(({ fact, value, detail }) => (
          <div key={`${fact} ${value}`}>
            <dt class={fact === 'warning' ? 'bad' : undefined}>{fact.replaceAll('_', ' ')}</dt>
            <dd>
              {fact === 'warning' ? detail : value} {fact !== 'warning' && <span class="quiet">{detail}</span>}
            </dd>
          </div>
        ))}
      </dl>
      <details>
        <summary>How it was trained</summary>
        <dl class="fields">
          {plan.map(({ name, value }) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </details>
    </>
  )
}
