import { foldName, type Json, type JsonObject } from '../../events/common.js'
import { connectionEngines, driverOf, isOfFiles } from '../catalogue/connection-engines.js'
import { engineNamed } from '../catalogue/engines.js'
import { formerAgentParams } from '../catalogue/grants.js'
import { namesIn } from '../catalogue/names.js'
import { cutSecrets } from '../dialect/mask-secrets.js'
import type { Copy, RequestMethod } from './items.js'
import type { AgentRecord, ChatbotRecord, ConnectionRecord, EngineRow, FileRecord, JobRecord, SkillRecord, ViewRecord } from './records.js'
import { withoutMasks } from './secrets.js'

const created = (path: string, body: JsonObject): RequestMethod => ({ by: 'request', path, body })
const inProject = (project: string, kind: string): string => `/api/projects/${encodeURIComponent(project)}/${kind}`

export const projectCopy: Copy<{ name: string }> = {
  kind: 'project',
  settings: () => ({}),
  make: ({ name }) => created('/api/projects', { project: { name } }),
}

/** The names that users gave to engines; built-in names are not copied. */
export const engineCopy: Copy<EngineRow> = {
  kind: 'engine',
  settings: ({ handler }) => ({ handler: engineNamed(handler)?.name ?? handler }),
  make: ({ name, handler }) => {
    if (engineNamed(handler) === undefined) return `there is no engine ${handler} here`
    if (name.includes('`')) return 'its name has a backquote'
    return { by: 'statement', statement: `CREATE ML_ENGINE \`${name}\` FROM ${handler}` }
  },
}

/** What this service can do with a connection. */
const usesOf = (engine: string): string => {
  if (driverOf(engine) === undefined) return 'it is kept for chatbots and for the record: nothing is read through it here'
  return isOfFiles(engine)
    ? 'statements, agents and jobs can read it here if its files are below the folder that the setting CONNECTION_FILES names'
    : 'statements, agents and jobs can read it here'
}

export const connectionCopy: Copy<ConnectionRecord> = {
  kind: 'connection',
  settings: ({ engine, connection_data }) => ({ engine: engine?.toLowerCase() ?? null, parameters: connection_data }),
  make: ({ name, engine, connection_data }) => {
    if (engine === undefined || engine === null) return 'the old service does not tell its engine'
    if (!connectionEngines.has(engine.toLowerCase())) return `there is no engine ${engine} for connections here`
    const method = created('/api/databases', { database: { name, engine, parameters: withoutMasks(connection_data) } })
    const note = 'it is kept without its parameters, which have to be set here'
    return { ...method, otherwise: { body: { database: { name, engine } }, note } }
  },
  notes: ({ engine }) => [usesOf(engine ?? '')],
}

