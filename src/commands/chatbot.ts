import type { Command } from '@event-driven-io/emmett'
import type { Chatbot, ChatbotEvent } from '../../events/chatbot.js'
import { unreachable, type JsonObject } from '../../events/common.js'
import { conflict, missingField, notFound } from '../errors.js'
import { byName, called, type FactsOf } from '../log/lookups.js'
import { mergeParams, newParams } from './params.js'

type Target = { project: string; chatbot: string }
/** `database` is a connection's name, or its id in digits. */
type Settings = { name?: string; agent?: string; model?: string; database?: string; is_running?: boolean; params?: JsonObject }
export type ChatbotCommand =
  | Command<'CreateChatbot', Target & Settings & { unlessExists?: boolean }>
  | Command<'UpdateChatbot', Target & Settings>
  | Command<'PutChatbot', Target & Settings>
  | Command<'DeleteChatbot', Target & { ifExists?: boolean }>

const settingsOf = (command: ChatbotCommand): Settings => (command.type === 'DeleteChatbot' ? {} : command.data)

export const reads = (command: ChatbotCommand) => {
  const { project, chatbot } = command.data
  const { name = chatbot, agent = '', model = '', database = '' } = settingsOf(command)
  return {
    project: byName('project', project),
    chatbot: (command.type === 'CreateChatbot' ? called : byName)('chatbot', chatbot, project),
    clash: called('chatbot', name, project),
    agent: byName('agent', agent, project),
    model: byName('model', model, project),
    database: byName('database', database),
  }
}

type Facts = FactsOf<ReturnType<typeof reads>>

export const decide = (command: ChatbotCommand, facts: Facts): ChatbotEvent[] => {
  const { data } = command
  const { project, chatbot } = facts
  if (command.type === 'CreateChatbot' || (command.type === 'PutChatbot' && !chatbot)) requireFields(command.data)
  if (!project) throw notFound('project', data.project)
  switch (command.type) {
    case 'CreateChatbot':
      if (chatbot && command.data.unlessExists) return []
      if (chatbot) throw conflict('chatbot', data.chatbot)
      return create(command.data, facts)
    case 'PutChatbot':
      return chatbot ? update(command.data, facts) : create(command.data, facts)
    case 'UpdateChatbot':
      return update(command.data, facts)
    case 'DeleteChatbot':
      if (!chatbot && command.data.ifExists) return []
      if (!chatbot) throw notFound('chatbot', data.chatbot)
      return [{ type: 'ChatbotDeleted', data: {} }]
    default:
      return unreachable(command)
  }
}

const requireFields = ({ agent, model, database }: Settings): void => {
  if (agent === undefined && model === undefined) throw missingField('agent_name" or "model_name', 'chatbot')
  if (database === undefined) throw missingField('database_id" or "database_name" or ("db_engine" and "db_params")', 'chatbot')
}

/** The settings that refer to other resources, resolved; refuses what does not exist. */
const references = (settings: Settings, { agent, model, database }: Facts): Partial<Pick<Chatbot, 'agent' | 'model_name' | 'database'>> => {
  if (settings.database !== undefined && !database) throw notFound('database', settings.database)
  if (settings.agent !== undefined && !agent) throw notFound('agent', settings.agent)
  if (settings.model !== undefined && !model) throw notFound('model', settings.model)
  return {
    ...(database && settings.database !== undefined && { database: database.stream }),
    ...(agent && settings.agent !== undefined && { agent: agent.stream, model_name: agent.state.model_name }),
    ...(model && settings.model !== undefined && { model_name: model.state.name }),
  }
}

const create = (data: Target & Settings, facts: Facts): ChatbotEvent[] => {
  const { agent = null, model_name = null, database } = references(data, facts)
  if (!facts.project || database === undefined) throw notFound('database', data.database ?? '')
  const { is_running = false, params = {} } = data
  return [
    {
      type: 'ChatbotCreated',
      data: { project: facts.project.stream, name: data.chatbot, agent, model_name, database, is_running, params: newParams(params) },
    },
  ]
}

const update = (data: Target & Settings, facts: Facts): ChatbotEvent[] => {
  const { chatbot, clash } = facts
  if (!chatbot) throw notFound('chatbot', data.chatbot)
  const { name = chatbot.state.name, is_running, params } = data
  if (clash && clash.stream !== chatbot.stream) throw conflict('chatbot', name)
  const changes = {
    ...references(data, facts),
    ...(is_running !== undefined && { is_running }),
    ...(params && { params: mergeParams(chatbot.state.params, params) }),
  }
  const events: ChatbotEvent[] = []
  if (Object.keys(changes).length > 0) events.push({ type: 'ChatbotUpdated', data: changes })
  if (name !== chatbot.state.name) events.push({ type: 'ChatbotRenamed', data: { name } })
  return events
}
