import { foldName } from '../../../events/common.js'
import { Problem } from '../../basics/errors.js'
import { quoteName } from '../../dialect/strings.js'
import type { StatementOf } from '../statements/statement.js'

// In back-quotes these are always names. In double quotes they would be texts if there is no such column.
const off = '(`actual` - `prediction`)'

/** A row whose true value is unknown does not count. */
const right = 'CASE WHEN `actual` = `prediction` THEN 1.0 WHEN `actual` IS NOT NULL THEN 0.0 END'

/** Metrics over the columns actual and prediction, under their names in MindsDB. */
const metrics: Readonly<Record<string, string>> = {
  accuracy_score: `avg(${right})`,
  balanced_accuracy_score: 'avg(recall)',
  mean_absolute_error: `avg(abs${off})`,
  mean_squared_error: `avg(${off} * ${off})`,
  root_mean_squared_error: `sqrt(avg(${off} * ${off}))`,
  // Both averages are over the rows with both values.
  r2_score: `1 - avg(${off} * ${off}) / nullif(var_pop(\`actual\`) FILTER (WHERE \`prediction\` IS NOT NULL), 0)`,
}

/** Metrics that are averages over the classes, so that each class has the same weight. */
const ofClasses = new Set(['balanced_accuracy_score'])

const byClass = (query: string): string =>
  `SELECT avg(${right}) AS recall FROM (${query}) AS answered WHERE \`actual\` IS NOT NULL GROUP BY \`actual\``

/**
 * `EVALUATE metric FROM (SELECT …)` as a SELECT with one cell. The column has the name of the metric as the user typed it.
 *
 * @example evaluateAsSelect({ kind: 'evaluate', metric: 'r2_score', query: 'SELECT …', using: {} })
 */
export const evaluateAsSelect = ({ metric, query, using }: StatementOf<'evaluate'>): string => {
  const name = foldName(metric)
  const expression = Object.hasOwn(metrics, name) ? metrics[name] : undefined
  if (expression === undefined)
    throw new Problem('bad_statement', 'No such metric', `${metric} is not a metric`, {
      hint: `Metrics: ${Object.keys(metrics).join(', ')}.`,
    })
  const [option] = Object.keys(using)
  if (option !== undefined)
    throw new Problem('bad_statement', 'No such option', `USING has no option ${option}`, { hint: 'A metric takes no options.' })
  return `SELECT ${expression} AS ${quoteName(metric)} FROM (${ofClasses.has(name) ? byClass(query) : query}) AS evaluated`
}
