import { history, jsonColumn, nameColumn, textColumn } from './history.js'

/** Projects. */
export const projects = history({
  name: 'projects',
  begins: 'ProjectCreated',
  changes: ['ProjectRenamed'],
  ends: ['ProjectDeleted'],
  columns: { name: nameColumn },
})

/** Skills of all projects. */
export const skills = history({
  name: 'skills',
  begins: 'SkillCreated',
  changes: ['SkillUpdated', 'SkillRenamed'],
  ends: ['SkillDeleted'],
  columns: { project: textColumn, name: nameColumn, type: textColumn, params: jsonColumn },
})

/** Agents of all projects; `skills` is a JSON array of what each uses, by stream. */
export const agents = history({
  name: 'agents',
  begins: 'AgentCreated',
  changes: ['AgentUpdated', 'AgentRenamed'],
  ends: ['AgentDeleted'],
  columns: {
    project: textColumn,
    name: nameColumn,
    model_name: textColumn,
    provider: textColumn,
    skills: jsonColumn,
    params: jsonColumn,
  },
})

/** Chatbots of all projects; `agent` and `database` are streams. */
export const chatbots = history({
  name: 'chatbots',
  begins: 'ChatbotCreated',
  changes: ['ChatbotUpdated', 'ChatbotRenamed'],
  ends: ['ChatbotDeleted'],
  columns: {
    project: textColumn,
    name: nameColumn,
    agent: textColumn,
    model_name: textColumn,
    database: textColumn,
    is_running: { type: 'BOOLEAN' },
    params: jsonColumn,
  },
})

/** Connections to other systems; secrets stand in `parameters` as references to payloads. */
export const databases = history({
  name: 'databases',
  begins: 'DatabaseCreated',
  changes: ['DatabaseUpdated', 'DatabaseRenamed'],
  ends: ['DatabaseDeleted'],
  columns: { name: nameColumn, engine: textColumn, parameters: jsonColumn },
})

/** Views of all projects: the text of each query, expanded when it is read. */
export const views = history({
  name: 'views',
  begins: 'ViewCreated',
  changes: ['ViewUpdated', 'ViewRenamed'],
  ends: ['ViewDeleted'],
  columns: { project: textColumn, name: nameColumn, query: textColumn, database: textColumn },
})

/** Defaults that were set while the service ran, for all projects; secrets stand in `value` as references to payloads. */
export const configs = history({
  name: 'configs',
  begins: 'ConfigCreated',
  changes: ['ConfigUpdated'],
  ends: ['ConfigDeleted'],
  columns: { name: nameColumn, value: jsonColumn },
})

/** Names that users gave to engines; secrets stand in `parameters` as references to payloads. */
export const engines = history({
  name: 'engines',
  begins: 'EngineCreated',
  changes: [],
  ends: ['EngineDeleted'],
  columns: { name: nameColumn, handler: textColumn, parameters: jsonColumn },
})

/** Uploaded tables; `content` is the hash of the Parquet blob that holds the rows. */
export const files = history({
  name: 'files',
  begins: 'FileCreated',
  changes: ['FileReplaced'],
  ends: ['FileDeleted'],
  columns: {
    name: nameColumn,
    content: textColumn,
    bytes: { type: 'BIGINT' },
    row_count: { type: 'BIGINT' },
    columns: jsonColumn,
    original_name: textColumn,
  },
})

/** Jobs of all projects; times are UTC texts. A run that begins moves `next_run_at`; the runs themselves are in job-runs.ts. */
export const jobs = history({
  name: 'jobs',
  begins: 'JobCreated',
  changes: ['JobRunStarted', 'JobExpired'],
  ends: ['JobDeleted'],
  columns: {
    project: textColumn,
    name: nameColumn,
    query: textColumn,
    if_query: textColumn,
    start_at: textColumn,
    end_at: textColumn,
    schedule: { type: 'VARCHAR', assigns: `CASE type WHEN 'JobCreated' THEN coalesce(data->'$.schedule.said', 'null'::JSON) END` },
    next_run_at: {
      type: 'VARCHAR',
      assigns: `CASE type WHEN 'JobCreated' THEN data->'$.start_at' WHEN 'JobRunStarted' THEN data->'$.next_run_at' WHEN 'JobExpired' THEN 'null'::JSON END`,
    },
  },
})
