import type { Command } from '@event-driven-io/emmett'
import type { Chatbot, ChatbotEvent } from '../../events/chatbot.js'
import { resourceName, unreachable, type JsonObject, type StreamId } from '../../events/common.js'
import { conflict, missingField, notFound, wrong } from '../basics/errors.js'
import type { NewEvent } from '../log/contract/log.js'
import { byName, byExactName, byStream, usersOf, type FactsOf, type Resource } from '../log/contract/lookups.js'
import { databaseDecider, knownEngine } from './database.js'
import { mergeParams, newParams } from './rules/params.js'
import { decider } from './rules/decider.js'
import { gone, updatedTo, type RollbackRule } from './rules/rollback.js'

type Target = { project: string; chatbot: string }
/** The chatbot's own connection, `<name>_db`, which is created or replaced together with it. `stream` is for a new one. */
type Connection = { stream: StreamId; engine: string; parameters: JsonObject }
/** `database` is a connection's name, or its id in digits. */
type Settings = {
  name?: string
  agent?: string
  model?: string
  database?: string
  connection?: Connection
  is_running?: boolean
  params?: JsonObject
}
export type ChatbotCommand =
  | Command<'CreateChatbot', Target & Settings & { unlessExists?: boolean }>
  | Command<'UpdateChatbot', Target & Settings>
  | Command<'PutChatbot', Target & Settings>
  | Command<'RenewChatbotToken', Target>
  | Command<'DeleteChatbot', Target & { ifExists?: boolean }>

const settingsOf = (command: ChatbotCommand): Settings =>
  command.type === 'DeleteChatbot' || command.type === 'RenewChatbotToken' ? {} : command.data

const reads = (command: ChatbotCommand) => {
  const { project, chatbot } = command.data
  const { name = chatbot, agent = '', model = '', database = '' } = settingsOf(command)
  return {
    project: byName('project', project),
    chatbot: (command.type === 'CreateChatbot' ? byExactName : byName)('chatbot', chatbot, project),
    clash: byExactName('chatbot', name, project),
    agent: byName('agent', agent, project),
    model: byName('model', model, project),
    database: byName('database', database),
  }
}

type Facts = FactsOf<ReturnType<typeof reads> & ReturnType<typeof readsFurther>>

/**
 * The name of the chatbot's own connection; '' if the command brings none. A command may name the chatbot by its id, so the name is that of
 * the chatbot that it finds.
 */
const ownNameOf = (command: ChatbotCommand, chatbot: Resource<'chatbot'> | undefined): string => {
  const { connection, name = command.data.chatbot } = settingsOf(command)
  return connection ? `${chatbot?.state.name ?? name}_db` : ''
}

const readsFurther = ({ chatbot }: { chatbot: Resource<'chatbot'> | undefined }, command: ChatbotCommand) => {
  const name = ownNameOf(command, chatbot)
  return {
    own: byExactName('database', name),
    namesake: byExactName('project', name),
    answering: usersOf('chatbot', 'database', name),
  }
}

const decide = (command: ChatbotCommand, facts: Facts): (ChatbotEvent | NewEvent)[] => {
  const { data } = command
  const { project, chatbot } = facts
  if (command.type === 'CreateChatbot' || (command.type === 'PutChatbot' && !chatbot)) requireFields(command.data)
  if (!project) throw notFound('project', data.project)
  switch (command.type) {
    case 'CreateChatbot':
      if (chatbot && command.data.unlessExists) return []
      return create(command, facts)
    case 'PutChatbot':
      return chatbot ? update(command, facts) : create(command, facts)
    case 'UpdateChatbot':
      return update(command, facts)
    case 'RenewChatbotToken':
      if (!chatbot) throw notFound('chatbot', data.chatbot)
      return [{ type: 'ChatbotTokenRenewed', data: {} }]
    case 'DeleteChatbot':
      if (!chatbot && command.data.ifExists) return []
      if (!chatbot) throw notFound('chatbot', data.chatbot)
      return [{ type: 'ChatbotDeleted', data: {} }]
    default:
      return unreachable(command)
  }
}

const requireFields = ({ agent, model, database, connection }: Settings): void => {
  if (agent === undefined && model === undefined) throw missingField('agent_name" or "model_name', 'chatbot')
  if (database === undefined && !connection)
    throw missingField('database_id" or "database_name" or ("db_engine" and "db_params")', 'chatbot')
}

/** The model of a chatbot with an agent is the agent's. */
const refuseOtherModel = ({ agent, model }: Settings, { chatbot, model: named }: Facts): void => {
  if (agent !== undefined || model === undefined || !named || chatbot?.state.agent === null) return
  if (named.state.name === chatbot?.state.model_name) return
  throw wrong(
    `the chatbot answers with the model of its agent, so '${model}' would have no effect`,
    'Change the model of the agent, or name another agent (agent_name).',
  )
}

