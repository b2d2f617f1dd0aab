import { quoted } from '../../api/sql.js'
import type { ModelName, ModelRecord, Report } from './reports.js'

/** Steps of all series that a picture has room for. */
export const stepsMax = 2_000

/** The column of time of a model of series, and the columns that tell its series apart. */
export const seriesColumns = (plan: Report['plan']): { order: string; keys: string[] } => {
  const options = JSON.parse(plan.find(({ name }) => name === 'options')?.value ?? '{}') as {
    order_by?: string
    group_by?: string[] | string
  }
  return { order: options.order_by ?? '', keys: [options.group_by ?? []].flat() }
}

/** What a version of a model of series says is to come, with the range that it is expected in. */
export const forecastQuery = ({ project, model }: ModelName, { predict, version }: ModelRecord, plan: Report['plan']): string => {
  const { order, keys } = seriesColumns(plan)
  const columns = [order, ...keys, predict, `${predict}_min`, `${predict}_max`].map(quoted).join(', ')
  return `SELECT ${columns}
FROM ${quoted(project)}.${quoted(model)}.${version} WHERE ${quoted(order)} > LATEST ORDER BY ${[...keys, order].map(quoted).join(', ')} LIMIT ${stepsMax}`
}

/** The rows that a model learned from, beside what it says of them; of one that learned from none, what is known of it. */
export const joinedQuery = ({ project, model }: ModelName, { predict, fetch_data_query: rows }: ModelRecord): string => {
  const name = `${quoted(project)}.${quoted(model)}`
  if (rows === null || rows === '') return `DESCRIBE ${name}`
  return `SELECT t.*, m.${quoted(predict)} AS predicted\nFROM (${rows}) AS t\nJOIN ${name} AS m\nLIMIT 100`
}
