import type { JsonObject } from '../../../../events/common.js'
import { agentChanges, agentCreation, agentFields, type AgentFields } from '../../../commands/agent-input.js'
import type { LedgerCommand } from '../../../commands/dispatch.js'
import { conflict, missingField, notFound, Problem, wrong } from '../../../basics/errors.js'
import { readJob } from './job-definition.js'
import type { CommandScope } from './command-scope.js'
import { toModelCommand } from './interpret-model.js'
import { otherSettings, switchSetting, textSetting } from '../../../dialect/settings.js'
import type { Name, Statement, StatementOf } from '../../statements/statement.js'

type CreateOrUpdate = StatementOf<'create_resource'> | StatementOf<'update_resource'>

const projectOf = ({ project }: Name, { db }: CommandScope): string => project ?? db

const skill = (statement: CreateOrUpdate, scope: CommandScope): LedgerCommand => {
  const target = { project: projectOf(statement.target, scope), skill: statement.target.name }
  if (statement.kind === 'create_resource') {
    const type = textSetting(statement.using, 'type')
    if (type === undefined) throw missingField('type', 'skill')
    const params = otherSettings(statement.using, ['type'])
    return { type: 'CreateSkill', data: { ...target, type, params, unlessExists: statement.ifNotExists } }
  }
  const { set } = statement
  const name = textSetting(set, 'name')
  const type = textSetting(set, 'type')
  const params = otherSettings(set, ['name', 'type'])
  const changes = { ...(name !== undefined && { name }), ...(type !== undefined && { type }), ...withParams(params) }
  return { type: 'UpdateSkill', data: { ...target, ...changes } }
}

const withParams = (params: JsonObject): { params?: JsonObject } => (Object.keys(params).length > 0 ? { params } : {})

const agentKeys = ['name', 'model', 'model_name', 'provider', 'skills', 'skills_to_add', 'skills_to_remove', 'data', 'prompt_template']

const agentFieldsOf = (settings: JsonObject): AgentFields => {
  const known = Object.fromEntries(Object.entries(settings).filter(([key]) => agentKeys.includes(key)))
  const parsed = agentFields.safeParse({ ...known, ...withParams(otherSettings(settings, agentKeys)) })
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw wrong(`${issue?.path.map(String).join('.') ?? 'agent'}: ${issue?.message ?? 'does not fit'}`)
}

const agent = (statement: CreateOrUpdate, scope: CommandScope): LedgerCommand => {
  const target = { project: projectOf(statement.target, scope), agent: statement.target.name }
  if (statement.kind === 'update_resource')
    return { type: 'UpdateAgent', data: { ...target, ...agentChanges(agentFieldsOf(statement.set)) } }
  const data = { ...target, ...agentCreation(agentFieldsOf(statement.using)), unlessExists: statement.ifNotExists }
  return { type: 'CreateAgent', data }
}

const chatbotKeys = ['name', 'agent', 'model', 'database', 'is_running']

const chatbotSettings = (settings: JsonObject) => {
  const agentName = textSetting(settings, 'agent')
  const model = textSetting(settings, 'model')
  const database = textSetting(settings, 'database')
  const running = switchSetting(settings, 'is_running')
  return {
    ...(agentName !== undefined && { agent: agentName }),
    ...(model !== undefined && agentName === undefined && { model }),
    ...(database !== undefined && { database }),
    ...(running !== undefined && { is_running: running }),
    ...withParams(otherSettings(settings, chatbotKeys)),
  }
}

const chatbot = (statement: CreateOrUpdate, scope: CommandScope): LedgerCommand => {
  const target = { project: projectOf(statement.target, scope), chatbot: statement.target.name }
  if (statement.kind === 'update_resource') {
    const name = textSetting(statement.set, 'name')
    return { type: 'UpdateChatbot', data: { ...target, ...chatbotSettings(statement.set), ...(name !== undefined && { name }) } }
  }
  // Over SQL a chatbot runs unless it is told not to.
  const data = { ...target, is_running: true, ...chatbotSettings(statement.using), unlessExists: statement.ifNotExists }
  return { type: 'CreateChatbot', data }
}

