import { describe, expect, test } from '@jest/globals'
import { agentChanges, agentCreation, agentFields } from '../../../src/commands/agent.js'
import { providerOf } from '../../../src/catalogue/llm-providers.js'
import { agentModes, refuseUnfitSettings, settingSchemas } from '../../../src/commands/rules/agent-settings.js'
import { grantsOf } from '../../../src/catalogue/grants.js'
import { limits } from '../../../src/basics/limits.js'
import { given } from '../../support/log/given.js'
import { stream } from '../../support/log/log.js'
import {
  agentData,
  bot,
  botCreated,
  churnHad,
  helperCreated,
  sales,
  salesCreated,
  secret,
  shop,
  shopCreated,
  slackCreated,
  stock,
  stockCreated,
} from './samples.js'

const creation = (more = {}) => ({
  type: 'CreateAgent' as const,
  data: { project: 'shop', agent: 'Helper', model_name: 'gpt-4o', provider: 'openai', skills: [], params: {}, ...more },
})
const update = (changes: object) => ({ type: 'UpdateAgent' as const, data: { project: 'shop', agent: 'helper', ...changes } })
const uses = (...names: string[]) => names.map((name) => ({ name, params: {} }))
const past = [shopCreated, salesCreated(), stockCreated]

describe('CreateAgent', () => {
  test('makes an agent; skills become streams, a doubled one counts once with its last params', () =>
    given(...past)
      .when(creation({ skills: [...uses('SALES', 'stock'), { name: '2', params: { tables: ['t'] } }] }))
      .then({
        type: 'AgentCreated',
        data: agentData({
          skills: [
            { skill: sales, params: { tables: ['t'] } },
            { skill: stock, params: {} },
          ],
        }),
      }))
  test('refuses a skill that is not there', () =>
    void given(...past)
      .when(creation({ skills: uses('sales', 'nope') }))
      .refuses('not_found', 'nope'))
  test.each([
    [{ timeout: 'soon' }, 'timeout: must be a number, at least 0'],
    [{ timeout: -1 }, 'timeout'],
    [{ max_tokens: 0 }, 'max_tokens: must be a number, at least 1'],
    [{ temperature: true }, 'temperature'],
    [{ tokens_per_day: [] }, 'tokens_per_day'],
    [{ model: { model_name: 'gpt-4o', max_tokens: 'all' } }, 'max_tokens'],
    [{ max_steps: 0 }, 'max_steps: must be a number, at least 1'],
    [{ max_queries: 'many' }, 'max_queries: must be a number, at least 1'],
    [{ max_repairs: -1 }, 'max_repairs: must be a number, at least 0'],
    [{ max_prompt_tokens: {} }, 'max_prompt_tokens'],
    [{ mode: 'retreival' }, 'mode: is one of text, sql, retrieval'],
    [{ mode: 7 }, 'mode'],
  ])('refuses %j, also in a change', (params, said) => {
    given(...past)
      .when(creation({ params }))
      .refuses('wrong_arguments', said)
    given(...past, helperCreated())
      .when(update({ params }))
      .refuses('wrong_arguments', said)
  })
  test('refuses the params by which earlier agents got their data, also in a change', () => {
    const params = { database: 'files', include_tables: ['cars'], ignore_tables: null }
    for (const when of [given(...past).when(creation({ params })), given(...past, helperCreated()).when(update({ params }))])
      when.refuses('not_found', 'no params database, include_tables')
  })
  test.each([
    [{ params: { data: { tables: ['files.*'], ignore_tables: [null] } } }, 'ignore_tables: must be a list of names'],
    [{ params: { data: { tables: [{}] } } }, 'tables'],
    [{ params: { models: [7] } }, 'models'],
    [{ skills: [{ name: 'sales', params: { tables: [] } }] }, 'tables'],
    [{ skills: [{ name: 'sales', params: { tables: null } }] }, 'tables'],
  ])('refuses the list of names in %j, also in a change', (changes, said) => {
    given(...past)
      .when(creation(changes))
      .refuses('wrong_arguments', said)
    given(...past, helperCreated())
      .when(update(changes))
      .refuses('wrong_arguments', said)
  })
  test.each([[{ models: [] }], [{ data: { tables: [] } }], [{ data: { models: '', knowledge_bases: ' , ' } }]])(
    'takes the empty list in %j, which grants nothing',
    (params) => {
      given(...past)
        .when(creation({ params }))
        .then({ type: 'AgentCreated', data: agentData({ params }) })
      const { tables, models, knowledgeBases } = grantsOf([], params)
      expect([tables, models, knowledgeBases]).toEqual([[], [], []])
    },
  )
  test('describes settings as it takes them', () => {
    const { mode, ...numbers } = settingSchemas
    expect(mode).toMatchObject({ enum: [...agentModes, null] })
    for (const [name, schema] of Object.entries(numbers)) {
      expect(schema).toMatchObject({ type: ['number', 'string', 'null'] })
      for (const value of [20, '20', null]) expect(() => refuseUnfitSettings({ [name]: value })).not.toThrow()
    }
  })
  test('takes settings as texts, and above a limit of the service', () =>
    given(...past)
      .when(creation({ params: { timeout: '20', max_tokens: 10 ** 9, temperature: 0, mode: 'sql', tongue: 'soon' } }))
      .then({
        type: 'AgentCreated',
        data: agentData({ params: { timeout: '20', max_tokens: 10 ** 9, temperature: 0, mode: 'sql', tongue: 'soon' } }),
      }))
  test('refuses a name in another case; IF NOT EXISTS does nothing', () => {
    given(shopCreated, helperCreated())
      .when(creation({ agent: 'HELPER' }))
      .refuses('already_exists')
    given(shopCreated, helperCreated())
      .when(creation({ agent: 'HELPER', unlessExists: true, skills: uses('nope') }))
      .then()
  })
  test('a model of ours must exist', () => {
    const own = { provider: 'mindsdb', model_name: 'churn' }
    given(shopCreated).when(creation(own)).refuses('not_found', 'model churn')
    given(shopCreated, ...churnHad())
      .when(creation(own))
      .then({ type: 'AgentCreated', data: agentData(own) })
  })
  test('a mask in a new secret place is refused', () =>
    void given(...past)
      .when(creation({ skills: [{ name: 'sales', params: { token: '******' } }] }))
      .refuses('wrong_arguments', 'token'))
})

