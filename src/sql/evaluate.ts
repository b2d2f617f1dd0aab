import { foldName } from '../../events/common.js'
import { Problem } from '../errors.js'
import { quoteName } from './strings.js'
import type { StatementOf } from './statements/statement.js'

const off = '("actual" - "prediction")'

/** Metrics over the columns actual and prediction, under the names that the public service gives them. */
const metrics: Readonly<Record<string, string>> = {
  accuracy_score: 'avg(CASE WHEN "actual" = "prediction" THEN 1.0 ELSE 0.0 END)',
  mean_absolute_error: `avg(abs${off})`,
  mean_squared_error: `avg(${off} * ${off})`,
  root_mean_squared_error: `sqrt(avg(${off} * ${off}))`,
  r2_score: `1 - avg(${off} * ${off}) / nullif(var_pop("actual"), 0)`,
}

/**
 * `EVALUATE metric FROM (SELECT …)` as a SELECT with one cell, named after the metric as it was typed.
 *
 * @example evaluateAsSelect({ kind: 'evaluate', metric: 'r2_score', query: 'SELECT …', using: {} })
 */
export const evaluateAsSelect = ({ metric, query }: StatementOf<'evaluate'>): string => {
  const name = foldName(metric)
  const expression = Object.hasOwn(metrics, name) ? metrics[name] : undefined
  if (expression === undefined)
    throw new Problem('bad_statement', 'No such metric', `${metric} is not a metric`, {
      hint: `Metrics: ${Object.keys(metrics).join(', ')}.`,
    })
  return `SELECT ${expression} AS ${quoteName(metric)} FROM (${query}) AS evaluated`
}