const drop = ({ resource, target, ifExists }: StatementOf<'drop_resource'>, scope: CommandScope): LedgerCommand => {
  const project = projectOf(target, scope)
  switch (resource) {
    case 'skill':
      return { type: 'DeleteSkill', data: { project, skill: target.name, ifExists } }
    case 'agent':
      return { type: 'DeleteAgent', data: { project, agent: target.name, ifExists } }
    case 'chatbot':
      return { type: 'DeleteChatbot', data: { project, chatbot: target.name, ifExists } }
  }
}

const byResource = { skill, agent, chatbot }

const createDatabase = ({ name, engine, parameters, ifNotExists, replace }: StatementOf<'create_database'>): LedgerCommand =>
  replace
    ? { type: 'PutDatabase', data: { database: name, engine, parameters, replace: true } }
    : { type: 'CreateDatabase', data: { database: name, engine, parameters, unlessExists: ifNotExists } }

const dropDatabase = async ({ name, ifExists }: StatementOf<'drop_database'>, scope: CommandScope): Promise<LedgerCommand> => {
  if (await scope.resources.one('project', name))
    return { type: 'DeleteProject', data: { project: name, defaultProject: scope.defaultProject, ifExists } }
  return { type: 'DeleteDatabase', data: { database: name, ifExists } }
}

const alterDatabase = async (statement: StatementOf<'alter_database'>, scope: CommandScope): Promise<LedgerCommand> => {
  const { name, newName, engine, parameters } = statement
  const project = await scope.resources.one('project', name)
  if (project) {
    if (newName === null || engine !== null || parameters !== null)
      throw wrong(`${project.state.name} is a project: it has a NAME and nothing else to alter`)
    return { type: 'RenameProject', data: { project: name, name: newName, defaultProject: scope.defaultProject } }
  }
  const changes = { ...(newName !== null && { name: newName }), ...(engine !== null && { engine }), ...(parameters && { parameters }) }
  return { type: 'UpdateDatabase', data: { database: name, ...changes } }
}

const dropTable = (
  { database, name }: { database: string | null; name: string },
  ifExists: boolean,
  { db }: CommandScope,
): LedgerCommand => {
  const where = database ?? db
  if (where.toLowerCase() !== 'files')
    throw new Problem('refused_statement', 'Tables of connections are not changed', `${where}.${name} is not a file`, {
      hint: 'DROP TABLE files.name deletes an uploaded file; DROP VIEW and DROP MODEL what is in a project.',
    })
  return { type: 'DeleteFile', data: { file: name, ifExists } }
}

const view = (statement: StatementOf<'create_view'> | StatementOf<'alter_view'>, scope: CommandScope): LedgerCommand => {
  const { target, source } = statement
  const project = projectOf(target, scope)
  const data = { project, view: target.name, query: source.query, database: source.database ?? project }
  if (statement.kind === 'alter_view') return { type: 'UpdateView', data }
  return statement.replace ? { type: 'PutView', data } : { type: 'CreateView', data: { ...data, unlessExists: statement.ifNotExists } }
}

const dropViews = async ({ targets, ifExists }: StatementOf<'drop_view'>, scope: CommandScope): Promise<LedgerCommand[]> => {
  const commands: LedgerCommand[] = []
  for (const target of targets) {
    const project = projectOf(target, scope)
    if (ifExists && !(await scope.resources.one('project', project))) continue
    commands.push({ type: 'DeleteView', data: { project, view: target.name, ifExists } })
  }
  return commands
}