describe('UpdateAgent', () => {
  const both = helperCreated({
    skills: [
      { skill: sales, params: { token: secret } },
      { skill: stock, params: {} },
    ],
  })
  const skills = (...list: object[]) => ({ type: 'AgentUpdated' as const, data: { skills: list as never } })

  test.each([
    ['a provider that only the name implied follows the name', {}, 'claude-x', { model_name: 'claude-x', provider: 'anthropic' }],
    ['a name that implies none keeps the provider', {}, 'my-own', { model_name: 'my-own', provider: 'openai' }],
    [
      'a stated provider stays',
      { model_name: 'llama3.2', provider: 'ollama' },
      'qwen3:14b',
      { model_name: 'qwen3:14b', provider: 'ollama' },
    ],
    [
      'a stated provider stays for a name that implies another',
      { model_name: 'mine', provider: 'azure_openai' },
      'gpt-4o',
      { model_name: 'gpt-4o', provider: 'azure_openai' },
    ],
    [
      'the provider stays with its address',
      { params: { base_url: 'http://gateway:4000/v1' } },
      'claude-x',
      { model_name: 'claude-x', provider: 'openai' },
    ],
    [
      'the object model has the name too',
      { model_name: null, provider: null, params: { model: { provider: 'ollama', model_name: 'qwen3', api_key: secret } } },
      'qwen3:14b',
      { model_name: 'qwen3:14b', params: { model: { provider: 'ollama', model_name: 'qwen3:14b', api_key: secret } } },
    ],
  ])('%s', (_, before, model_name, changes) => {
    given(...past, helperCreated(before))
      .when(update({ model_name }))
      .then({ type: 'AgentUpdated', data: changes })
  })
  test('a model of the project that is not there is refused for an agent that uses one', () =>
    void given(...past, helperCreated({ model_name: 'rent', provider: 'mindsdb' }))
      .when(update({ model_name: 'nope' }))
      .refuses('not_found', 'nope'))
  test('skills rewrites the whole list', () =>
    given(...past, both)
      .when(update({ skills: uses('stock') }))
      .then(skills({ skill: stock, params: {} })))
  test('skills rewritten to none', () =>
    given(...past, both)
      .when(update({ skills: [] }))
      .then(skills()))
  test('skills_to_add adds at the end, and replaces the params of one that is there', () => {
    given(...past, helperCreated({ skills: [{ skill: sales, params: { a: 1 } }] }))
      .when(
        update({
          skills_to_add: [
            { name: 'stock', params: {} },
            { name: 'sales', params: { b: 2 } },
          ],
        }),
      )
      .then(skills({ skill: stock, params: {} }, { skill: sales, params: { b: 2 } }))
  })
  test('skills_to_remove removes, also what is not in use', () => {
    given(...past, both)
      .when(update({ skills_to_remove: ['SALES'] }))
      .then(skills({ skill: stock, params: {} }))
    given(...past, helperCreated())
      .when(update({ skills_to_remove: ['sales'] }))
      .then(skills())
  })
  test('the ways to change skills do not mix, and one skill is not added and removed at once', () => {
    given(...past, both)
      .when(update({ skills: [], skills_to_add: [] }))
      .refuses('wrong_arguments')
    given(...past, both)
      .when(update({ skills: [], skills_to_remove: [] }))
      .refuses('wrong_arguments')
    given(...past, both)
      .when(update({ skills_to_add: uses('sales'), skills_to_remove: ['2'] }))
      .refuses('wrong_arguments', 'sales')
    given(...past, both)
      .when(update({ skills_to_remove: ['nope'] }))
      .refuses('not_found')
  })
  test('a mask sent back in the params of a skill keeps the secret there', () => {
    const back = [{ name: 'sales', params: { token: '******', a: 1 } }]
    given(...past, both)
      .when(update({ skills: back }))
      .then(skills({ skill: sales, params: { token: secret, a: 1 } }))
    given(...past, both)
      .when(update({ skills_to_add: back }))
      .then(skills({ skill: stock, params: {} }, { skill: sales, params: { token: secret, a: 1 } }))
    given(...past, helperCreated())
      .when(update({ skills: back }))
      .refuses('wrong_arguments')
  })
  test('model, params and name: what results, and then the name', () =>
    given(shopCreated, helperCreated({ params: { a: 1, b: 2 } }))
      .when(update({ model_name: null, provider: null, params: { a: null }, name: 'aide' }))
      .then(
        { type: 'AgentUpdated', data: { model_name: null, provider: null, params: { b: 2 } } },
        { type: 'AgentRenamed', data: { name: 'aide' } },
      ))
  test('to another case of itself; nothing at all; a taken name; one that is not there', () => {
    given(shopCreated, helperCreated())
      .when(update({ name: 'HELPER' }))
      .then({ type: 'AgentRenamed', data: { name: 'HELPER' } })
    given(shopCreated, helperCreated()).when(update({})).then()
    given(shopCreated, helperCreated(), { stream: stock, event: { type: 'AgentCreated', data: agentData({ name: 'Aide' }) } })
      .when(update({ name: 'aide' }))
      .refuses('already_exists')
    given(shopCreated).when(update({})).refuses('not_found')
  })
})

