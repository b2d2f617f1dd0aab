import type { ProjectKind } from '../../../events/catalogue/catalogue.js'
import { systemDatabases } from '../../catalogue/system-databases.js'
import { quoteText, keywords } from '../../dialect/strings.js'
import { jobsHistory } from './job-runs.js'
import {
  addedColumns,
  addedItems,
  answeringVersion,
  at,
  column,
  heldAt,
  joinedEvents,
  masked,
  nocase,
  projectColumn,
  upTo,
  nameOf,
  type Relation,
  type ResourceRelation,
} from './relation.js'

const skills: ResourceRelation = {
  name: 'skills',
  table: 'skills',
  about: 'Skills: the data that agents may use.',
  columns: [
    nameOf('skill'),
    projectColumn,
    column('TYPE', 'VARCHAR', 'Type of the skill, such as text2sql.'),
    column('PARAMS', 'VARCHAR', 'Settings as JSON text; secrets show as ******.'),
  ],
  select: (rows, moment, more, joins) => `
    SELECT ${nocase('r.name')} AS "NAME", ${nocase('p.name')} AS "PROJECT", r.type AS "TYPE", ${masked('r.params')} AS "PARAMS"${more}
    FROM ${rows} AS r${joins} LEFT JOIN ledger.projects_history AS p
      ON p.stream = r.project AND ${heldAt('p', moment)}
    WHERE $project IS NULL OR r.project = $project
    ORDER BY r.id, r.valid_from`,
}

const agents: ResourceRelation = {
  name: 'agents',
  table: 'agents',
  about: 'Agents: a language model with skills and settings.',
  columns: [
    nameOf('agent'),
    projectColumn,
    column('MODEL_NAME', 'VARCHAR', 'Language model that the agent uses.'),
    column('SKILLS', 'VARCHAR[]', 'Names of the skills that the agent may use.'),
    column('PARAMS', 'VARCHAR', 'Settings as JSON text; secrets show as ******.'),
  ],
  select: (rows, moment, more, joins) => `
    SELECT ${nocase('r.name')} AS "NAME", ${nocase('p.name')} AS "PROJECT", r.model_name AS "MODEL_NAME",
      coalesce(k.names, CAST([] AS VARCHAR[])) AS "SKILLS", ${masked('r.params')} AS "PARAMS"${more}
    FROM ${rows} AS r${joins}
    LEFT JOIN ledger.projects_history AS p
      ON p.stream = r.project AND ${heldAt('p', moment)}
    LEFT JOIN (
      SELECT r.stream, r.valid_from, list(CAST(s.name AS VARCHAR) ORDER BY r.place) AS names
      FROM (
        SELECT stream, valid_from, unnest(CAST(skills->'$[*].skill' AS VARCHAR[])) AS skill,
          unnest(range(len(CAST(skills->'$[*].skill' AS VARCHAR[])))) AS place
        FROM ${rows}
      ) AS r
      JOIN ledger.skills_history AS s
        ON s.stream = trim(r.skill, '"') AND ${heldAt('s', moment)}
      GROUP BY r.stream, r.valid_from
    ) AS k ON k.stream = r.stream AND k.valid_from = r.valid_from
    WHERE $project IS NULL OR r.project = $project
    ORDER BY r.id, r.valid_from`,
}

const chatbots: ResourceRelation = {
  name: 'chatbots',
  table: 'chatbots',
  about: 'Chatbots: an agent connected to a chat service.',
  columns: [
    nameOf('chatbot'),
    projectColumn,
    column('DATABASE', 'VARCHAR', 'Connection to the chat service.'),
    column('MODEL_NAME', 'VARCHAR', "Language model of the chatbot's agent; without an agent, its own model."),
    column('PARAMS', 'VARCHAR', 'Settings as JSON text; secrets show as ******.'),
    column('IS_RUNNING', 'BOOLEAN', 'Whether the chatbot answers.'),
    column('LAST_ERROR', 'VARCHAR', 'Always empty: log.messages has failures.'),
    column('WEBHOOK_TOKEN', 'VARCHAR', 'Always empty: the token is a secret, which the answer to the creation shows.'),
  ],
  select: (rows, moment, more, joins) => `
    SELECT ${nocase('r.name')} AS "NAME", ${nocase('p.name')} AS "PROJECT", ${nocase('d.name')} AS "DATABASE",
      CASE WHEN a.stream IS NULL THEN r.model_name ELSE a.model_name END AS "MODEL_NAME", ${masked('r.params')} AS "PARAMS", r.is_running AS "IS_RUNNING",
      CAST(NULL AS VARCHAR) AS "LAST_ERROR", CAST(NULL AS VARCHAR) AS "WEBHOOK_TOKEN"${more}
    FROM ${rows} AS r${joins}
    LEFT JOIN ledger.projects_history AS p
      ON p.stream = r.project AND ${heldAt('p', moment)}
    LEFT JOIN ledger.databases_history AS d
      ON d.stream = r.database AND ${heldAt('d', moment)}
    LEFT JOIN ledger.agents_history AS a
      ON a.stream = r.agent AND ${heldAt('a', moment)}
    WHERE $project IS NULL OR r.project = $project
    ORDER BY r.id, r.valid_from`,
}

