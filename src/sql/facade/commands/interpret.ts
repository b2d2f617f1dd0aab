/**
 * Room: the commands of statements. It imports only events, basics, catalogue, vault, log/contract, dialect, sql/statements, commands and
 * connections/engines.
 */

import type * as z from 'zod'
import type { JsonObject } from '../../../../events/common.js'
import { agentChanges, agentCreation, agentFields } from '../../../commands/agent.js'
import type { LedgerCommand } from '../../../commands/dispatch.js'
import { knowledgeBaseFields, knowledgeSettings, removableSettings, type RemovableSetting } from '../../../commands/knowledge-base-input.js'
import { conflict, missingField, notFound, Problem, wrong } from '../../../basics/errors.js'
import { checkChangedConnection, checkConnection } from './check-connection.js'
import { readJob, updateJob } from './job-definition.js'
import type { CommandInputs } from './command-inputs.js'
import { nativeViewQuery } from './native-view-query.js'
import { activateModel, alterModel, cancelTraining, createModel, retrainModel } from './interpret-model.js'
import { otherSettings, switchSetting, textSetting } from '../../../dialect/settings.js'
import type { Name, Statement, StatementKind, StatementOf } from '../../statements/statement.js'

type CreateOrUpdate = StatementOf<'create_resource'> | StatementOf<'update_resource'>

const projectOf = ({ project }: Name, { db }: CommandInputs): string => project ?? db

/** @throws Problem if a statement would remove a setting that its resource cannot be without */
const refuseRemoval = (set: JsonObject, kept: readonly string[], hint?: string): void => {
  const removed = kept.find((key) => set[key] === null)
  if (removed !== undefined) throw wrong(`${removed} is null, which would remove it`, hint)
}

const skill = (statement: CreateOrUpdate, inputs: CommandInputs): LedgerCommand => {
  const target = { project: projectOf(statement.target, inputs), skill: statement.target.name }
  if (statement.kind === 'create_resource') {
    const type = textSetting(statement.using, 'type')
    if (type === undefined) throw missingField('type', 'skill')
    const params = otherSettings(statement.using, ['type'])
    return { type: 'CreateSkill', data: { ...target, type, params, unlessExists: statement.ifNotExists } }
  }
  const { set } = statement
  refuseRemoval(set, ['name', 'type', 'params'])
  const name = textSetting(set, 'name')
  const type = textSetting(set, 'type')
  const params = otherSettings(set, ['name', 'type'])
  const changes = { ...(name !== undefined && { name }), ...(type !== undefined && { type }), ...withParams(params) }
  return { type: 'UpdateSkill', data: { ...target, ...changes } }
}

const withParams = (params: JsonObject): { params?: JsonObject } => (Object.keys(params).length > 0 ? { params } : {})

/** Reads settings by the fields of a kind. Settings that are no fields are its params. */
const readFields = <Shape extends z.core.$ZodLooseShape>(fields: z.ZodObject<Shape>, settings: JsonObject, kind: string) => {
  const own = Object.keys(fields.shape)
  const known = Object.fromEntries(Object.entries(settings).filter(([key]) => own.includes(key) && key !== 'params'))
  const parsed = fields.safeParse({ ...known, ...withParams(otherSettings(settings, own)) })
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw wrong(`${issue?.path.map(String).join('.') ?? kind}: ${issue?.message ?? 'does not fit'}`)
}

const agentFieldsIn = (settings: JsonObject) => readFields(agentFields, settings, 'agent')

/** In SQL null removes a setting. Over REST a field that is null stays, so the fields of clients do not tell. */
const agentRemovals = (set: JsonObject, changes: ReturnType<typeof agentChanges>) => {
  refuseRemoval(set, ['name', 'params'])
  refuseRemoval(set, ['skills', 'skills_to_add', 'skills_to_remove'], 'A list can be empty: SET skills = [].')
  const removed = ['model', 'data', 'prompt_template'].flatMap((key) => (set[key] === null ? [[key, null] as const] : []))
  return {
    ...changes,
    ...((set['model'] === null || set['model_name'] === null) && { model_name: null }),
    ...(set['provider'] === null && { provider: null }),
    ...(removed.length > 0 && { params: { ...changes.params, ...Object.fromEntries(removed) } }),
  }
}