describe('the number of skills', () => {
  const many = Array.from({ length: limits.agentMaxSkills + 1 }, (_, i) => stream(100 + i))
  const made = many.map((where, i) => ({
    stream: where,
    event: { type: 'SkillCreated' as const, data: { project: shop, name: `s${i}`, type: 'sql', params: {} } },
  }))
  const names = many.map((_, i) => `s${i}`)
  const having = (count: number) => helperCreated({ skills: many.slice(0, count).map((skill) => ({ skill, params: {} })) })

  test('has a limit in one request', () => {
    given(shopCreated, ...made)
      .when(creation({ skills: uses(...names) }))
      .refuses('wrong_arguments', `at most ${limits.agentMaxSkills}`)
    for (const changes of [{ skills: uses(...names) }, { skills_to_add: uses(...names) }, { skills_to_remove: names }])
      given(shopCreated, helperCreated(), ...made)
        .when(update(changes))
        .refuses('wrong_arguments', `at most ${limits.agentMaxSkills}`)
  })
  test('has a limit over several; one that has more may lose some', () => {
    const last = names.at(-1) ?? ''
    given(shopCreated, having(limits.agentMaxSkills), ...made)
      .when(update({ skills_to_add: uses(last) }))
      .refuses('wrong_arguments', `at most ${limits.agentMaxSkills}`)
    const all = many.slice(0, -1).map((skill) => ({ skill, params: {} }))
    given(shopCreated, having(limits.agentMaxSkills + 1), ...made)
      .when(update({ skills_to_remove: [last] }))
      .then({ type: 'AgentUpdated', data: { skills: all } })
    given(shopCreated, having(limits.agentMaxSkills - 1), ...made)
      .when(update({ skills_to_add: uses(names.at(-2) ?? '') }))
      .then({ type: 'AgentUpdated', data: { skills: all } })
  })
})

