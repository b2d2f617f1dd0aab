import { literal, select, streamOf, type Value } from '../../api/sql.js'
import { useLoaded } from '../../basics/loading.js'
import { hrefOf, momentShown } from '../../basics/place.js'
import { Busy, Empty, Refusal } from '../../components/notice.js'
import { Listing, type ListColumn } from '../../lists/listing.js'
import { Plotted } from '../../components/plot.js'
import { Shares } from '../../lists/shares.js'
import { countText, figure, percentText } from '../../components/value.js'
import { timeOf } from '../../basics/time.js'
import { againstPredicted } from './against-predicted.js'
import { rowsOfQuery } from './asked-in-sql.js'
import { askedMin, loadDrift } from './drift.js'
import type { ModelName, ModelRecord, Report } from './reports.js'
import { loadTrainingRows, RowsOfNow } from './training-rows.js'

type Accuracy = {
  version: number
  outcomes: number
  trained: number | null
  r2: number | null
  mae: number | null
  accuracy: number | null
  log_loss: number | null
  confidence: number | null
  coverage: number | null
} & Record<string, Value>

type Outcome = { when: string; predicted: string; truth: string } & Record<string, Value>

const outcomesMax = 2_000
/** The number of points of the line over time. */
const pointsMax = 40

const accuracyQuery = `SELECT version, outcomes, trained, r2, mae, accuracy, log_loss, confidence, coverage
  FROM log.accuracy WHERE model_id = ${streamOf('model')} ORDER BY version DESC`

const outcomesQuery = `SELECT p.recorded_at AS "when", p.output->>'$.value' AS predicted, o.truth->>'$' AS truth
  FROM log.outcomes AS o
  JOIN log.predictions AS p ON o.prediction = p.position AND o.prediction_request = p.request AND o.row = p.row
  WHERE o.model_id = ${streamOf('model')} AND o.version = :version AND o.replaced_by IS NULL AND o.readable AND p.readable
  ORDER BY p.position DESC, p.row LIMIT ${outcomesMax}`

const versionColumns: readonly ListColumn<Accuracy>[] = [
  { title: 'Version', of: ({ version }) => version },
  { title: 'Outcomes', isRight: true, of: ({ outcomes }) => countText(outcomes) },
  { title: 'Promised', isRight: true, of: ({ trained }) => figure(trained) },
]

const classColumns: readonly ListColumn<Accuracy>[] = [
  { title: 'Accuracy', isRight: true, of: ({ accuracy }) => figure(accuracy) },
  { title: 'Log loss', isRight: true, of: ({ log_loss }) => figure(log_loss) },
]

const numberColumns: readonly ListColumn<Accuracy>[] = [
  { title: 'R²', isRight: true, of: ({ r2 }) => figure(r2) },
  { title: 'Mean miss', isRight: true, of: ({ mae }) => figure(mae) },
  {
    title: 'Within the interval',
    isRight: true,
    of: ({ coverage, confidence }) =>
      coverage === null ? '' : `${figure(100 * coverage)} % of ${figure(100 * (confidence ?? 0))} % promised`,
  },
]

const Versions = ({ rows }: { rows: readonly Accuracy[] }) => (
  <Listing
    label="Accuracy by version"
    isNarrow
    keyOf={({ version }) => version}
    columns={[...versionColumns, ...(rows.some(({ accuracy }) => accuracy !== null) ? classColumns : numberColumns)]}
    rows={rows}
  />
)

/** Means over equal periods: the share of correct predictions, or the size of the errors. */
const overTime = (outcomes: readonly Outcome[], isOfClasses: boolean): { from: Date; y: number }[] => {
  const timed = outcomes.map(({ when, predicted, truth }) => ({
    at: Number(timeOf(when)),
    y: isOfClasses ? Number(predicted === truth) : Math.abs(Number(predicted) - Number(truth)),
  }))
  const [first, last] = [Math.min(...timed.map(({ at }) => at)), Math.max(...timed.map(({ at }) => at))]
  const step = Math.max(1, (last - first + 1) / pointsMax)
  const sums = new Map<number, { rows: number; y: number }>()
  for (const { at, y } of timed) {
    const part = Math.floor((at - first) / step)
    const sum = sums.get(part) ?? { rows: 0, y: 0 }
    sums.set(part, { rows: sum.rows + 1, y: sum.y + y })
  }
  return [...sums].toSorted(([a], [b]) => a - b).map(([part, { rows, y }]) => ({ from: new Date(first + part * step), y: y / rows }))
}

/** The part of the axis before and after a single point, in milliseconds. */
const aroundMs = 30 * 60_000

/** A single point has no range of time, and the chart would label its axis in a technical format. */
const spanOf = (parts: readonly { from: Date }[]): { domain?: [Date, Date] } => {
  const [one] = parts
  return one === undefined || parts.length > 1
    ? {}
    : { domain: [new Date(Number(one.from) - aroundMs), new Date(Number(one.from) + aroundMs)] }
}