const job = async (statement: StatementOf<'create_job'>, scope: CommandScope): Promise<LedgerCommand> => {
  const { target, queries, condition, schedule, ifNotExists } = statement
  const read = await readJob({ query: queries.join(';\n'), ifQuery: condition, ...schedule }, scope.now())
  return { type: 'CreateJob', data: { project: projectOf(target, scope), job: target.name, ...read, unlessExists: ifNotExists } }
}

/** The public service's clients delete views with DROP MODEL, too. */
const dropModel = async ({ target, ifExists }: StatementOf<'drop_model'>, scope: CommandScope): Promise<LedgerCommand | undefined> => {
  const projectName = projectOf(target, scope)
  const project = await scope.resources.one('project', projectName)
  if (!project) throw notFound('project', projectName)
  const data = { project: projectName, model: target.name }
  const model = await scope.resources.one('model', target.name, project)
  if (ifExists && target.version !== null && !model?.state.versions.some(({ version }) => version === target.version)) return undefined
  if (!model && target.version === null && (await scope.resources.one('view', target.name, project)))
    return { type: 'DeleteView', data: { project: projectName, view: target.name } }
  if (target.version === null) return { type: 'DeleteModel', data: { ...data, ifExists } }
  return { type: 'DeleteModelVersion', data: { ...data, version: target.version } }
}

/** IF EXISTS: what is to be dropped stands in a project that is not there either. */
const isGoneAlready = async (statement: Statement, { db, resources }: CommandScope): Promise<boolean> => {
  if (statement.kind !== 'drop_resource' && statement.kind !== 'drop_model' && statement.kind !== 'drop_job') return false
  return statement.ifExists && (await resources.one('project', statement.target.project ?? db)) === undefined
}

/**
 * The commands that a writing statement stands for: the same as over REST. Undefined for statements that write nothing here.
 *
 * @example await toCommands(parseStatement('DROP SKILL shop.sales'), scope) // [{ type: 'DeleteSkill', data: … }]
 */
export const toCommands = async (statement: Statement, scope: CommandScope): Promise<LedgerCommand[] | undefined> => {
  if (await isGoneAlready(statement, scope)) return []
  switch (statement.kind) {
    case 'create_project':
      if (statement.replace && (await scope.resources.one('project', statement.name)))
        throw conflict('project', statement.name, 'A project is not replaced: DROP it when it is empty, or keep it with IF NOT EXISTS.')
      return [{ type: 'CreateProject', data: { project: statement.name, unlessExists: statement.ifNotExists } }]
    case 'create_database':
      return [createDatabase(statement)]
    case 'alter_database':
      return [await alterDatabase(statement, scope)]
    case 'drop_database':
      return [await dropDatabase(statement, scope)]
    case 'create_resource':
    case 'update_resource':
      return [byResource[statement.resource](statement, scope)]
    case 'drop_resource':
      return [drop(statement, scope)]
    case 'create_view':
    case 'alter_view':
      return [view(statement, scope)]
    case 'drop_view':
      return dropViews(statement, scope)
    case 'drop_table':
      return statement.targets.map((target) => dropTable(target, statement.ifExists, scope))
    case 'create_ml_engine': {
      const { name, handler, using, ifNotExists } = statement
      return [{ type: 'CreateEngine', data: { engine: name, handler, parameters: using, unlessExists: ifNotExists } }]
    }
    case 'drop_ml_engine':
      return [{ type: 'DeleteEngine', data: { engine: statement.name, ifExists: statement.ifExists } }]
    case 'create_job':
      return [await job(statement, scope)]
    case 'drop_job': {
      const { target, ifExists } = statement
      return [{ type: 'DeleteJob', data: { project: projectOf(target, scope), job: target.name, ifExists } }]
    }
    case 'drop_model':
      return [await dropModel(statement, scope)].filter((command) => command !== undefined)
    case 'create_model':
    case 'retrain_model':
    case 'activate_model':
    case 'cancel_training':
    case 'alter_model':
      return [toModelCommand(statement, scope)]
    default:
      return undefined
  }
}
