import type { Kind } from '../events/catalogue/catalogue.js'
import { historyOf, jsonColumn, nameColumn, textColumn } from './history.js'
import { conversations, messages } from './conversations.js'
import { jobRuns } from './job-runs.js'
import { models, modelVersions } from './models.js'
import type { Projection } from './contract/projection.js'

/** Projects. */
const projects = historyOf('project', { name: nameColumn })

/** Skills of all projects. */
const skills = historyOf('skill', { project: textColumn, name: nameColumn, type: textColumn, params: jsonColumn })

/** Agents of all projects; `skills` is a JSON array of the skills that the agent uses, by stream. */
const agents = historyOf('agent', {
  project: textColumn,
  name: nameColumn,
  model_name: textColumn,
  provider: textColumn,
  skills: jsonColumn,
  params: jsonColumn,
})

/** Chatbots of all projects; `agent` and `database` are streams. */
const chatbots = historyOf('chatbot', {
  project: textColumn,
  name: nameColumn,
  agent: textColumn,
  model_name: textColumn,
  database: textColumn,
  is_running: { type: 'BOOLEAN' },
  params: jsonColumn,
})

/** Connections to other systems; secrets stand in `parameters` as references to payloads. */
const databases = historyOf('database', { name: nameColumn, engine: textColumn, parameters: jsonColumn })

/** Views of all projects: the text of each query, expanded when it is read. */
const views = historyOf('view', { project: textColumn, name: nameColumn, query: textColumn, database: textColumn })

/** Uploaded tables; `content` is the hash of the Parquet blob that holds the rows. */
const files = historyOf('file', {
  name: nameColumn,
  content: textColumn,
  bytes: { type: 'BIGINT' },
  row_count: { type: 'BIGINT' },
  columns: jsonColumn,
  original_name: textColumn,
})

/** Defaults for all projects, set while the service ran; secrets stand in `value` as references to payloads. */
const configs = historyOf('config', { name: nameColumn, value: jsonColumn })

/** Names that users gave to engines; secrets stand in `parameters` as references to payloads. */
const engines = historyOf('engine', { name: nameColumn, handler: textColumn, parameters: jsonColumn })

/** Jobs of all projects; times are UTC texts. A run that begins moves `next_run_at`; the runs themselves are in job-runs.ts. */
const jobs = historyOf(
  'job',
  {
    project: textColumn,
    name: nameColumn,
    query: textColumn,
    if_query: textColumn,
    start_at: textColumn,
    end_at: textColumn,
    schedule: {
      type: 'VARCHAR',
      assigns: `CASE WHEN (data->'$.schedule') IS NOT NULL THEN coalesce(data->'$.schedule.said', 'null'::JSON) END`,
    },
    next_run_at: {
      type: 'VARCHAR',
      assigns: `CASE type WHEN 'JobCreated' THEN data->'$.start_at' WHEN 'JobExpired' THEN 'null'::JSON ELSE data->'$.next_run_at' END`,
    },
  },
  ['JobUpdated', 'JobRunStarted', 'JobExpired'],
)

/** Knowledge bases of all projects; secrets stand in their settings as references to payloads. */
const knowledgeBases = historyOf('knowledge_base', {
  project: textColumn,
  name: nameColumn,
  embedding_model: jsonColumn,
  reranking_model: jsonColumn,
  storage: jsonColumn,
  content_columns: jsonColumn,
  metadata_columns: jsonColumn,
  id_column: textColumn,
  chunking: jsonColumn,
  params: jsonColumn,
})

/** The projections of all kinds of resources. */
export const resourceProjections: Readonly<Record<Kind, readonly Projection[]>> = {
  project: [projects],
  skill: [skills],
  agent: [agents],
  chatbot: [chatbots],
  conversation: [conversations, messages],
  database: [databases],
  view: [views],
  file: [files],
  config: [configs],
  engine: [engines],
  knowledge_base: [knowledgeBases],
  model: [models, modelVersions],
  job: [jobs, jobRuns],
}