/** A name in the form of a statement: in quotes if it needs them, as `nameText` of `src/dialect/strings.ts` writes it. */
const nameText = (name: string): string =>
  `CASE WHEN regexp_full_match(${name}, '[A-Za-z_][A-Za-z_0-9]*') AND lower(${name}) NOT IN (${[...keywords].map(quoteText).join(', ')})
          THEN ${name} ELSE '"' || replace(${name}, '"', '""') || '"' END`

/** `shownQuery` in `src/commands/rules/data-source.ts` gives REST the same text, by `queryOf`. */
const views: ResourceRelation = {
  name: 'views',
  table: 'views',
  about: 'Views: stored queries that are read like tables.',
  columns: [nameOf('view'), projectColumn, column('QUERY', 'VARCHAR', 'The stored query.')],
  select: (rows, moment, more, joins) => `
    SELECT ${nocase('r.name')} AS "NAME", ${nocase('p.name')} AS "PROJECT",
      CASE WHEN lower(r.database) <> lower(p.name) AND (o.name IS NOT NULL OR lower(r.database) IN (${systemDatabases.map(quoteText).join(', ')}))
        THEN 'SELECT * FROM ' || ${nameText('r.database')} || ' (' || r.query || ')' ELSE r.query END AS "QUERY"${more}
    FROM ${rows} AS r${joins}
    LEFT JOIN ledger.projects_history AS p
      ON p.stream = r.project AND ${heldAt('p', moment)}
    LEFT JOIN ledger.projects_history AS o
      ON lower(o.name) = lower(r.database) AND ${heldAt('o', moment)}
    WHERE $project IS NULL OR r.project = $project
    ORDER BY r.id, r.valid_from`,
}

const jobs: ResourceRelation = {
  name: 'jobs',
  table: 'jobs',
  about: 'Jobs: SQL statements on a schedule.',
  columns: [
    nameOf('job'),
    projectColumn,
    column('START_AT', 'TIMESTAMP', 'Time from which the job runs (UTC).'),
    column('END_AT', 'TIMESTAMP', 'End of the schedule (UTC).'),
    column('NEXT_RUN_AT', 'TIMESTAMP', 'When the job is due next (UTC); empty when there is no further run.'),
    column('SCHEDULE_STR', 'VARCHAR', 'How often the job runs; empty when it runs once.'),
    column('QUERY', 'VARCHAR', 'Statements of the job; secrets show as ******.'),
    column('IF_QUERY', 'VARCHAR', 'Query that must return a row for the job to run.'),
    column('VARIABLES', 'VARCHAR[]', 'Always empty: this service keeps no variables between statements.'),
  ],
  select: (rows, moment, more, joins) => `
    SELECT ${nocase('r.name')} AS "NAME", ${nocase('p.name')} AS "PROJECT", CAST(r.start_at AS TIMESTAMP) AS "START_AT",
      CAST(r.end_at AS TIMESTAMP) AS "END_AT", CAST(r.next_run_at AS TIMESTAMP) AS "NEXT_RUN_AT", r.schedule AS "SCHEDULE_STR",
      r.query AS "QUERY", r.if_query AS "IF_QUERY", CAST([] AS VARCHAR[]) AS "VARIABLES"${more}
    FROM ${rows} AS r${joins} LEFT JOIN ledger.projects_history AS p
      ON p.stream = r.project AND ${heldAt('p', moment)}
    WHERE $project IS NULL OR r.project = $project
    ORDER BY r.id, r.valid_from`,
}

/** The text that `modelRow` in `src/sql/facade/describe-model.ts` makes; as JSON, a merge would lose options that are null. */
const trainingOptions = `'{"target":' || CAST(to_json(r.target) AS VARCHAR)
        || CASE WHEN CAST(r.options AS VARCHAR) <> '{}' THEN ',"using":' || CAST(r.options AS VARCHAR) ELSE '' END
        || CASE WHEN r.keep_training_data = false THEN ',"keep_training_data":false' ELSE '' END || '}'`