const Pictures = ({ outcomes, target, isOfClasses }: { outcomes: readonly Outcome[]; target: string; isOfClasses: boolean }) => (
  <div class="pictures">
    {!isOfClasses && (
      <Plotted
        label={`What became true of ${target}, by what was predicted`}
        inputs={[outcomes]}
        draw={(plot, width) => {
          const points = outcomes.map(({ predicted, truth }) => ({ predicted: Number(predicted), truth: Number(truth) }))
          return againstPredicted(plot, {
            ...{ width, target, label: 'what became true', predicted: points.map(({ predicted }) => predicted) },
            marks: [plot.dot(points, { x: 'predicted', y: 'truth', r: 2.5, fill: 'var(--accent)', fillOpacity: 0.5 })],
          })
        }}
      />
    )}
    <Plotted
      label={isOfClasses ? 'Share of right answers over time' : 'Mean miss over time'}
      inputs={[outcomes]}
      draw={(plot, width) => {
        const parts = overTime(outcomes, isOfClasses)
        return plot.plot({
          ...{ width: Math.min(width, 560), height: 320, marginLeft: 60, className: 'plot', grid: true },
          x: { label: 'predicted at', type: 'utc', ...spanOf(parts) },
          y: isOfClasses ? { label: 'share that was right', domain: [0, 1] } : { label: 'mean miss', zero: true },
          marks: [plot.lineY(parts, { x: 'from', y: 'y', stroke: 'var(--accent)', strokeWidth: 2, marker: true })],
        })
      }}
    />
  </div>
)

type InputsProps = { of: ModelName; record: ModelRecord; report: Report }

const Inputs = ({ of, record, report }: InputsProps) => {
  const at = momentShown()
  const { loaded, reload } = useLoaded(
    async (signal) => {
      const training = await loadTrainingRows(of, record, report.data, at, signal)
      if (!training) return undefined
      return { training, ...(await loadDrift(of, { version: record.version, training }, report.features, at, signal)) }
    },
    [of.project, of.model, record.version, record.fetch_data_query, at],
  )
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  if (value.asked === 0) return <p class="quiet">No prediction of this version is recorded yet.</p>
  if (value.asked < askedMin)
    return (
      <p class="quiet">
        {countText(value.asked)} {value.asked === 1 ? 'input of this version is' : 'inputs of this version are'} recorded. They are compared
        with the training when there are {askedMin}: fewer differ from it by chance.
      </p>
    )
  return (
    <>
      <Shares
        label="Distance of each input from the training"
        whole={1}
        shares={value.drift.map(({ column, distance, about }) => ({
          name: column,
          value: distance,
          text: [percentText(distance), about].filter((one) => one !== '').join(' · '),
        }))}
      />
      <p class="quiet">
        The newest {countText(value.asked)} recorded inputs against the rows of the training: 0 % is the same spread, 100 % has nothing in
        common.
      </p>
      <RowsOfNow training={value.training} />
    </>
  )
}

/** The accuracy of a model in use, and the drift of the inputs that it is asked about. */
export const Since = ({ of, record, report }: { of: ModelName; record: ModelRecord; report: Report }) => {
  const at = momentShown()
  const { loaded, reload } = useLoaded(
    async (signal) => {
      const params = { project: of.project, name: of.model }
      const [accuracy, outcomes] = await Promise.all([
        select<Accuracy>({ query: accuracyQuery, params, at, signal }),
        select<Outcome>({ query: outcomesQuery, params: { ...params, version: record.version }, at, signal }),
      ])
      return { accuracy, outcomes }
    },
    [of.project, of.model, record.version, at],
  )
  const { value, error } = loaded.value
  return (
    <>
      <h2>What became true</h2>
      {error && <Refusal error={error} again={reload} />}
      {!value && !error && <Busy />}
      {value?.accuracy.length === 0 && (
        <Empty title="Nobody has reported what became true">
          POST /api/projects/{of.project}/models/{of.model}/outcomes takes it, and compares it with what was predicted.
        </Empty>
      )}
      {value && value.accuracy.length > 0 && <Versions rows={value.accuracy} />}
      {value && value.outcomes.length > 0 && (
        <>
          <Pictures outcomes={value.outcomes} target={record.predict} isOfClasses={report.classes.length > 0} />
          {value.outcomes.length === outcomesMax && (
            <p class="quiet">
              The newest {countText(outcomesMax)} outcomes of version {record.version}.
            </p>
          )}
          <p>
            <a class="button" href={hrefOf('/query', { sql: `SELECT * FROM log.accuracy WHERE model = ${literal(of.model)}` })}>
              Query it
            </a>
          </p>
        </>
      )}
      <h2>What it is asked</h2>
      {rowsOfQuery(record) === undefined ? (
        <p class="quiet">The rows of the training cannot be read.</p>
      ) : (
        <Inputs of={of} record={record} report={report} />
      )}
    </>
  )
}
