import { isInProject, kinds, pluralOf, type Kind } from '../../../events/catalogue/catalogue.js'
import { erasureKinds } from '../../../events/records/log.js'
import { answerRelations, place, recorded, whence } from './answers.js'
import { conversations, messages } from './conversations.js'
import { jobRuns, jobsHistory } from './job-runs.js'
import { knowledgeSearches } from './knowledge-searches.js'
import { accuracy, coverage, outcomes } from './outcomes.js'
import { projections } from './projections.js'
import { at, column, heldAt, masked, nocase, type Relation } from './relation.js'
import { usage } from './usage.js'

/** `oneOf(['a', 'b', 'c'])` → `'a, b or c'` */
const oneOf = (names: readonly string[]): string => `${names.slice(0, -1).join(', ')} or ${names.at(-1) ?? ''}`

const events: Relation = {
  name: 'events',
  about: 'The log itself: one row for each event.',
  kind: 'BASE TABLE',
  columns: [
    place,
    column('stream', 'VARCHAR', 'Resource that the event belongs to.'),
    column('version', 'BIGINT', 'Place of the event in the stream, from 1.'),
    column('type', 'VARCHAR', 'Type of the event: what happened.'),
    column('schema', 'INTEGER', 'Version of the schema of the data.'),
    ...whence,
    column('correlation', 'VARCHAR', 'The id that related requests share.'),
    column('causation', 'VARCHAR', 'The cause of the request; for own work of the service the causing event: event/<position>.'),
    column('traceparent', 'VARCHAR', 'Place of the request in a distributed trace (W3C Trace Context).'),
    column('data', 'VARCHAR', 'The data of the event, as JSON text; secrets show as ******.'),
  ],
  sql: `
    SELECT position, stream, version, type, schema, recorded_at, actor, source, request, correlation, causation, traceparent, ${masked('data')} AS data
    FROM ledger.events WHERE position <= $position`,
}

const served = (table: string, columns: string) => `
    SELECT e.position, e.recorded_at, e.actor, e.source, e.request, ${nocase('p.name')} AS project, ${nocase('m.name')} AS model, e.model AS model_id,
      e.version, ${columns}
    FROM ledger.${table} AS e
    LEFT JOIN ledger.models_history AS m ON m.stream = e.model AND ${heldAt('m', 'e.position')}
    LEFT JOIN ledger.projects_history AS p ON p.stream = m.project AND ${heldAt('p', 'e.position')}
    WHERE e.position <= $position`

const ofModel = [
  column('project', 'VARCHAR', 'Project of the model, by its name at that time.'),
  column('model', 'VARCHAR', 'Name of the model at that time.'),
  column('model_id', 'VARCHAR', 'Stream of the model.'),
  column('version', 'INTEGER', 'Version of the model that answered.'),
]

const predictions: Relation = {
  name: 'predictions',
  about: 'Predictions for single rows, with the input and the output.',
  kind: 'BASE TABLE',
  columns: [
    ...recorded,
    ...ofModel,
    column('row', 'INTEGER', 'Place of the row in its request, from 0.'),
    column('input', 'VARCHAR', 'The input, as JSON text.'),
    column('output', 'VARCHAR', 'The output, as JSON text: value, confidence, min, max.'),
    column('readable', 'BOOLEAN', 'False when the row was erased.'),
  ],
  sql: served('predictions', 'e.row, CAST(e.input AS VARCHAR) AS input, CAST(e.output AS VARCHAR) AS output, e.readable'),
}

const receipts: Relation = {
  name: 'prediction_receipts',
  about: 'Records of models that answered, one row for each time: the number of rows, and the statement.',
  kind: 'BASE TABLE',
  columns: [
    ...recorded,
    ...ofModel,
    column('rows', 'BIGINT', 'How many rows were scored.'),
    column('statement', 'VARCHAR', 'SQL statement that scored the rows, if there was one; secrets are cut out.'),
    column('read_at', 'BIGINT', 'Log position that the statement saw.'),
  ],
  sql: served('prediction_receipts', 'e.rows, e.statement, e.read_at'),
}

const erasures: Relation = {
  name: 'erasures',
  about: 'Erasures of predicted rows, answers of agents, messages, documents, secrets, files and training matrices.',
  kind: 'BASE TABLE',
  columns: [
    ...recorded,
    column('what', 'VARCHAR', `Kind of the target: ${oneOf(erasureKinds)}.`),
    column('subject', 'VARCHAR', 'The target: a position, an id, a name or a time.'),
    column('reason', 'VARCHAR', 'The given reason.'),
    column('payloads', 'BIGINT', 'How many payloads lost their keys.'),
    column('blobs', 'VARCHAR[]', 'SHA-256 of the erased blobs.'),
  ],
  sql: `
    SELECT position, recorded_at, actor, source, request, what, subject, reason, len(payloads) AS payloads, blobs
    FROM ledger.erasures WHERE position <= $position`,
}

