import type { DuckDBConnection } from '@duckdb/node-api'
import { foldName } from '../../../../events/common.js'
import { answerSuffixes, emptyColumns } from '../../../models/engines/contract/answer-columns.js'
import { expressionTemplate } from '../ast/templates.js'
import type { AstNode } from '../ast/json.js'
import { nullConstant } from '../ast/nodes.js'
import { quoteText } from '../../../dialect/strings.js'
import type { BoundModel } from '../scoring/scoring-model.js'

/** The columns of a model in FROM, in the order in which `*` shows them. */
export const modelColumns = ({ model }: BoundModel): string[] => {
  const target = model.target.name
  const outputs = answerSuffixes.map((suffix) => target + suffix)
  return [...model.inputs.map(({ name }) => name), target, ...emptyColumns, ...outputs]
}

/** The sources of a model's columns in one query: the scores, and the columns that the model was joined to. */
export type OutputSources = {
  /** A fresh tree of the reserved column. */
  scores: () => AstNode
  /** The value that an input received, by the input's name. */
  inputs: ReadonlyMap<string, AstNode>
  /** The target's own value in the data, if the data has it. */
  original: AstNode | undefined
}

const field = (name: string) => `struct_extract($scores, '${name}')`

// A whole number is written without a point, as everywhere in JSON.
const asJsonNumber = (x: string) =>
  `CASE WHEN ${x} IS NULL OR NOT isfinite(${x}) THEN 'null' WHEN ${x} = trunc(${x}) AND abs(${x}) < CAST('1e15' AS DOUBLE) THEN CAST(CAST(${x} AS BIGINT) AS VARCHAR) ELSE CAST(${x} AS VARCHAR) END`

const labelSql = (label: string | number | boolean) => (typeof label === 'string' ? quoteText(label) : String(label))

const valueSql = ({ model }: BoundModel): string => {
  const classes = model.target.classes
  return classes ? `list_extract([${classes.map(labelSql).join(', ')}], CAST(${field('value')} AS INTEGER) + 1)` : field('value')
}

const anomaly = `CASE WHEN TRY_CAST($original AS DOUBLE) IS NULL THEN NULL ELSE TRY_CAST($original AS DOUBLE) < ${field('min')} OR TRY_CAST($original AS DOUBLE) > ${field('max')} END`
const truth = `coalesce(CAST(to_json($original) AS VARCHAR), 'null')`

const bounds = `', "confidence_lower_bound": ', ${asJsonNumber(field('min'))}, ', "confidence_upper_bound": ', ${asJsonNumber(field('max'))}`

/** The reason for a missing answer, as the rest of a JSON object. */
const reasonSql = (reasons: readonly string[]): string =>
  `concat(', "reason": "', list_extract([${reasons.map(quoteText).join(', ')}], CAST(${field('reason')} AS INTEGER) + 1), '"')`

/** The bounds, and the reason if there is one. */
const restSql = ({ model: { reasons } }: BoundModel): string =>
  reasons ? `${bounds}, CASE WHEN ${field('reason')} IS NULL THEN '' ELSE ${reasonSql(reasons)} END` : bounds

const regressionExplain = (
  bound: BoundModel,
) => `concat('{"predicted_value": ', ${asJsonNumber(field('value'))}, ', "confidence": ', ${asJsonNumber(field('confidence'))},
  ', "anomaly": ', coalesce(CAST((${anomaly}) AS VARCHAR), 'null'), ', "truth": ', ${truth}, ${restSql(bound)}, '}')`

const classExplain = (bound: BoundModel): string => {
  const classes = bound.model.target.classes ?? []
  const parts = classes.map(
    (label, index) => `${quoteText(`, ${JSON.stringify(`probability_class_${label}`)}: `)}, ${asJsonNumber(field(`p${index}`))}`,
  )
  return `concat('{"predicted_value": ', coalesce(CAST(to_json(${valueSql(bound)}) AS VARCHAR), 'null'), ', "confidence": ', ${asJsonNumber(field('confidence'))},
    ', "anomaly": null, "truth": ', ${truth}, ', "confidence_lower_bound": null, "confidence_upper_bound": null', ${parts.join(', ')}, '}')`
}

const outputSql = (bound: BoundModel, column: string): string => {
  const { name, classes } = bound.model.target
  switch (column) {
    case name:
      return valueSql(bound)
    case `${name}_original`:
      return '$original'
    case `${name}_confidence`:
      return field('confidence')
    case `${name}_explain`:
      return classes ? classExplain(bound) : regressionExplain(bound)
    case `${name}_anomaly`:
      return classes ? 'CAST(NULL AS BOOLEAN)' : anomaly
    case `${name}_min`:
      return classes ? 'CAST(NULL AS DOUBLE)' : field('min')
    case `${name}_max`:
      return classes ? 'CAST(NULL AS DOUBLE)' : field('max')
    default:
      return 'CAST(NULL AS VARCHAR)'
  }
}

/** The model's own spelling of a column, or undefined when it has no such column. */
export const modelColumn = (bound: BoundModel, name: string): string | undefined => {
  const wanted = foldName(name)
  return modelColumns(bound).find((column) => foldName(column) === wanted)
}

/** Whether a column needs the model to run. */
export const isScored = (bound: BoundModel, column: string): boolean =>
  !bound.model.inputs.some(({ name }) => name === column) && ![...emptyColumns, `${bound.model.target.name}_original`].includes(column)

/** Whether a column shows more than the value and its confidence: the bounds, or the probabilities of all classes. */
export const showsAll = ({ model }: BoundModel, column: string): boolean => {
  const { name, classes } = model.target
  return column === `${name}_explain` || (!classes && ['_anomaly', '_min', '_max'].some((suffix) => column === name + suffix))
}

/** The expression of one of a model's columns. Columns that the query does not read get none, so they cost nothing. */
export const outputExpression = async (
  connection: DuckDBConnection,
  bound: BoundModel,
  column: string,
  sources: OutputSources,
): Promise<AstNode> => {
  if (bound.model.inputs.some(({ name }) => name === column)) return sources.inputs.get(column) ?? nullConstant()
  const original = sources.original ?? nullConstant()
  return expressionTemplate(connection, outputSql(bound, column), { scores: sources.scores(), original })
}
