import { column, nocase, type Column, type Relation } from './relation.js'

const ofVersion = [
  column('project', 'VARCHAR', 'Project of the model.'),
  column('model', 'VARCHAR', 'Last name of the model.'),
  column('model_id', 'VARCHAR', 'Stream of the model.'),
  column('version', 'INTEGER', 'Version that predicted.'),
]

const lastName = (table: string, columns: string) => `
      SELECT stream, ${columns} FROM ledger.${table} WHERE valid_from <= $position
      QUALIFY row_number() OVER (PARTITION BY stream ORDER BY valid_from DESC) = 1`

/** Models and projects by their streams with their last names, including deleted ones. */
const names = `
    ledger_own_models AS (${lastName('models_history', 'project, name')}
    ), ledger_own_projects AS (${lastName('projects_history', 'name')}
    )`

const named = `${nocase('n.name')} AS project, ${nocase('m.name')} AS model, o.model AS model_id, o.version`
const joinNames = `LEFT JOIN ledger_own_models AS m ON m.stream = o.model LEFT JOIN ledger_own_projects AS n ON n.stream = m.project`

export const outcomes: Relation = {
  name: 'outcomes',
  about: 'True values of predicted rows, one row for each report.',
  kind: 'BASE TABLE',
  columns: [
    column('position', 'BIGINT', 'Position of the report in the log.'),
    column('recorded_at', 'TIMESTAMP', 'When the value was reported (UTC).'),
    column('actor', 'VARCHAR', 'Who reported the value.'),
    column('source', 'VARCHAR', 'Source of the report: rest, sql, mcp, cli or system.'),
    column('request', 'VARCHAR', 'Request that reported the value.'),
    ...ofVersion,
    column('prediction', 'BIGINT', 'Position of the prediction in log.predictions.'),
    column('prediction_request', 'VARCHAR', 'Request for the prediction.'),
    column('row', 'INTEGER', 'Place of the row in the request for the prediction, from 0.'),
    column('truth', 'VARCHAR', 'The true value, as JSON text.'),
    column('probability', 'DOUBLE', 'The probability that the model had given the class; empty for numbers.'),
    column('readable', 'BOOLEAN', 'False if the value was erased.'),
    column('replaced_by', 'BIGINT', 'Position of the next report of the same row; empty for the one that counts.'),
  ],
  sql: `
    WITH ${names}
    SELECT o.position, o.recorded_at, o.actor, o.source, o.request, ${named}, o.prediction, o.prediction_request, o.row,
      CAST(o.truth AS VARCHAR) AS truth, o.probability, o.readable,
      lead(o.position) OVER (PARTITION BY o.prediction, o.prediction_request, o.row ORDER BY o.position) AS replaced_by
    FROM ledger.outcomes AS o ${joinNames}
    WHERE o.position <= $position`,
}

/** Each predicted row with a known true value, and its prediction. If there are several reports, the last one counts. */
const known = `
    ${names}, ledger_own_reported AS (
      SELECT * FROM ledger.outcomes WHERE position <= $position
      QUALIFY row_number() OVER (PARTITION BY prediction, prediction_request, row ORDER BY position DESC) = 1
    ), ledger_own_known AS (
      SELECT r.model, r.version, r.recorded_at, r.probability,
        CAST(r.truth AS VARCHAR) = CAST(p.output->'$.value' AS VARCHAR) AS hit,
        TRY_CAST(r.truth AS DOUBLE) AS y, TRY_CAST(p.output->>'$.value' AS DOUBLE) AS predicted,
        TRY_CAST(p.output->>'$.min' AS DOUBLE) AS low, TRY_CAST(p.output->>'$.max' AS DOUBLE) AS high,
        TRY_CAST(p.output->>'$.confidence' AS DOUBLE) AS level
      FROM ledger_own_reported AS r JOIN ledger.predictions AS p ON p.position = r.prediction AND p.request = r.prediction_request AND p.row = r.row
      WHERE r.readable AND p.readable
    )`

/** The report of a version's training. */
const trained = `ledger_own_trained AS (
      SELECT stream, version, accuracy, coalesce(json_array_length(report->'$.classes'), 0) > 0 AS classified
      FROM ledger.model_versions_history WHERE valid_from <= $position
      QUALIFY row_number() OVER (PARTITION BY stream, version ORDER BY valid_from DESC) = 1
    )`

const ofNumbers = (expression: string) => `CASE WHEN NOT any_value(o.classified) THEN ${expression} END`
const ofClasses = (expression: string) => `CASE WHEN any_value(o.classified) THEN ${expression} END`
const squaredError = '(o.y - o.predicted) * (o.y - o.predicted)'
/**
 * SQL ends a query whose averages are not finite. Without this limit, one absurd true value would also remove the averages of all other
 * models.
 */
const isTame = `abs(o.y) < CAST('1e150' AS DOUBLE) AND abs(o.predicted) < CAST('1e150' AS DOUBLE)`
const ofTame = (expression: string) => ofNumbers(`CASE WHEN coalesce(bool_and(${isTame}), true) THEN ${expression} END`)
const averaged = (expression: string) => `avg(${expression}) FILTER (${isTame})`
const variance = `var_pop(o.y) FILTER (${isTame})`
/** A probability of 0 would have an infinite cost; this is the usual bound. */
const leastProbability = '1e-15'

