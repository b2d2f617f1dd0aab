import { describe, test } from '@jest/globals'
import type { JsonObject } from '../../../events/common.js'
import { limits } from '../../../src/basics/limits.js'
import type { NewEvent } from '../../../src/log/contract/log.js'
import { given } from '../../support/log/given.js'
import { at, bot, botCreated, botData, churnHad, helperCreated, secret, shopCreated, slackCreated, stream7 } from './samples.js'

const past = [shopCreated, helperCreated(), slackCreated()]
const creation = (more = {}) => ({
  type: 'CreateChatbot' as const,
  data: { project: 'shop', chatbot: 'Bot', agent: 'HELPER', database: 'slack', ...more },
})
const update = (changes: object) => ({ type: 'UpdateChatbot' as const, data: { project: 'shop', chatbot: 'bot', ...changes } })
const put = (changes: object) => ({ type: 'PutChatbot' as const, data: { project: 'shop', chatbot: 'Bot', ...changes } })

const connection = (parameters: JsonObject) => ({ stream: stream7, engine: 'webhook', parameters })

describe('CreateChatbot', () => {
  test('makes a chatbot of an agent; a connection may be named by its id', () => {
    given(...past)
      .when(creation())
      .then({ type: 'ChatbotCreated', data: botData() })
    given(...past)
      .when(creation({ database: '3', is_running: true }))
      .then({ type: 'ChatbotCreated', data: botData({ is_running: true }) })
  })
  test('makes a chatbot of a model', () =>
    given(shopCreated, slackCreated(), ...churnHad())
      .when({ type: 'CreateChatbot', data: { project: 'shop', chatbot: 'Bot', model: 'CHURN', database: 'slack' } })
      .then({ type: 'ChatbotCreated', data: botData({ agent: null, model_name: 'Churn' }) }))
  test('refuses to take over a connection that is there', () => {
    const { database: _, ...data } = creation({ connection: connection({}) }).data
    const taken = at(stream7, { type: 'DatabaseCreated', data: { name: 'Bot_db', engine: 'postgres', parameters: {} } })
    given(...past, taken)
      .when({ type: 'CreateChatbot', data })
      .refuses('already_exists', 'Bot_db')
    given(...past, taken)
      .when({ type: 'PutChatbot', data })
      .refuses('already_exists', 'Bot_db')
  })
  test('refuses what is missing or not there', () => {
    given(...past)
      .when({ type: 'CreateChatbot', data: { project: 'shop', chatbot: 'b', database: 'slack' } })
      .refuses('missing_field', 'agent_name')
    given(...past)
      .when({ type: 'CreateChatbot', data: { project: 'shop', chatbot: 'b', agent: 'helper' } })
      .refuses('missing_field', 'database_id')
    given(...past)
      .when(creation({ agent: 'nobody' }))
      .refuses('not_found', 'Agent')
    given(...past)
      .when(creation({ model: 'nothing' }))
      .refuses('not_found', 'Model')
    given(...past)
      .when(creation({ database: 'nowhere' }))
      .refuses('not_found', 'Database')
    given(...past)
      .when(creation({ project: 'nowhere' }))
      .refuses('not_found', 'Project')
  })
  test('refuses a name in another case; IF NOT EXISTS does nothing', () => {
    given(...past, botCreated())
      .when(creation({ chatbot: 'BOT' }))
      .refuses('already_exists')
    given(...past, botCreated())
      .when(creation({ chatbot: 'BOT', unlessExists: true }))
      .then()
  })
})

