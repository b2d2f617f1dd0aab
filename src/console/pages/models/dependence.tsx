import { literal, quoted, select, type Value } from '../../api/sql.js'
import { headAt } from '../../basics/head.js'
import { useLoaded } from '../../basics/loading.js'
import { changeQuery, hrefOf, momentShown, place } from '../../basics/place.js'
import { Busy, Empty, Refusal } from '../../components/notice.js'
import { Plotted } from '../../components/plot.js'
import { shown } from '../../components/value.js'
import { useInputs, type Input } from './inputs.js'
import type { ModelName, ModelRecord, Report } from './reports.js'
import { RowsOfNow, type TrainingRows } from './training-rows.js'

/** The number of rows of the training that are predicted for each value. */
const sampleRows = 200
const stepsOfNumber = 24
const classesMax = 8

type Point = { x: Value; y: number; name: string }

const asSql = (value: number | string): string => (typeof value === 'number' ? String(value) : literal(value))

/** The values to which an input is set; none for an arbitrary text. */
const stepsOf = (input: Input): (number | string)[] => {
  if (input.form === 'text') return []
  if (input.form === 'choice') return input.choices
  const { least, greatest, type } = input
  const steps = Array.from({ length: stepsOfNumber }, (_, i) => least + ((greatest - least) * i) / (stepsOfNumber - 1))
  return [...new Set(type === 'integer' ? steps.map(Math.round) : steps.map((step) => Number(step.toPrecision(8))))]
}

/** The JSON path of a class in an explanation. */
const probabilityOf = (target: string, name: string): string =>
  `avg(CAST(m.${quoted(`${target}_explain`)}->>${literal(`$."probability_class_${name.replaceAll('"', '\\"')}"`)} AS DOUBLE))`

type Asked = { of: ModelName; record: ModelRecord; training: TrainingRows; input: Input; classes: readonly string[] }

/**
 * The statement that predicts real rows after setting one input to each of its values. It is for the moment of the rows, at which the
 * version was not trained yet: the version is that of a later position.
 *
 * @example statementOf(asked, 42) // SELECT t.`size` AS x, avg(m.`rent`) AS y0 FROM (…) AS t JOIN `shop`.`rent`.2 AT (VERSION => 42) AS m …
 */
const statementOf = ({ of, record, training: { rows }, input, classes }: Asked, position: number): string => {
  const column = quoted(input.name)
  const outputs = classes.length === 0 ? [`avg(m.${quoted(record.predict)})`] : classes.map((name) => probabilityOf(record.predict, name))
  const values = stepsOf(input).map(asSql).join(', ')
  return `SELECT t.${column} AS x, ${outputs.map((output, i) => `${output} AS y${i}`).join(', ')}
FROM (
  SELECT s.* EXCLUDE (${column}), g.${column}
  FROM (SELECT * FROM ${rows} AS rows_of_training USING SAMPLE ${sampleRows} ROWS) AS s
  CROSS JOIN (SELECT unnest([${values}]) AS ${column}) AS g
) AS t
JOIN ${quoted(of.project)}.${quoted(of.model)}.${record.version} AT (VERSION => ${position}) AS m
GROUP BY 1 ORDER BY 1`
}

const Picture = ({ points, input, label }: { points: readonly Point[]; input: Input; label: string }) => (
  <Plotted
    label={`${label} by ${input.name}`}
    inputs={[points]}
    draw={(plot, width) => {
      const isNamed = points.some(({ name }) => name !== '')
      const colour = isNamed ? { stroke: 'name' } : { stroke: 'var(--accent)' }
      const all = { width, height: 320, marginLeft: 60, className: 'plot', grid: true, color: { legend: isNamed } }
      if (input.form === 'number')
        return plot.plot({
          ...all,
          x: { label: input.name, ...(input.type === 'integer' && points.length <= 12 && { ticks: points.map(({ x }) => Number(x)) }) },
          y: { label },
          marks: [plot.lineY(points, { x: 'x', y: 'y', strokeWidth: 2, ...colour })],
        })
      return plot.plot({
        ...{ ...all, height: Math.max(160, 34 * new Set(points.map(({ x }) => shown(x))).size), marginLeft: 140 },
        x: { label },
        y: { label: input.name, type: 'point' },
        marks: [
          plot.dot(points, {
            x: 'y',
            y: ({ x }: Point) => shown(x),
            r: 6,
            ...(isNamed ? { fill: 'name' } : { fill: 'var(--accent)' }),
          }),
        ],
      })
    }}
  />
)

const Drawn = (asked: Asked) => {
  const { record, training, input, classes } = asked
  const moment = momentShown()
  const { at } = training
  const { loaded, reload } = useLoaded(
    async (signal) => {
      const query = statementOf(asked, await headAt(moment, signal))
      return { query, rows: await select<Record<string, Value>>({ query, at, readsOnly: true, signal }) }
    },
    [statementOf(asked, 0), at, moment],
  )
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy what="Asking the model" />
  const outputs = classes.length === 0 ? [''] : classes
  const points = value.rows.flatMap((row) => outputs.map((name, i): Point => ({ x: row['x'] ?? null, y: Number(row[`y${i}`]), name })))
  return (
    <>
      <Picture points={points} input={input} label={classes.length === 0 ? record.predict : `chance of each ${record.predict}`} />
      <p>
        <a class="button" href={hrefOf('/query', { sql: value.query, at })}>
          Query it
        </a>
      </p>
    </>
  )
}

/** The change of the prediction with one input, while the other inputs keep their values from rows of the training. */
export const Dependence = ({ of, record, report }: { of: ModelName; record: ModelRecord; report: Report }) => {
  const { loaded, reload } = useInputs(of, record, report)
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  const possible = value.inputs.filter((input) => input.form !== 'text')
  const { training } = value
  if (!training || possible.length === 0)
    return (
      <Empty title="There is nothing to vary">
        {value.unread ? `The rows of the training cannot be read: ${value.unread.message}` : 'No input has values to choose from.'}
      </Empty>
    )
  // The most important inputs come first.
  const weights = new Map(report.importances.map(({ column, importance }) => [column, importance]))
  const ordered = possible.toSorted((a, b) => (weights.get(b.name) ?? 0) - (weights.get(a.name) ?? 0))
  const chosen = ordered.find(({ name }) => name === place.value.query.get('input')) ?? ordered[0]
  const classes = report.classes.slice(0, classesMax).map((one) => one.class)
  return (
    <>
      <div class="tools">
        <label class="inline">
          <span>Input</span>
          <select value={chosen?.name} onChange={({ currentTarget }) => changeQuery({ input: currentTarget.value })}>
            {ordered.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      </div>
      {chosen && <Drawn key={chosen.name} of={of} record={record} training={training} input={chosen} classes={classes} />}
      {report.classes.length > classesMax && (
        <p class="quiet">
          The first {classesMax} of {report.classes.length} classes.
        </p>
      )}
      <p class="quiet">
        The mean over {sampleRows} rows of the training, each with this input set to every value. It says what the model does, not what
        causes what.
      </p>
      <RowsOfNow training={training} />
    </>
  )
}
