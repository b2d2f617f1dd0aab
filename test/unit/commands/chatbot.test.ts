import { describe, test } from '@jest/globals'
import { given } from '../../support/log/given.js'
import { botCreated, botData, churnHad, helperCreated, secret, shopCreated, slackCreated, stream7 } from './samples.js'

const past = [shopCreated, helperCreated(), slackCreated()]
const creation = (more = {}) => ({
  type: 'CreateChatbot' as const,
  data: { project: 'shop', chatbot: 'Bot', agent: 'HELPER', database: 'slack', ...more },
})
const update = (changes: object) => ({ type: 'UpdateChatbot' as const, data: { project: 'shop', chatbot: 'bot', ...changes } })
const put = (changes: object) => ({ type: 'PutChatbot' as const, data: { project: 'shop', chatbot: 'Bot', ...changes } })

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
    const connection = { database: 'slack', stream: stream7, engine: 'webhook', parameters: {} }
    const { database: _, ...data } = creation({ connection }).data
    given(...past)
      .when({ type: 'CreateChatbot', data })
      .refuses('already_exists', 'slack')
    given(...past)
      .when({ type: 'PutChatbot', data })
      .refuses('already_exists', 'slack')
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