/** The chatbot's own connection. It belongs to the same command, so that a refused chatbot leaves no connection behind. */
const connect = (command: ChatbotCommand, { chatbot, own, namesake, answering }: Facts): NewEvent[] => {
  const { connection } = settingsOf(command)
  if (!connection) return []
  const { stream, engine, parameters } = connection
  const database = ownNameOf(command, chatbot)
  const unfit = resourceName.safeParse(database).error?.issues[0]
  if (unfit) throw wrong(`the name of the chatbot's connection, ${database}, ${unfit.message}`, 'Name another connection as database_name.')
  const isOwn = own?.stream === chatbot?.state.database
  // A deleted chatbot leaves its connection, which is then created again.
  const isLeft = own?.state.engine === knownEngine(engine) && answering.length === 0
  // Connections belong to all projects: one of this name may serve something else.
  if (own && !isOwn && !isLeft) throw conflict('database', database, 'Name it as database_name, or choose another name for the chatbot.')
  const events = databaseDecider.decide(
    { type: 'PutDatabase', data: { database, engine, parameters, replace: !isOwn } },
    { database: own, clash: own, project: namesake },
  )
  return events.map((event) => ('event' in event ? event : { stream: own?.stream ?? stream, event }))
}

/** Resolves the settings that refer to other resources. @throws Problem when one does not exist */
const references = (
  settings: Settings,
  { agent, model, database, own }: Facts,
): Partial<Pick<Chatbot, 'agent' | 'model_name' | 'database'>> => {
  const { connection } = settings
  if (settings.database !== undefined && !connection && !database) throw notFound('database', settings.database)
  if (settings.agent !== undefined && !agent) throw notFound('agent', settings.agent)
  if (settings.model !== undefined && !model) throw notFound('model', settings.model)
  return {
    ...(database && settings.database !== undefined && { database: database.stream }),
    ...(connection && { database: own?.stream ?? connection.stream }),
    ...(agent && settings.agent !== undefined && { agent: agent.stream, model_name: agent.state.model_name }),
    ...(model && settings.model !== undefined && { model_name: model.state.name }),
  }
}

const create = (command: Extract<ChatbotCommand, { type: 'CreateChatbot' | 'PutChatbot' }>, facts: Facts): (ChatbotEvent | NewEvent)[] => {
  const { data } = command
  const { agent = null, model_name = null, database } = references(data, facts)
  if (!facts.project || database === undefined) throw notFound('database', data.database ?? '')
  const { name = data.chatbot, is_running = false, params = {} } = data
  if (facts.clash) throw conflict('chatbot', name)
  return [
    ...connect(command, facts),
    {
      type: 'ChatbotCreated',
      data: { project: facts.project.stream, name, agent, model_name, database, is_running, params: newParams(params) },
    },
  ]
}

const update = (command: Extract<ChatbotCommand, { type: 'UpdateChatbot' | 'PutChatbot' }>, facts: Facts): (ChatbotEvent | NewEvent)[] => {
  const { data } = command
  const { chatbot, clash } = facts
  if (!chatbot) throw notFound('chatbot', data.chatbot)
  const { name = chatbot.state.name, is_running, params } = data
  if (clash && clash.stream !== chatbot.stream) throw conflict('chatbot', name)
  refuseOtherModel(data, facts)
  const changes = {
    ...references(data, facts),
    ...(is_running !== undefined && { is_running }),
    ...(params && { params: mergeParams(chatbot.state.params, params) }),
  }
  const events: (ChatbotEvent | NewEvent)[] = connect(command, facts)
  if (Object.keys(changes).length > 0) events.push({ type: 'ChatbotUpdated', data: changes })
  if (name !== chatbot.state.name) events.push({ type: 'ChatbotRenamed', data: { name } })
  return events
}

const rollbackRule: RollbackRule<'chatbot'> = {
  needs: ({ agent, database }) => ({
    ...(agent !== null && { agent: byStream('agent', agent) }),
    database: byStream('database', database),
  }),
  check: ({ agent }, facts) => {
    if (agent !== null && facts['agent'] === undefined) throw gone('the agent')
    if (facts['database'] === undefined) throw gone('the connection')
  },
  events: updatedTo('ChatbotUpdated', ['agent', 'model_name', 'database', 'is_running', 'params'], 'ChatbotRenamed'),
}

/** Decides the commands of chatbots. */
export const chatbotDecider = decider('chatbot', {
  commands: { CreateChatbot: true, UpdateChatbot: true, PutChatbot: true, RenewChatbotToken: true, DeleteChatbot: true },
  secrets: ['params', 'parameters'],
  rollback: rollbackRule,
  reads,
  readsFurther,
  decide,
})