/** The rows of versions. @param active the item ACTIVE with its comma */
const versionsWith =
  (active: string): ResourceRelation['select'] =>
  (rows, moment, more, joins) => `
    SELECT ${nocase('m.name')} AS "NAME", r.engine AS "ENGINE", ${nocase('p.name')} AS "PROJECT",
      ${active}r.version AS "VERSION", r.status AS "STATUS", r.accuracy AS "ACCURACY",
      r.target AS "PREDICT", 'up_to_date' AS "UPDATE_STATUS", r.report->>'$.engine.version' AS "MINDSDB_VERSION",
      r.error AS "ERROR", r.query AS "SELECT_DATA_QUERY",
      ${masked(trainingOptions)} AS "TRAINING_OPTIONS",
      CASE r.status WHEN 'generating' THEN 1 WHEN 'training' THEN 2 WHEN 'complete' THEN 3 END AS "CURRENT_TRAINING_PHASE",
      3 AS "TOTAL_TRAINING_PHASES",
      CASE r.status WHEN 'generating' THEN 'Reading' WHEN 'training' THEN 'Training' WHEN 'complete' THEN 'Complete' END AS "TRAINING_PHASE_NAME",
      r.tag AS "TAG", r.requested_at AS "CREATED_AT", r.seconds AS "TRAINING_TIME"${more}
    FROM ${rows} AS r${joins}
    JOIN ledger.models_history AS m
      ON m.stream = r.stream AND ${heldAt('m', moment)}
    LEFT JOIN ledger.projects_history AS p
      ON p.stream = m.project AND ${heldAt('p', moment)}
    WHERE $project IS NULL OR m.project = $project
    ORDER BY m.id, r.version, r.valid_from`

const activeColumn = column('ACTIVE', 'BOOLEAN', 'Whether this version answers requests that name no version.')

const models: ResourceRelation = {
  name: 'models',
  table: 'model_versions',
  about: 'Models: one row for each version.',
  columns: [
    nameOf('model'),
    column('ENGINE', 'VARCHAR', 'Engine that trained the version.'),
    projectColumn,
    activeColumn,
    column('VERSION', 'INTEGER', 'Number of the version, from 1.'),
    column('STATUS', 'VARCHAR', 'generating, training, complete or error.'),
    column('ACCURACY', 'DOUBLE', 'How well the version predicted rows that it was not trained on.'),
    column('PREDICT', 'VARCHAR', 'Column that the model predicts.'),
    column('UPDATE_STATUS', 'VARCHAR', 'Always up_to_date.'),
    column('MINDSDB_VERSION', 'VARCHAR', 'Release of the engine that trained the version; clients know it under this name.'),
    column('ERROR', 'VARCHAR', 'Why the training failed.'),
    column('SELECT_DATA_QUERY', 'VARCHAR', 'Query that returned the training data.'),
    column('TRAINING_OPTIONS', 'VARCHAR', 'The target, and the options under using, as JSON text; secrets show as ******.'),
    column('CURRENT_TRAINING_PHASE', 'INTEGER', 'Number of the current phase of the training.'),
    column('TOTAL_TRAINING_PHASES', 'INTEGER', 'Number of phases of a training.'),
    column('TRAINING_PHASE_NAME', 'VARCHAR', 'Name of the current phase of the training.'),
    column('TAG', 'VARCHAR', 'Tag given at the training.'),
    column('CREATED_AT', 'TIMESTAMP', 'Time of the request for the training (UTC).'),
    column('TRAINING_TIME', 'DOUBLE', 'Seconds that the training took.'),
  ],
  select: versionsWith(`${answeringVersion} = r.version AS "ACTIVE", `),
}

/** An activation changes the model and no version, so a row of a version does not tell it: the activations have a history of their own. */
const versions: ResourceRelation = {
  ...models,
  columns: models.columns.filter((one) => one !== activeColumn),
  id: 'm.id',
  select: versionsWith(''),
}

const activations: ResourceRelation = {
  name: 'model_activations',
  table: 'models',
  about: 'Which version of each model answers requests that name no version, and whether predicted rows are kept.',
  columns: [
    nameOf('model'),
    projectColumn,
    column('ACTIVE_VERSION', 'INTEGER', 'Version that answers; empty before the first is complete.'),
    column('RECORDING', 'VARCHAR', 'all: the rows of prediction requests (REST, MCP) are kept; off: these rows are not kept.'),
  ],
  select: (rows, moment, more, joins) => `
    SELECT ${nocase('r.name')} AS "NAME", ${nocase('p.name')} AS "PROJECT", r.active AS "ACTIVE_VERSION", r.recording AS "RECORDING"${more}
    FROM ${rows} AS r${joins} LEFT JOIN ledger.projects_history AS p
      ON p.stream = r.project AND ${heldAt('p', moment)}
    WHERE $project IS NULL OR r.project = $project
    ORDER BY r.id, r.valid_from`,
}

