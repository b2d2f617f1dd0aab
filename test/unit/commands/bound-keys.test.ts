import { describe, expect, test } from '@jest/globals'
import type { JsonObject } from '../../../events/common.js'
import { refuseMovedKeys } from '../../../src/commands/rules/bound-keys.js'
import { given } from '../../support/log/given.js'
import { agentData, helperCreated, shopCreated } from './samples.js'

const key = { $secret: 'ab'.repeat(32) }
const newKey = { $secret: 'cd'.repeat(32) }
type Saying = { provider?: string | null; model_name?: string | null; params: JsonObject }
const moves = (before: Saying, after: Saying): boolean => {
  try {
    refuseMovedKeys(before, after)
    return false
  } catch {
    return true
  }
}

const gpt: Saying = { provider: 'openai', model_name: 'gpt-4o', params: { api_key: key } }
const named: Saying = { provider: 'openai', model_name: 'gpt-4o', params: { openai_api_key: key } }
const evil = 'https://evil.example/v1'
const inner = (model: JsonObject): Saying => ({ params: { model: { provider: 'openai', model_name: 'm', ...model } } })

describe('a key that is kept', () => {
  test.each<[string, Saying, Saying]>([
    ['an address is added', gpt, { ...gpt, params: { ...gpt.params, base_url: evil } }],
    ['an address under another name is added', gpt, { ...gpt, params: { ...gpt.params, openai_api_base: evil } }],
    ['the address of its provider only is added', gpt, { ...gpt, params: { ...gpt.params, openai_base_url: evil } }],
    ['an inner address is added', gpt, { ...gpt, params: { ...gpt.params, model: { base_url: evil } } }],
    ['the provider is another one', gpt, { ...gpt, provider: 'anthropic', model_name: 'claude-x' }],
    ['the provider is not known any more', gpt, { ...gpt, provider: 'acme' }],
    [
      'a key of a name meets an address, even where it is not used',
      named,
      { provider: 'anthropic', model_name: 'claude-x', params: { ...named.params, base_url: evil } },
    ],
    ['an address is taken away', { ...named, params: { ...named.params, base_url: evil } }, named],
    [
      'the protocol is another one',
      { ...gpt, params: { api_key: key, base_url: 'https://a.example' } },
      { ...gpt, params: { api_key: key, base_url: 'http://a.example' } },
    ],
    [
      'the port is another one',
      { ...gpt, params: { api_key: key, base_url: 'https://a.example' } },
      { ...gpt, params: { api_key: key, base_url: 'https://a.example:444' } },
    ],
    ['the inner address is another one', inner({ api_key: key, base_url: 'https://a.example' }), inner({ api_key: key, base_url: evil })],
    ['the address gets a password', gpt, { ...gpt, params: { ...gpt.params, base_url: newKey } }],
  ])('is refused where %s', (_, before, after) => expect(moves(before, after)).toBe(true))

  test.each<[string, Saying, Saying]>([
    ['another model of its provider is taken', gpt, { ...gpt, model_name: 'gpt-5' }],
    [
      'the path of its address changes',
      { ...gpt, params: { api_key: key, base_url: 'https://a.example/v1' } },
      { ...gpt, params: { api_key: key, base_url: 'https://a.example/v2' } },
    ],
    ['its own address is written out', gpt, { ...gpt, params: { ...gpt.params, base_url: 'https://api.openai.com/v1' } }],
    ['another provider is taken, and the key is of a name', named, { ...named, provider: 'anthropic', model_name: 'claude-x' }],
    ['the address of another provider only is added', named, { ...named, params: { ...named.params, ollama_base_url: evil } }],
    ['other params change', gpt, { ...gpt, params: { ...gpt.params, prompt_template: 'x', webhook_endpoint: evil } }],
  ])('stays where %s', (_, before, after) => expect(moves(before, after)).toBe(false))

  test('may be given again, or taken out, in the same change', () => {
    expect(moves(gpt, { ...gpt, params: { api_key: newKey, base_url: evil } })).toBe(false)
    expect(moves(gpt, { ...gpt, params: { base_url: evil } })).toBe(false)
  })
})

describe('UpdateAgent', () => {
  const past = [shopCreated, helperCreated({ params: { openai_api_key: key } })]
  const update = (changes: object) => ({ type: 'UpdateAgent' as const, data: { project: 'shop', agent: 'helper', ...changes } })
  test('refuses an address without its key, and names the key', () => {
    given(...past)
      .when(update({ params: { base_url: evil } }))
      .refuses('wrong_arguments', 'openai_api_key was given for https://api.openai.com')
    given(...past)
      .when(update({ params: { base_url: evil, openai_api_key: '******' } }))
      .refuses('wrong_arguments', 'openai_api_key')
  })
  test('takes an address with its key, or without any', () => {
    given(...past)
      .when(update({ params: { base_url: evil, openai_api_key: newKey } }))
      .then({ type: 'AgentUpdated', data: { params: { openai_api_key: newKey, base_url: evil } } })
    given(...past)
      .when(update({ params: { base_url: evil, openai_api_key: null } }))
      .then({ type: 'AgentUpdated', data: { params: { base_url: evil } } })
  })
  test('cannot lead a key away in two steps', () => {
    const after = agentData({ params: { openai_api_key: key } })
    expect(after.provider).toBe('openai')
    given(...past)
      .when(update({ provider: 'anthropic', model_name: 'claude-x', params: { base_url: evil } }))
      .refuses('wrong_arguments', 'openai_api_key')
  })
})