const databaseQueries: Relation = {
  name: 'database_queries',
  about: 'Statements to connected databases: one row for each, with any outcome.',
  kind: 'BASE TABLE',
  columns: [
    ...recorded,
    column('database', 'VARCHAR', 'The connection, by its name at that time.'),
    column('database_id', 'VARCHAR', 'Stream of the connection.'),
    column('version', 'INTEGER', 'Version of the connection: which of its parameters were used.'),
    column('purpose', 'VARCHAR', 'Purpose: query, training or skill.'),
    column(
      'statement',
      'VARCHAR',
      'Text that the database got, without secrets. It has the constants of a query, unless PostgreSQL got them beside the text of a scan.',
    ),
    column('rows', 'BIGINT', 'Rows that the database returned.'),
    column('bytes', 'BIGINT', 'Bytes of the values in these rows.'),
    column('duration_ms', 'DOUBLE', 'Milliseconds from the statement to the end of the answer.'),
    column(
      'outcome',
      'VARCHAR',
      'complete; failed when the database refused the statement or broke off; cut when the reader left or a limit ended the statement; lost when the process that talked to the database ended.',
    ),
    column('asked_by', 'VARCHAR', 'Actor that sent the query; empty for own work of the service.'),
    column('model', 'VARCHAR', 'Model that was trained with the rows, by its name at that time.'),
    column('model_id', 'VARCHAR', 'Stream of the model that was trained with the rows.'),
    column('model_version', 'INTEGER', 'Version of the model that was trained with the rows.'),
  ],
  sql: `
    SELECT q.position, q.recorded_at, q.actor, q.source, q.request, ${nocase('d.name')} AS database, q.connection AS database_id, q.version,
      q.purpose, q.statement, q.rows, q.bytes, q.duration_ms, q.outcome, q.asked_by,
      ${nocase('m.name')} AS model, q.model AS model_id, q.model_version
    FROM ledger.database_queries AS q
    LEFT JOIN ledger.databases_history AS d ON d.stream = q.connection AND ${heldAt('d', 'q.position')}
    LEFT JOIN ledger.models_history AS m ON m.stream = q.model AND ${heldAt('m', 'q.position')}
    WHERE q.position <= $position`,
}

const ofKind = (kind: Kind) => `
      SELECT '${kind}' AS kind, ${isInProject(kind) ? 'project' : 'CAST(NULL AS VARCHAR) AS project'}, CAST(name AS VARCHAR) AS name, stream, id, created_at
      FROM ${at(pluralOf(kind))} AS t`

const resources: Relation = {
  name: 'resources',
  about: 'All current resources of all kinds, one row for each; log.resources AT (VERSION => 40) lists those at position 40.',
  kind: 'BASE TABLE',
  columns: [
    column('kind', 'VARCHAR', `Kind of the resource: ${oneOf(kinds)}.`),
    column('project', 'VARCHAR', 'Project of the resource; empty if it is in none.'),
    column('project_id', 'VARCHAR', 'Stream of the project.'),
    column('name', 'VARCHAR', 'Name of the resource; compared without case.'),
    column('stream', 'VARCHAR', 'Stream of the resource in log.events.'),
    column('id', 'BIGINT', 'Position of the event that created the resource; the id that REST shows.'),
    column('created_at', 'TIMESTAMP', 'When the resource was created (UTC).'),
  ],
  sql: `
    SELECT r.kind, ${nocase('p.name')} AS project, r.project AS project_id, ${nocase('r.name')} AS name, r.stream, r.id, r.created_at
    FROM (${kinds.map(ofKind).join(' UNION ALL ')}
    ) AS r LEFT JOIN ledger.projects_history AS p ON p.stream = r.project AND ${heldAt('p', '$position')}
    ORDER BY r.id`,
}

/** The schema `log`. */
export const logRelations: readonly Relation[] = [
  ...[events, resources, predictions, receipts, outcomes, accuracy, coverage],
  ...[...answerRelations, usage, conversations, messages],
  ...[databaseQueries, knowledgeSearches, erasures, jobRuns, jobsHistory, projections],
]
