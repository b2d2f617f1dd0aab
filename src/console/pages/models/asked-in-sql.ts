import { literal, quoted, type Value } from '../../api/sql.js'
import type { ModelName, ModelRecord, Report } from './reports.js'
import { rowsOf } from './statement.js'

/** The most series of a forecast that have a chart. */
export const seriesMax = 12

/** The number of last known values of a series before its forecast. */
const pastSteps = 60

/** The column with the number of all series, beside the forecasts of the first ones. */
export const seriesCount = 'all series'

/** The time column of a series model, and its key columns. */
export const seriesColumns = (plan: Report['plan']): { order: string; keys: string[] } => {
  const options = JSON.parse(plan.find(({ name }) => name === 'options')?.value ?? '{}') as {
    order_by?: string
    group_by?: string[] | string
  }
  return { order: options.order_by ?? '', keys: [options.group_by ?? []].flat() }
}

/** The query for the forecasts of a series model's version, with the bounds of each forecast. */
export const forecastQuery = ({ project, model }: ModelName, { predict, version }: ModelRecord, plan: Report['plan']): string => {
  const { order, keys } = seriesColumns(plan)
  const columns = [order, ...keys, predict, `${predict}_min`, `${predict}_max`].map(quoted).join(', ')
  return `SELECT ${columns}
FROM ${quoted(project)}.${quoted(model)}.${version} WHERE ${quoted(order)} > LATEST ORDER BY ${[...keys, order].map(quoted).join(', ')}`
}

/** The query for the forecasts of the first series. Each row has the number of all series, too. */
export const firstForecasts = (of: ModelName, record: ModelRecord, plan: Report['plan']): string => {
  const { order, keys } = seriesColumns(plan)
  const all = forecastQuery(of, record, plan)
  if (keys.length === 0) return all
  const ranked = `SELECT *, dense_rank() OVER (ORDER BY ${keys.map(quoted).join(', ')}) AS ${quoted('nth series')} FROM (${all})`
  return `SELECT * FROM (SELECT *, max(${quoted('nth series')}) OVER () AS ${quoted(seriesCount)} FROM (${ranked}))
WHERE ${quoted('nth series')} <= ${seriesMax} ORDER BY ${[...keys, order].map(quoted).join(', ')}`
}

const isValue = (name: string, value: Value | undefined): string => {
  if (value === null || value === undefined) return `${quoted(name)} IS NULL`
  return `${quoted(name)} = ${typeof value === 'string' ? literal(value) : JSON.stringify(value)}`
}

/** The query for the last known values of the series of some forecasts, from the rows of the training, as they stand after FROM. */
export const lastKnown = (record: ModelRecord, rows: string, plan: Report['plan'], forecasts: readonly Record<string, Value>[]): string => {
  const { order, keys } = seriesColumns(plan)
  const [target, time, names] = [quoted(record.predict), quoted(order), keys.map(quoted).join(', ')]
  const series = new Set(forecasts.map((row) => keys.map((key) => isValue(key, row[key])).join(' AND ')))
  const ofThese = keys.length === 0 ? '' : ` AND (${[...series].join(' OR ') || 'false'})`
  return `SELECT ${[time, ...keys.map(quoted), target].join(', ')} FROM ${rows} AS rows_of_training
WHERE ${target} IS NOT NULL${ofThese}
QUALIFY row_number() OVER (${keys.length === 0 ? '' : `PARTITION BY ${names} `}ORDER BY ${time} DESC) <= ${pastSteps} ORDER BY ${time}`
}

/** The rows of a training's query, as they stand after FROM; undefined for a model without such a query. */
export const rowsOfQuery = ({ data_source: db, fetch_data_query: query }: ModelRecord): string | undefined =>
  query === null || query === '' ? undefined : rowsOf({ db, query })

/** The query for the rows that a training's query gives now, beside their predictions; for a model without such a query, its description. */
export const joinedQuery = ({ project, model }: ModelName, record: ModelRecord): string => {
  const name = `${quoted(project)}.${quoted(model)}`
  const rows = rowsOfQuery(record)
  if (rows === undefined) return `DESCRIBE ${name}`
  return `SELECT t.*, m.${quoted(record.predict)} AS predicted\nFROM ${rows} AS t\nJOIN ${name} AS m\nLIMIT 100`
}