const measures: readonly { column: Column; sql: string }[] = [
  { column: column('outcomes', 'BIGINT', 'How many predicted rows have a truth that can be read.'), sql: 'count(*)' },
  { column: column('first_outcome', 'TIMESTAMP', 'When the first of these truths was reported (UTC).'), sql: 'min(o.recorded_at)' },
  { column: column('last_outcome', 'TIMESTAMP', 'When the last of these truths was reported (UTC).'), sql: 'max(o.recorded_at)' },
  {
    column: column('trained', 'DOUBLE', 'Out-of-fold metric of the training: R² for numbers, accuracy for classes.'),
    sql: 'any_value(o.accuracy)',
  },
  {
    column: column('r2', 'DOUBLE', 'R² over these rows; only for numbers, and only if their truths differ.'),
    sql: ofTame(`CASE WHEN ${variance} > 0 THEN 1 - ${averaged(squaredError)} / ${variance} END`),
  },
  { column: column('rmse', 'DOUBLE', 'Root of the mean squared error; only for numbers.'), sql: ofTame(`sqrt(${averaged(squaredError)})`) },
  { column: column('mae', 'DOUBLE', 'Mean absolute error; only for numbers.'), sql: ofTame(averaged('abs(o.y - o.predicted)')) },
  {
    column: column('accuracy', 'DOUBLE', 'Share of rows whose class was predicted correctly; only for classes.'),
    sql: ofClasses('avg(CAST(o.hit AS INTEGER))'),
  },
  {
    column: column(
      'log_loss',
      'DOUBLE',
      'Mean negative logarithm of the predicted probability of the true class, if it is known; only for classes.',
    ),
    sql: ofClasses(`avg(-ln(greatest(o.probability, ${leastProbability}))) FILTER (o.probability IS NOT NULL)`),
  },
  {
    column: column('confidence', 'DOUBLE', 'Level of the intervals; the mean if rows had several levels: log.coverage has each level.'),
    sql: 'CASE WHEN min(o.level) FILTER (o.bounded) = max(o.level) FILTER (o.bounded) THEN min(o.level) FILTER (o.bounded) ELSE avg(o.level) FILTER (o.bounded) END',
  },
  {
    column: column('coverage', 'DOUBLE', 'Share of truths that lie within their interval; should be near confidence.'),
    sql: 'avg(CAST(o.covered AS INTEGER))',
  },
  {
    column: column('anomaly', 'DOUBLE', 'Share of truths that lie outside of their interval.'),
    sql: 'avg(CAST(NOT o.covered AS INTEGER))',
  },
]

const covered = 'o.y BETWEEN o.low AND o.high'

export const accuracy: Relation = {
  name: 'accuracy',
  about: 'Accuracy of each version of a model, by known true values; with AT, only those known at that time count.',
  kind: 'BASE TABLE',
  columns: [...ofVersion, ...measures.map((measure) => measure.column)],
  sql: `
    WITH ${known}, ${trained}, ledger_own_joined AS (
      SELECT o.*, t.accuracy, coalesce(t.classified, false) AS classified, o.low IS NOT NULL AND o.high IS NOT NULL AS bounded, ${covered} AS covered
      FROM ledger_own_known AS o LEFT JOIN ledger_own_trained AS t ON t.stream = o.model AND t.version = o.version
    ), ledger_own_measured AS (
      SELECT o.model, o.version, ${measures.map((measure) => `${measure.sql} AS "${measure.column.name}"`).join(', ')}
      FROM ledger_own_joined AS o GROUP BY o.model, o.version
    )
    SELECT ${named}, ${measures.map((measure) => `o."${measure.column.name}"`).join(', ')}
    FROM ledger_own_measured AS o ${joinNames} ORDER BY 1, 2, 4`,
}

export const coverage: Relation = {
  name: 'coverage',
  about: 'Share of true values within the predicted interval, by version and level.',
  kind: 'BASE TABLE',
  columns: [
    ...ofVersion,
    column('confidence', 'DOUBLE', 'Level of the intervals.'),
    column('outcomes', 'BIGINT', 'How many rows with an interval of this level have a truth that can be read.'),
    column('covered', 'BIGINT', 'How many of these truths lie within their interval.'),
    column('coverage', 'DOUBLE', 'Share of truths that lie within their interval; should be near confidence.'),
    column('mean_width', 'DOUBLE', 'Mean width of the intervals.'),
  ],
  sql: `
    WITH ${known}, ledger_own_measured AS (
      SELECT o.model, o.version, o.level AS confidence, count(*) AS outcomes, count(*) FILTER (${covered}) AS covered,
        avg(CAST(${covered} AS INTEGER)) AS coverage, avg(o.high - o.low) AS mean_width
      FROM ledger_own_known AS o WHERE o.low IS NOT NULL AND o.high IS NOT NULL GROUP BY ALL
    )
    SELECT ${named}, o.confidence, o.outcomes, o.covered, o.coverage, o.mean_width
    FROM ledger_own_measured AS o ${joinNames} ORDER BY 1, 2, 4, 5`,
}