const agent = (statement: CreateOrUpdate, inputs: CommandInputs): LedgerCommand => {
  const target = { project: projectOf(statement.target, inputs), agent: statement.target.name }
  if (statement.kind === 'update_resource')
    return { type: 'UpdateAgent', data: { ...target, ...agentRemovals(statement.set, agentChanges(agentFieldsIn(statement.set))) } }
  const data = { ...target, ...agentCreation(agentFieldsIn(statement.using)), unlessExists: statement.ifNotExists }
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

const chatbot = (statement: CreateOrUpdate, inputs: CommandInputs): LedgerCommand => {
  const target = { project: projectOf(statement.target, inputs), chatbot: statement.target.name }
  if (statement.kind === 'update_resource') {
    refuseRemoval(statement.set, [...chatbotKeys, 'params'])
    const name = textSetting(statement.set, 'name')
    return { type: 'UpdateChatbot', data: { ...target, ...chatbotSettings(statement.set), ...(name !== undefined && { name }) } }
  }
  // Over SQL, a chatbot runs by default.
  const data = { ...target, is_running: true, ...chatbotSettings(statement.using), unlessExists: statement.ifNotExists }
  return { type: 'CreateChatbot', data }
}

const knowledgeFieldsIn = (settings: JsonObject) => readFields(knowledgeBaseFields, settings, 'knowledge base')

/** The settings that null removes. @throws Problem for another one that is null */
const knowledgeRemovals = (set: JsonObject): Partial<Record<RemovableSetting, null>> => {
  const kept = Object.keys(knowledgeBaseFields.shape).filter((key) => !removableSettings.some((one) => one === key))
  refuseRemoval(set, kept, `Of these settings, null removes ${removableSettings.join(', ')}.`)
  return Object.fromEntries(removableSettings.filter((key) => set[key] === null).map((key) => [key, null]))
}

const knowledgeBase = (statement: CreateOrUpdate, inputs: CommandInputs): LedgerCommand => {
  const target = { project: projectOf(statement.target, inputs), knowledge_base: statement.target.name }
  if (statement.kind === 'update_resource') {
    const { set } = statement
    const name = textSetting(set, 'name')
    return {
      type: 'UpdateKnowledgeBase',
      data: { ...target, ...knowledgeSettings(knowledgeFieldsIn(set)), ...knowledgeRemovals(set), ...(name !== undefined && { name }) },
    }
  }
  const data = { ...target, ...knowledgeSettings(knowledgeFieldsIn(statement.using)), unlessExists: statement.ifNotExists }
  return { type: 'CreateKnowledgeBase', data }
}

const drop = ({ resource, target, ifExists }: StatementOf<'drop_resource'>, inputs: CommandInputs): LedgerCommand => {
  const project = projectOf(target, inputs)
  switch (resource) {
    case 'skill':
      return { type: 'DeleteSkill', data: { project, skill: target.name, ifExists } }
    case 'agent':
      return { type: 'DeleteAgent', data: { project, agent: target.name, ifExists } }
    case 'chatbot':
      return { type: 'DeleteChatbot', data: { project, chatbot: target.name, ifExists } }
    case 'knowledge_base':
      return { type: 'DeleteKnowledgeBase', data: { project, knowledge_base: target.name, ifExists } }
  }
}

const byResource = { skill, agent, chatbot, knowledge_base: knowledgeBase }

const createDatabase = ({ name, engine, parameters, ifNotExists, replace }: StatementOf<'create_database'>): LedgerCommand => {
  checkConnection(engine, parameters)
  return replace
    ? { type: 'PutDatabase', data: { database: name, engine, parameters, replace: true } }
    : { type: 'CreateDatabase', data: { database: name, engine, parameters, unlessExists: ifNotExists } }
}

const dropDatabase = async ({ name, ifExists }: StatementOf<'drop_database'>, inputs: CommandInputs): Promise<LedgerCommand> => {
  if (await inputs.resources.one('project', name))
    return { type: 'DeleteProject', data: { project: name, defaultProject: inputs.defaultProject, ifExists } }
  return { type: 'DeleteDatabase', data: { database: name, ifExists } }
}

const alterDatabase = async (statement: StatementOf<'alter_database'>, inputs: CommandInputs): Promise<LedgerCommand> => {
  const { name, newName, engine, parameters } = statement
  const project = await inputs.resources.one('project', name)
  if (project) {
    if (newName === null || engine !== null || parameters !== null)
      throw wrong(`${project.state.name} is a project: it has a NAME and nothing else to alter`)
    return { type: 'RenameProject', data: { project: name, name: newName, defaultProject: inputs.defaultProject } }
  }
  const settings = { ...(engine !== null && { engine }), ...(parameters && { parameters }) }
  const changed = Object.keys(settings).length > 0 ? await inputs.resources.one('database', name) : undefined
  if (changed) await checkChangedConnection(changed, settings, inputs.payloads)
  const changes = { ...(newName !== null && { name: newName }), ...settings }
  return { type: 'UpdateDatabase', data: { database: name, ...changes } }
}

const dropTable = (
  { database, name }: { database: string | null; name: string },
  ifExists: boolean,
  { db }: CommandInputs,
): LedgerCommand => {
  const where = database ?? db
  if (where.toLowerCase() !== 'files')
    throw new Problem('refused_statement', 'Tables of connections are not changed', `${where}.${name} is not a file`, {
      hint: 'DROP TABLE files.name deletes an uploaded file; DROP VIEW and DROP MODEL what is in a project.',
    })
  return { type: 'DeleteFile', data: { file: name, ifExists } }
}

const view = async (statement: StatementOf<'create_view'> | StatementOf<'alter_view'>, inputs: CommandInputs): Promise<LedgerCommand> => {
  const { target, source } = statement
  const project = projectOf(target, inputs)
  const native = await nativeViewQuery(source, inputs.resources)
  const asked = native === undefined ? { query: source.query, database: source.database ?? project } : { query: native, database: project }
  const data = { project, view: target.name, ...asked }
  if (statement.kind === 'alter_view') return { type: 'UpdateView', data }
  return statement.replace ? { type: 'PutView', data } : { type: 'CreateView', data: { ...data, unlessExists: statement.ifNotExists } }
}

const dropViews = async ({ targets, ifExists }: StatementOf<'drop_view'>, inputs: CommandInputs): Promise<LedgerCommand[]> => {
  const commands: LedgerCommand[] = []
  for (const target of targets) {
    const project = projectOf(target, inputs)
    if (ifExists && !(await inputs.resources.one('project', project))) continue
    commands.push({ type: 'DeleteView', data: { project, view: target.name, ifExists } })
  }
  return commands
}

const job = async (statement: StatementOf<'create_job'>, inputs: CommandInputs): Promise<LedgerCommand> => {
  const { target, queries, condition, schedule, ifNotExists } = statement
  const read = await readJob({ query: queries.join(';\n'), ifQuery: condition, ...schedule }, inputs.now())
  return { type: 'CreateJob', data: { project: projectOf(target, inputs), job: target.name, ...read, unlessExists: ifNotExists } }
}

const alterJob = ({ target, changes }: StatementOf<'alter_job'>, inputs: CommandInputs): Promise<LedgerCommand> => {
  const { queries, condition, ...times } = changes
  const change = { ...times, ...(queries && { query: queries.join(';\n') }), ...(condition !== undefined && { ifQuery: condition }) }
  return updateJob({ project: projectOf(target, inputs), job: target.name }, change, inputs)
}

/** Clients of MindsDB also delete views with DROP MODEL. */
const dropModel = async ({ target, ifExists }: StatementOf<'drop_model'>, inputs: CommandInputs): Promise<LedgerCommand | undefined> => {
  const projectName = projectOf(target, inputs)
  const project = await inputs.resources.one('project', projectName)
  if (!project) throw notFound('project', projectName)
  const data = { project: projectName, model: target.name }
  const model = await inputs.resources.one('model', target.name, project)
  if (ifExists && target.version !== null && !model?.state.versions.some(({ version }) => version === target.version)) return undefined
  if (!model && target.version === null && (await inputs.resources.one('view', target.name, project)))
    return { type: 'DeleteView', data: { project: projectName, view: target.name } }
  if (target.version === null) return { type: 'DeleteModel', data: { ...data, ifExists } }
  return { type: 'DeleteModelVersion', data: { ...data, version: target.version } }
}

/** Whether a DROP … IF EXISTS names a project that does not exist. */
const isGoneAlready = async (statement: Statement, { db, resources }: CommandInputs): Promise<boolean> => {
  if (statement.kind !== 'drop_resource' && statement.kind !== 'drop_model' && statement.kind !== 'drop_job') return false
  return statement.ifExists && (await resources.one('project', statement.target.project ?? db)) === undefined
}

type ToCommands<K extends StatementKind> = (
  statement: StatementOf<K>,
  inputs: CommandInputs,
) => readonly LedgerCommand[] | Promise<readonly LedgerCommand[]>

/** The statements that are commands, each with its commands: the same as over REST. */
const commands = {
  create_project: async ({ name, ifNotExists, replace }, { resources }) => {
    if (replace && (await resources.one('project', name)))
      throw conflict('project', name, 'A project is not replaced: DROP it when it is empty, or keep it with IF NOT EXISTS.')
    return [{ type: 'CreateProject', data: { project: name, unlessExists: ifNotExists } }]
  },
  create_database: (statement) => [createDatabase(statement)],
  alter_database: async (statement, inputs) => [await alterDatabase(statement, inputs)],
  drop_database: async (statement, inputs) => [await dropDatabase(statement, inputs)],
  create_resource: (statement, inputs) => [byResource[statement.resource](statement, inputs)],
  update_resource: (statement, inputs) => [byResource[statement.resource](statement, inputs)],
  drop_resource: (statement, inputs) => [drop(statement, inputs)],
  create_view: async (statement, inputs) => [await view(statement, inputs)],
  alter_view: async (statement, inputs) => [await view(statement, inputs)],
  drop_view: dropViews,
  drop_table: ({ targets, ifExists }, inputs) => targets.map((target) => dropTable(target, ifExists, inputs)),
  create_ml_engine: ({ name, handler, using, ifNotExists }) => [
    { type: 'CreateEngine', data: { engine: name, handler, parameters: using, unlessExists: ifNotExists } },
  ],
  drop_ml_engine: ({ name, ifExists }) => [{ type: 'DeleteEngine', data: { engine: name, ifExists } }],
  create_job: async (statement, inputs) => [await job(statement, inputs)],
  alter_job: async (statement, inputs) => [await alterJob(statement, inputs)],
  drop_job: ({ target, ifExists }, inputs) => [
    { type: 'DeleteJob', data: { project: projectOf(target, inputs), job: target.name, ifExists } },
  ],
  create_model: (statement, inputs) => [createModel(statement, inputs)],
  retrain_model: (statement, inputs) => [retrainModel(statement, inputs)],
  alter_model: (statement, inputs) => [alterModel(statement, inputs)],
  cancel_training: (statement, inputs) => [cancelTraining(statement, inputs)],
  activate_model: (statement, inputs) => [activateModel(statement, inputs)],
  drop_model: async (statement, inputs) => [await dropModel(statement, inputs)].filter((command) => command !== undefined),
} satisfies { [K in StatementKind]?: ToCommands<K> }

/** The kinds of statements that are commands. All other statements have an answer in `src/sql/facade/statement-answers.ts`. */
export type CommandKind = keyof typeof commands

const table: { readonly [K in CommandKind]: ToCommands<K> } = commands

const isCommand = (statement: Statement): statement is StatementOf<CommandKind> => Object.hasOwn(commands, statement.kind)

const interpret = <K extends CommandKind>(kind: K, statement: StatementOf<K>, inputs: CommandInputs) => table[kind](statement, inputs)

/**
 * The commands of a statement; none for a statement that is no command, or that has nothing to do.
 *
 * @throws Problem when the statement asks for something impossible
 * @example await toCommands(parseStatement('DROP SKILL shop.sales'), inputs) // [{ type: 'DeleteSkill', data: … }]
 */
export const toCommands = async (statement: Statement, inputs: CommandInputs): Promise<readonly LedgerCommand[]> =>
  !isCommand(statement) || (await isGoneAlready(statement, inputs)) ? [] : interpret(statement.kind, statement, inputs)
