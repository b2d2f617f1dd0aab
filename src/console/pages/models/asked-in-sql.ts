import { quoted } from '../../api/sql.js'
import type { ModelName, ModelRecord, Report } from './reports.js'
import { rowsOf } from './statement.js'

/** The most rows of a forecast chart, over all series. */
export const stepsMax = 2_000

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
FROM ${quoted(project)}.${quoted(model)}.${version} WHERE ${quoted(order)} > LATEST ORDER BY ${[...keys, order].map(quoted).join(', ')} LIMIT ${stepsMax}`
}

/** The rows that the query of a training gives now, as they stand after FROM; undefined for a model without such a query. */
export const trainingRows = ({ data_source: db, fetch_data_query: query }: ModelRecord): string | undefined =>
  query === null || query === '' ? undefined : rowsOf({ db, query })

/** The query for the rows that a model learned from, beside its predictions; for a model without a training query, its description. */
export const joinedQuery = ({ project, model }: ModelName, record: ModelRecord): string => {
  const name = `${quoted(project)}.${quoted(model)}`
  const rows = trainingRows(record)
  if (rows === undefined) return `DESCRIBE ${name}`
  return `SELECT t.*, m.${quoted(record.predict)} AS predicted\nFROM ${rows} AS t\nJOIN ${name} AS m\nLIMIT 100`
}
