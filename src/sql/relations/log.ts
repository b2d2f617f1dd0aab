import { isInProject, kinds, pluralOf, type Kind } from '../../../events/catalogue.js'
import { answerRelations, place, recorded, whence } from './answers.js'
import { conversations, messages } from './conversations.js'
import { jobRuns, jobsHistory } from './job-runs.js'
import { knowledgeSearches } from './knowledge-searches.js'
import { accuracy, coverage, outcomes } from './outcomes.js'
import { projections } from './projections.js'
import { at, column, heldAt, masked, nocase, type Relation } from './relation.js'
import { usage } from './usage.js'

const events: Relation = {
  name: 'events',
  about: 'The log itself: one row for each event.',
  kind: 'BASE TABLE',
  columns: [
    place,
    column('stream', 'VARCHAR', 'Resource that the event belongs to.'),
    column('version', 'BIGINT', "Place in the resource's own history, from 1."),
    column('type', 'VARCHAR', 'What happened.'),
    column('schema', 'INTEGER', 'Version of the shape of data.'),
    ...whence,
    column('correlation', 'VARCHAR', 'What the request belongs to.'),
    column(
      'causation',
      'VARCHAR',
      'What caused the request; of what the service does by itself the event that it follows from: event/<position>.',
    ),
    column('traceparent', 'VARCHAR', 'Where the request stands in a distributed trace (W3C Trace Context).'),
    column('data', 'VARCHAR', 'What the event says, as JSON text; secrets show as ******.'),
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
  column('project', 'VARCHAR', 'Project of the model, as it was named then.'),
  column('model', 'VARCHAR', 'Name of the model, as it was then.'),
  column('model_id', 'VARCHAR', 'Stream of the model.'),
  column('version', 'INTEGER', 'Version that answered.'),
]

const predictions: Relation = {
  name: 'predictions',
  about: 'Predictions that were answered row by row, with what was sent and what came of it.',
  kind: 'BASE TABLE',
  columns: [
    ...recorded,
    ...ofModel,
    column('row', 'INTEGER', 'Place of the row in its request, from 0.'),
    column('input', 'VARCHAR', 'What was sent, as JSON text.'),
    column('output', 'VARCHAR', 'What was answered, as JSON text: value, confidence, min, max.'),
    column('readable', 'BOOLEAN', 'False when the row was erased.'),
  ],
  sql: served('predictions', 'e.row, CAST(e.input AS VARCHAR) AS input, CAST(e.output AS VARCHAR) AS output, e.readable'),
}

const receipts: Relation = {
  name: 'prediction_receipts',
  about: 'One row for each time a model answered: how many rows, and for which statement.',
  kind: 'BASE TABLE',
  columns: [
    ...recorded,
    ...ofModel,
    column('rows', 'BIGINT', 'How many rows were scored.'),
    column('statement', 'VARCHAR', 'Statement that scored them, if it was SQL; secrets are cut out.'),
    column('read_at', 'BIGINT', 'Log position that the statement saw.'),
  ],
  sql: served('prediction_receipts', 'e.rows, e.statement, e.read_at'),
}

const erasures: Relation = {
  name: 'erasures',
  about: 'What was erased: rows of predictions, answers of agents, secrets, contents of files, training matrices.',
  kind: 'BASE TABLE',
  columns: [
    ...recorded,
    column('what', 'VARCHAR', 'What was asked for: prediction, answer, conversation, request, file, matrix, secrets or before.'),
    column('subject', 'VARCHAR', 'Which it was: a position, a request, a name, a time.'),
    column('reason', 'VARCHAR', 'Why, as it was given.'),
    column('payloads', 'BIGINT', 'How many payloads lost their keys.'),
    column('blobs', 'VARCHAR[]', 'SHA-256 of the contents that are gone.'),
  ],
  sql: `
    SELECT position, recorded_at, actor, source, request, what, subject, reason, len(payloads) AS payloads, blobs
    FROM ledger.erasures WHERE position <= $position`,
}

const databaseQueries: Relation = {
  name: 'database_queries',
  about: 'What connected databases were sent: one row for each statement, whatever came of it.',
  kind: 'BASE TABLE',
  columns: [
    ...recorded,
    column('database', 'VARCHAR', 'Connection that was asked, as it was named then.'),
    column('database_id', 'VARCHAR', 'Stream of the connection.'),
    column('version', 'INTEGER', 'Version of the connection: which of its parameters were used.'),
    column('purpose', 'VARCHAR', 'Why it was asked: query, training or skill.'),
    column('statement', 'VARCHAR', 'Text that it got; constants were sent beside it, and secrets are cut out.'),
    column('rows', 'BIGINT', 'Rows that it answered.'),
    column('bytes', 'BIGINT', 'Bytes of their values.'),
    column('duration_ms', 'DOUBLE', 'Milliseconds from the question to the end of the answer.'),
    column(
      'outcome',
      'VARCHAR',
      'complete; failed when the database refused it or broke off; cut when its reader left or a limit ended it; lost when the process that talked to the database ended.',
    ),
    column('asked_by', 'VARCHAR', 'Who asked; empty for what the service does by itself.'),
    column('model', 'VARCHAR', 'Model that was trained with the rows, as it was named then.'),
    column('model_id', 'VARCHAR', 'Stream of this model.'),
    column('model_version', 'INTEGER', 'Version that was trained.'),
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
  about: 'Everything that is there, one row for each resource of any kind; log.resources AT (VERSION => 40) lists what was.',
  kind: 'BASE TABLE',
  columns: [
    column('kind', 'VARCHAR', `What it is: ${kinds.slice(0, -1).join(', ')} or ${kinds.at(-1)}.`),
    column('project', 'VARCHAR', 'Project that holds it; empty for what is in none.'),
    column('project_id', 'VARCHAR', 'Stream of that project.'),
    column('name', 'VARCHAR', 'Name of it; compared without case.'),
    column('stream', 'VARCHAR', 'Stream of it in log.events.'),
    column('id', 'BIGINT', 'Position of the event that created it; the id that REST shows.'),
    column('created_at', 'TIMESTAMP', 'When it was created (UTC).'),
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