describe('UpdateChatbot and PutChatbot', () => {
  test('what was sent changes, params merge, a mask keeps the secret', () =>
    given(...past, botCreated({ params: { token: secret, a: 1 } }))
      .when(update({ is_running: true, params: { token: '******', a: null }, name: 'robot' }))
      .then(
        { type: 'ChatbotUpdated', data: { is_running: true, params: { token: secret } } },
        { type: 'ChatbotRenamed', data: { name: 'robot' } },
      ))
  test('another case of itself is a rename; nothing is nothing; a taken name is refused', () => {
    given(...past, botCreated())
      .when(update({ name: 'BOT' }))
      .then({ type: 'ChatbotRenamed', data: { name: 'BOT' } })
    given(...past, botCreated())
      .when(update({}))
      .then()
    given(...past, botCreated(), { stream: stream7, event: { type: 'ChatbotCreated', data: botData({ name: 'Other' }) } })
      .when(update({ name: 'OTHER' }))
      .refuses('already_exists')
    given(...past)
      .when(update({ name: 'x' }))
      .refuses('not_found', 'Chatbot')
  })
  test('another agent brings its model along', () =>
    given(...past, botCreated({ agent: null, model_name: 'x' }))
      .when(update({ agent: 'helper' }))
      .then({ type: 'ChatbotUpdated', data: { agent: helperCreated().stream as never, model_name: 'gpt-4o' } }))
  test('another model is refused while the chatbot has an agent; the one that it has is taken', () => {
    const all = [...past, ...churnHad()]
    given(...all, botCreated())
      .when(update({ model: 'churn' }))
      .refuses('wrong_arguments', 'the model of its agent')
    given(...all, botCreated({ model_name: 'Churn' }))
      .when(update({ model: 'churn' }))
      .then({ type: 'ChatbotUpdated', data: { model_name: 'Churn' } })
    given(...all, botCreated({ agent: null, model_name: 'x' }))
      .when(update({ model: 'churn' }))
      .then({ type: 'ChatbotUpdated', data: { model_name: 'Churn' } })
    given(...all, botCreated())
      .when(update({ model: 'churn', agent: 'helper' }))
      .then({ type: 'ChatbotUpdated', data: { agent: helperCreated().stream as never, model_name: 'Churn' } })
  })
  test('PUT makes what is not there, and then needs everything', () => {
    given(...past)
      .when(put({ agent: 'helper', database: 'slack' }))
      .then({ type: 'ChatbotCreated', data: botData() })
    given(...past)
      .when(put({ agent: 'helper' }))
      .refuses('missing_field')
    given(...past)
      .when(put({ agent: 'helper', database: 'slack', name: 'BOT' }))
      .then({ type: 'ChatbotCreated', data: botData({ name: 'BOT' }) })
    given(...past)
      .when(put({ agent: 'helper', database: 'slack', name: 'Robot' }))
      .then({ type: 'ChatbotCreated', data: botData({ name: 'Robot' }) })
    given(...past, botCreated())
      .when({ type: 'PutChatbot', data: { project: 'shop', chatbot: 'other', agent: 'helper', database: 'slack', name: 'BOT' } })
      .refuses('already_exists', 'BOT already exists')
    given(...past, botCreated())
      .when(put({ is_running: true }))
      .then({ type: 'ChatbotUpdated', data: { is_running: true } })
  })
})

describe('the own connection of a chatbot', () => {
  const made = (name: string, more = {}): NewEvent['event'][] => [
    { type: 'DatabaseCreated', data: { name, engine: 'webhook', parameters: {} } },
    { type: 'ChatbotCreated', data: botData({ database: stream7, ...more }) },
  ]
  const withConnection = (more = {}) => ({ ...put({}).data, agent: 'helper', connection: connection({}), ...more })

  test('is named after the new chatbot, also by the name in the body of a PUT', () => {
    given(...past)
      .when({ type: 'CreateChatbot', data: withConnection() })
      .then(...made('Bot_db'))
    given(...past)
      .when({ type: 'PutChatbot', data: withConnection({ name: 'Robot' }) })
      .then(...made('Robot_db', { name: 'Robot' }))
  })
  test('is named after the chatbot that is found, also by its id and after a rename', () => {
    const id = String(past.length + 1)
    const data = { project: 'shop', chatbot: id, connection: connection({}) }
    const brought = (name: string): NewEvent['event'] => ({ type: 'DatabaseCreated', data: { name, engine: 'webhook', parameters: {} } })
    const changed: NewEvent['event'] = { type: 'ChatbotUpdated', data: { database: stream7 } }
    for (const type of ['PutChatbot', 'UpdateChatbot'] as const) {
      given(...past, botCreated())
        .when({ type, data })
        .then(brought('Bot_db'), changed)
      given(...past, botCreated(), at(bot, { type: 'ChatbotRenamed', data: { name: 'Robot' } }))
        .when({ type, data })
        .then(brought('Robot_db'), changed)
    }
  })
  test('that is there is changed, and not created again', () => {
    const own = at(stream7, { type: 'DatabaseCreated', data: { name: 'Bot_db', engine: 'webhook', parameters: { a: 1 } } })
    given(...past, own, botCreated({ database: stream7 }))
      .when({ type: 'PutChatbot', data: { project: 'shop', chatbot: String(past.length + 2), connection: connection({ b: 2 }) } })
      .then({ type: 'DatabaseUpdated', data: { parameters: { a: 1, b: 2 } } }, { type: 'ChatbotUpdated', data: { database: stream7 } })
  })
  test('refuses a name that is too long for it', () => {
    given(...past)
      .when({ type: 'CreateChatbot', data: withConnection({ chatbot: 'x'.repeat(limits.nameMaxChars) }) })
      .refuses('wrong_arguments', 'must have at most')
  })
})

describe('DeleteChatbot', () => {
  const remove = (more = {}) => ({ type: 'DeleteChatbot' as const, data: { project: 'shop', chatbot: 'BOT', ...more } })
  test('deletes; IF EXISTS does nothing when it is not there', () => {
    given(...past, botCreated())
      .when(remove())
      .then({ type: 'ChatbotDeleted', data: {} })
    given(...past)
      .when(remove({ ifExists: true }))
      .then()
    given(...past)
      .when(remove())
      .refuses('not_found')
  })
})