/** Knowledge bases, with their inserted contents. */
const knowledgeBases: ResourceRelation = {
  name: 'knowledge_bases',
  table: 'knowledge_bases',
  about: 'Knowledge bases: documents that are found by their words or their meaning.',
  columns: [
    nameOf('knowledge base'),
    projectColumn,
    column(
      'EMBEDDING_MODEL',
      'VARCHAR',
      'Model that embeds texts, as JSON text; secrets show as ******. Empty if searches compare only words.',
    ),
    column('RERANKING_MODEL', 'VARCHAR', 'Model that orders the results of a search, as JSON text; empty if there is none.'),
    column('STORAGE', 'VARCHAR', 'Table for the vectors, as JSON text; it is stored, but not used.'),
    column('METADATA_COLUMNS', 'VARCHAR', 'Columns of metadata, as a JSON array; empty: all columns except id and content.'),
    column('CONTENT_COLUMNS', 'VARCHAR', 'Columns of content, as a JSON array; empty: content.'),
    column('ID_COLUMN', 'VARCHAR', 'Column that identifies a document; empty: id.'),
    column('PARAMS', 'VARCHAR', 'Settings as JSON text; secrets show as ******.'),
    column('INSERT_STARTED_AT', 'TIMESTAMP', 'When the last insert was recorded (UTC).'),
    column('INSERT_FINISHED_AT', 'TIMESTAMP', 'When the last insert was recorded (UTC): an insert has ended when it is recorded.'),
    column('PROCESSED_ROWS', 'BIGINT', 'Number of documents that were ever inserted.'),
    column('ERROR', 'VARCHAR', 'Always empty: an insert that fails says so in its answer.'),
    column('QUERY_ID', 'BIGINT', 'Always empty: no insert runs in the background.'),
  ],
  select: (rows, moment, more, joins) => `
    SELECT ${nocase('r.name')} AS "NAME", ${nocase('p.name')} AS "PROJECT", ${masked('r.embedding_model')} AS "EMBEDDING_MODEL",
      ${masked('r.reranking_model')} AS "RERANKING_MODEL", ${masked('r.storage')} AS "STORAGE",
      CAST(r.metadata_columns AS VARCHAR) AS "METADATA_COLUMNS", CAST(r.content_columns AS VARCHAR) AS "CONTENT_COLUMNS",
      r.id_column AS "ID_COLUMN", ${masked('r.params')} AS "PARAMS", c.last AS "INSERT_STARTED_AT", c.last AS "INSERT_FINISHED_AT",
      coalesce(c.documents, 0) AS "PROCESSED_ROWS", CAST(NULL AS VARCHAR) AS "ERROR", CAST(NULL AS BIGINT) AS "QUERY_ID"${more}
    FROM ${rows} AS r${joins} LEFT JOIN ledger.projects_history AS p
      ON p.stream = r.project AND ${heldAt('p', moment)}
    LEFT JOIN LATERAL (
      SELECT max(k.recorded_at) AS last, CAST(sum(k.documents) AS BIGINT) AS documents
      FROM ledger.knowledge_contents AS k
      WHERE k.knowledge_base = r.stream AND k.change = 'KnowledgeInserted' AND k.position <= $position
        AND (r.valid_to IS NULL OR k.position < r.valid_to)
    ) AS c ON true
    WHERE $project IS NULL OR r.project = $project
    ORDER BY r.id, r.valid_from`,
}

const current = (resource: ResourceRelation, name = resource.name, about = resource.about): Relation => ({
  name,
  about,
  kind: 'BASE TABLE',
  columns: resource.columns,
  sql: resource.select(at(resource.table), '$position', '', ''),
})

const past = (resource: ResourceRelation): Relation => {
  const added = addedColumns(resource.columns)
  return {
    name: `${resource.name}_history`,
    about: `${resource.about} With all past states.`,
    kind: 'BASE TABLE',
    columns: [...resource.columns, ...added],
    sql: resource.select(upTo(resource.table), 'r.valid_from', addedItems(added, resource.id), joinedEvents),
  }
}

/** The tables of the kinds that belong to projects. */
const ofKind: Readonly<Record<ProjectKind, ResourceRelation>> = {
  model: models,
  skill: skills,
  agent: agents,
  chatbot: chatbots,
  view: views,
  job: jobs,
  knowledge_base: knowledgeBases,
}

/** For clients, `jobs_history` is the history of the runs of jobs. */
const jobDefinitions: ResourceRelation = { ...jobs, name: 'job_definitions' }

const resources = Object.values(ofKind)

/** The tables of each project, and the tables of information_schema for all projects at once. */
export const resourceRelations: readonly Relation[] = [
  ...resources.map((resource) => current(resource)),
  current(models, 'models_versions', 'The rows of models again, under a name that existing clients use.'),
  ...[...resources.filter((resource) => resource !== jobs), activations, jobDefinitions].map((of) => past(of === models ? versions : of)),
  jobsHistory,
]
