import { literal, quoted, select, type Value } from '../../api/sql.js'
import { useLoaded } from '../../basics/loading.js'
import { changeQuery, hrefOf, momentShown, place } from '../../basics/place.js'
import { Busy, Empty, Refusal } from '../../components/notice.js'
import { Plotted } from '../../components/plot.js'
import { shown } from '../../components/value.js'
import { trainingRows } from './asked-in-sql.js'
import { useInputs, type Input } from './inputs.js'
import type { ModelName, ModelRecord, Report } from './reports.js'

/** The number of rows of the training's query that are predicted for each value. */
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

/**
 * The statement that predicts real rows after setting one input to each of its values.
 *
 * @example statementOf(of, record, rows, input, classes) // SELECT t.`size` AS x, avg(m.`rent`) AS y0 FROM (…) AS t JOIN `shop`.`rent`.2 AS m …
 */
const statementOf = (of: ModelName, record: ModelRecord, rows: string, input: Input, classes: readonly string[]): string => {
  const column = quoted(input.name)
  const outputs = classes.length === 0 ? [`avg(m.${quoted(record.predict)})`] : classes.map((name) => probabilityOf(record.predict, name))
  const values = stepsOf(input).map(asSql).join(', ')
  return `SELECT t.${column} AS x, ${outputs.map((output, i) => `${output} AS y${i}`).join(', ')}
FROM (
  SELECT s.* EXCLUDE (${column}), g.${column}
  FROM (SELECT * FROM ${rows} AS rows_of_training USING SAMPLE ${sampleRows} ROWS) AS s
  CROSS JOIN (SELECT unnest([${values}]) AS ${column}) AS g
) AS t
JOIN ${quoted(of.project)}.${quoted(of.model)}.${record.version} AS m
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

type DrawnProps = { of: ModelName; record: ModelRecord; rows: string; input: Input; classes: readonly string[] }

const Drawn = ({ of, record, rows, input, classes }: DrawnProps) => {
  const at = momentShown()
  const query = statementOf(of, record, rows, input, classes)
  const { loaded, reload } = useLoaded((signal) => select<Record<string, Value>>({ query, at, readsOnly: true, signal }), [query, at])
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy what="Asking the model" />
  const outputs = classes.length === 0 ? [''] : classes
  const points = value.flatMap((row) => outputs.map((name, i): Point => ({ x: row['x'] ?? null, y: Number(row[`y${i}`]), name })))
  return (
    <>
      <Picture points={points} input={input} label={classes.length === 0 ? record.predict : `chance of each ${record.predict}`} />
      <p>
        <a class="button" href={hrefOf('/query', { sql: query })}>
          Query it
        </a>
      </p>
    </>
  )
}

/** The change of the prediction with one input, while the other inputs keep their values from rows of the training's query. */
export const Dependence = ({ of, record, report }: { of: ModelName; record: ModelRecord; report: Report }) => {
  const { loaded, reload } = useInputs(of, record, report.features)
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy />
  const rows = trainingRows(record)
  const possible = value.inputs.filter((input) => input.form !== 'text')
  if (rows === undefined || possible.length === 0)
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
      {chosen && <Drawn key={chosen.name} of={of} record={record} rows={rows} input={chosen} classes={classes} />}
      {report.classes.length > classesMax && (
        <p class="quiet">
          The first {classesMax} of {report.classes.length} classes.
        </p>
      )}
      <p class="quiet">
        The mean over {sampleRows} rows of the training's query, each with this input set to every value. It says what the model does, not
        what causes what.
      </p>
    </>
  )
}