export const fileCopy: Copy<FileRecord> = {
  kind: 'file',
  settings: ({ row_count, columns }) => ({ rows: row_count ?? null, columns: columns ?? [] }),
  make: ({ name, columns }) => {
    if (/[`.]/.test(name)) return 'its name has a backquote or a dot'
    return (columns ?? []).length === 0 ? 'it has no columns' : { by: 'upload' }
  },
}

/** The copies of a project's views: each by a REST command with its query. */
export const viewCopy = (project: string): Copy<ViewRecord> => ({
  kind: 'view',
  settings: ({ query }) => ({ query: query.trim() }),
  make: ({ name, query }) => created(inProject(project, 'views'), { view: { name, query } }),
})

const hiddenSkill = 'Auto-generated SQL skill for agent'
const isHidden = ({ params: { description } }: SkillRecord): boolean =>
  typeof description === 'string' && description.startsWith(hiddenSkill)

/** The copies of a project's skills. Skills that the old service itself made for an agent are not copied. */
export const skillCopy = (project: string): Copy<SkillRecord> => ({
  kind: 'skill',
  settings: ({ type, params }) => ({ type, params }),
  make: (skill) => {
    if (isHidden(skill)) return 'the old service made it for an agent, which has the data itself'
    const { name, type, params } = skill
    return created(inProject(project, 'skills'), { skill: { name, type, params: withoutMasks(params) } })
  },
})

/** Names with the database or project that holds them. */
const namesOf = (names: Json | undefined, place: Json | undefined): string[] =>
  namesIn(names).map((name) => (typeof place !== 'string' || name.includes('.') ? name : `${place}.${name}`))

/**
 * Params without those by which earlier releases of the old service gave an agent its data: `data` has them, with what they leave out. A
 * database without a list of tables means all of its tables.
 */
const withData = (params: JsonObject): JsonObject => {
  const { database, knowledge_base_database: project, include_tables: included, ignore_tables: left } = params
  const { include_knowledge_bases: bases, ignore_knowledge_bases: leftBases } = params
  const data = {
    tables: included === undefined && typeof database === 'string' ? [`${database}.*`] : namesOf(included, database),
    ignore_tables: namesOf(left, database),
    knowledge_bases: namesOf(bases, project),
    ignore_knowledge_bases: namesOf(leftBases, project),
  }
  const given = Object.entries(data).filter(([, names]) => names.length > 0)
  const others = Object.entries(params).filter(([name]) => !formerAgentParams.includes(name))
  return { ...Object.fromEntries(others), ...(given.length > 0 && { data: Object.fromEntries(given) }) }
}

/** The old service shows some params of an agent outside `params`, depending on whether the agent has skills. */
const agentSettings = (agent: AgentRecord): JsonObject => {
  const { model_name = null, provider = null, skills, skills_extra_parameters, data, model, prompt_template, params } = agent
  const lifted = Object.entries({ data, model, prompt_template }).filter(([, value]) => value !== undefined && value !== null)
  const used = skills.filter((skill) => !isHidden(skill))
  return {
    model_name: typeof model === 'string' ? model : model_name,
    provider,
    skills: Object.fromEntries(used.map(({ name }) => [name, skills_extra_parameters?.[name] ?? {}])),
    params: {
      ...withData(params),
      ...(Object.fromEntries(lifted.filter(([, value]) => typeof model !== 'string' || value !== model)) as JsonObject),
    },
  }
}

/** The copies of a project's agents, with the names of their skills. Masked secrets are not copied. */
export const agentCopy = (project: string): Copy<AgentRecord> => ({
  kind: 'agent',
  settings: agentSettings,
  make: (agent) => {
    const { skills, ...settings } = withoutMasks(agentSettings(agent))
    const refs = Object.entries(skills as Record<string, JsonObject>).map(([name, extra]) => ({ ...extra, name }))
    return created(inProject(project, 'agents'), { agent: { name: agent.name, ...settings, skills: refs } })
  },
})

/** The copies of a project's chatbots. A chatbot without its connection, or without an agent or model, is not copied. */
export const chatbotCopy = (project: string): Copy<ChatbotRecord> => ({
  kind: 'chatbot',
  settings: ({ agent, model_name, database, is_running, params }) => ({
    agent: agent?.name ?? null,
    model: agent ? null : (model_name ?? null),
    database: database ?? null,
    is_running: is_running ?? false,
    params,
  }),
  make: ({ name, agent, model_name, database, is_running, params }) => {
    if (typeof database !== 'string' || database === '?') return 'its connection is gone from the old service'
    const answering = agent ? { agent_name: agent.name } : typeof model_name === 'string' ? { model_name } : undefined
    if (!answering) return 'the old service does not tell which agent answers for it'
    const settings = { database_name: database, is_running: is_running ?? false, params: withoutMasks(params) }
    return created(inProject(project, 'chatbots'), { chatbot: { name, ...answering, ...settings } })
  },
  notes: ({ agent, model_name }) =>
    agent ? [] : [`the old service tells no agent of it, only the model ${model_name ?? ''}: if an agent answers for it, set that here`],
})

const endOf = ({ end_at }: JobRecord): string | null => end_at?.slice(0, 19) ?? null

/** Normalises statements for comparison: without secrets, and with the same spaces at semicolons. */
const statementsText = (text: string): string => cutSecrets(text).replace(/;\s*$/, '').replace(/\s*;\s*/g, '; ').trim() // prettier-ignore

/** The copies of a project's jobs. A job after its last run is not copied. */
export const jobCopy = (project: string): Copy<JobRecord> => ({
  kind: 'job',
  settings: (job) => ({
    query: statementsText(job.query),
    if_query: typeof job.if_query === 'string' ? statementsText(job.if_query) : null,
    schedule: job.schedule_str?.toLowerCase() ?? null,
    end_at: endOf(job),
  }),
  make: (job) => {
    const { name, query, if_query = null, schedule_str = null, next_run_at } = job
    if (typeof next_run_at !== 'string') return 'it has run for the last time'
    const times = { start_at: next_run_at, end_at: job.end_at ?? null, schedule_str }
    return created(inProject(project, 'jobs'), { job: { name, query, if_query, ...times } })
  },
  notes: ({ next_run_at }) => [
    `it runs here from ${next_run_at?.slice(0, 19) ?? ''} (UTC) on: end it in the old service, or it runs in both`,
  ],
})

/** Whether an engine's name is built in here. */
export const isBuiltIn = ({ name }: EngineRow): boolean => engineNamed(foldName(name)) !== undefined