describe('DeleteAgent', () => {
  const remove = (more = {}) => ({ type: 'DeleteAgent' as const, data: { project: 'shop', agent: 'HELPER', ...more } })
  test('deletes; IF EXISTS does nothing when it is not there', () => {
    given(shopCreated, helperCreated()).when(remove()).then({ type: 'AgentDeleted', data: {} })
    given(shopCreated)
      .when(remove({ ifExists: true }))
      .then()
    given(shopCreated).when(remove()).refuses('not_found')
    given().when(remove()).refuses('not_found', 'Project')
  })
  test('refuses while chatbots use it, and names them', () => {
    const used = [shopCreated, slackCreated(), helperCreated(), botCreated()]
    for (const flags of [{}, { ifExists: true }])
      given(...used)
        .when(remove(flags))
        .refuses('not_empty', "'Helper' can not be deleted, because it answers for: chatbot Bot")
    const many = Array.from({ length: 25 }, (_, n) => ({ ...botCreated({ name: `b${n}` }), stream: stream(100 + n) }))
    given(...used, ...many)
      .when(remove())
      .refuses('not_empty', 'chatbot b18 and more')
    given(...used, { stream: bot, event: { type: 'ChatbotDeleted', data: {} } })
      .when(remove())
      .then({ type: 'AgentDeleted', data: {} })
    given(...used, { stream: bot, event: { type: 'ChatbotUpdated', data: { agent: null, model_name: 'm' } } })
      .when(remove())
      .then({ type: 'AgentDeleted', data: {} })
  })
})

describe('what clients send for agents', () => {
  test('a model as text is a name, as an object a param; its provider follows from the name', () => {
    expect(agentCreation(agentFields.parse({ model: 'claude-3', skills: ['a', { name: 'b', tables: ['t'] }], data: { x: 1 } }))).toEqual({
      model_name: 'claude-3',
      provider: 'anthropic',
      skills: [
        { name: 'a', params: {} },
        { name: 'b', params: { tables: ['t'] } },
      ],
      params: { data: { x: 1 } },
    })
    expect(agentCreation(agentFields.parse({ model: { model_name: 'gpt-4o', api_key: 'k' } }))).toEqual({
      model_name: null,
      provider: null,
      skills: [],
      params: { model: { model_name: 'gpt-4o', api_key: 'k' } },
    })
  })
  test('an update holds only what was sent', () => {
    expect(agentChanges(agentFields.parse({}))).toEqual({})
    expect(agentChanges(agentFields.parse({ provider: 'x', skills_to_remove: ['a', { name: 'b' }], skills: null }))).toEqual({
      provider: 'x',
      skills_to_remove: ['a', 'b'],
    })
    expect(agentChanges(agentFields.parse({ model_name: 'unheard-of' }))).toEqual({ model_name: 'unheard-of' })
  })
  test.each([
    ['gpt-4o', 'openai'],
    ['o3', 'openai'],
    ['claude-x', 'anthropic'],
    ['gemini-2', 'google'],
    ['llama', null],
  ])('%s is of %s', (name, provider) => expect(providerOf(name)).toBe(provider))
})
