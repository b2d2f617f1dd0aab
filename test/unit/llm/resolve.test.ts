import { describe, expect, test } from '@jest/globals'
import type { JsonObject } from '../../../events/common.js'
import { isProblem, type Problem } from '../../../src/basics/errors.js'
import { resolveModel, type ModelSources, type ResolvedModel } from '../../../src/llm/resolve.js'
import type { ModelAccess } from '../../../src/setup/language-model-settings.js'

const sealed = (letter: string) => ({ $secret: letter.repeat(64) })
const [own, shared] = [sealed('a'), sealed('b')]
type Own = { model_name?: string | null; provider?: string | null; params?: JsonObject }
const resolved = (agent: Own, defaults?: JsonObject, environment: ModelAccess = {}): ResolvedModel => {
  const sources: ModelSources = {
    what: 'agent',
    own: { ...agent, params: agent.params ?? {} },
    defaults,
    defaultName: 'default_llm',
    environment,
  }
  return resolveModel(sources)
}
const refusal = (...given: Parameters<typeof resolved>): Problem => {
  try {
    resolved(...given)
  } catch (error) {
    if (isProblem(error)) return error
  }
  throw new Error('it was not refused')
}
const brief = ({ provider, model, address, key }: ResolvedModel) => [provider, model, address, key && key.value, key && key.source]

describe('what an agent says', () => {
  test.each<[string, Own, unknown[]]>([
    [
      '25: a name and a key',
      { model_name: 'gpt-4o', params: { openai_api_key: own } },
      ['openai', 'gpt-4o', 'https://api.openai.com/v1', own, 'agent'],
    ],
    [
      '25: a provider',
      { model_name: 'my-claude', provider: 'Anthropic', params: { anthropic_api_key: own } },
      ['anthropic', 'my-claude', 'https://api.anthropic.com/v1', own, 'agent'],
    ],
    [
      '25: an address',
      { model_name: 'llama3', params: { base_url: 'http://10.0.0.1:8000/v1/', api_key: own } },
      ['openai_compatible', 'llama3', 'http://10.0.0.1:8000/v1', own, 'agent'],
    ],
    [
      '25: an older name of it',
      { model_name: 'gpt-4o', params: { api_base: 'https://p.example/v1/chat/completions', openai_api_key: own } },
      ['openai', 'gpt-4o', 'https://p.example/v1', own, 'agent'],
    ],
    [
      '26: an object',
      { params: { model: { provider: 'google', model_name: 'gemini-2', api_key: own } } },
      ['google', 'gemini-2', 'https://generativelanguage.googleapis.com/v1beta/openai', own, 'agent'],
    ],
    [
      '26: with an address',
      { params: { model: { provider: 'azure', model_name: 'dep', base_url: 'https://r.openai.azure.com', api_key: own } } },
      ['azure_openai', 'dep', 'https://r.openai.azure.com/openai/v1', own, 'agent'],
    ],
    [
      '26: without a provider',
      { params: { model: { model_name: 'claude-x', api_key: own } } },
      ['anthropic', 'claude-x', 'https://api.anthropic.com/v1', own, 'agent'],
    ],
    ['a local server', { model_name: 'qwen', provider: 'ollama' }, ['ollama', 'qwen', 'http://127.0.0.1:11434/v1', null, null]],
    [
      'a local server with a short address',
      { model_name: 'qwen', provider: 'ollama', params: { base_url: 'http://gpu:11434' } },
      ['ollama', 'qwen', 'http://gpu:11434/v1', null, null],
    ],
    [
      'a server nobody knows',
      { model_name: 'm', provider: 'acme', params: { base_url: 'https://acme.example/x' } },
      ['acme', 'm', 'https://acme.example/x', null, null],
    ],
    [
      'keys of several providers',
      { model_name: 'gpt-4o', params: { anthropic_api_key: shared, openai_api_key: own } },
      ['openai', 'gpt-4o', 'https://api.openai.com/v1', own, 'agent'],
    ],
  ])('%s', (_, agent, expected) => expect(brief(resolved(agent))).toEqual(expected))

  test('its other parameters', () =>
    expect(
      resolved({ model_name: 'm', provider: 'vllm', params: { temperature: '0.5', max_tokens: 100, timeout: 20, api_version: 'v1' } }),
    ).toMatchObject({ temperature: 0.5, maxTokens: 100, timeoutMs: 20_000, apiVersion: 'v1' }))
})

describe('what it does not say', () => {
  const defaults = { provider: 'openai', model_name: 'gpt-4o', api_key: shared, base_url: 'https://proxy.example/v1', temperature: 0 }
  const environment = {
    openai: { apiKey: 'from-environment', address: 'https://env.example/v1' },
    anthropic: { apiKey: 'anthropic-environment' },
    ollama: { address: 'http://gpu:11434' },
  }
  test.each<[string, Own, JsonObject | undefined, unknown[]]>([
    ['the model comes from the default', {}, defaults, ['openai', 'gpt-4o', 'https://proxy.example/v1', shared, 'config']],
    [
      'the access comes from the default of the same provider',
      { model_name: 'gpt-5', provider: 'openai' },
      defaults,
      ['openai', 'gpt-5', 'https://proxy.example/v1', shared, 'config'],
    ],
    [
      'a name alone belongs to the default',
      { model_name: 'house-model' },
      defaults,
      ['openai', 'house-model', 'https://proxy.example/v1', shared, 'config'],
    ],
    [
      'another provider is of the environment',
      { model_name: 'claude-x' },
      defaults,
      ['anthropic', 'claude-x', 'https://api.anthropic.com/v1', 'anthropic-environment', 'environment'],
    ],
    [
      'without a default all is of the environment',
      { model_name: 'gpt-4o' },
      undefined,
      ['openai', 'gpt-4o', 'https://env.example/v1', 'from-environment', 'environment'],
    ],
    [
      'the address of a local server',
      { model_name: 'q', provider: 'ollama' },
      undefined,
      ['ollama', 'q', 'http://gpu:11434/v1', null, null],
    ],
  ])('%s', (_, agent, given, expected) => expect(brief(resolved(agent, given, environment))).toEqual(expected))

  test.each<[string, Own]>([
    ['an address of its own', { model_name: 'gpt-4o', provider: 'openai', params: { base_url: 'https://evil.example/v1' } }],
    ['the same host over http', { model_name: 'gpt-4o', provider: 'openai', params: { base_url: 'http://proxy.example/v1' } }],
    ['the same host at another port', { model_name: 'gpt-4o', provider: 'openai', params: { base_url: 'https://env.example:8443/v1' } }],
    ['an object with an address', { params: { model: { provider: 'openai', model_name: 'm', base_url: 'https://evil.example/v1' } } }],
  ])('no key of the service goes to %s', (_, agent) => expect(resolved(agent, defaults, environment).key).toBeNull())

  test('a key of the service goes to another path of its own origin', () => {
    const agent = (base_url: string) => ({ model_name: 'm', provider: 'openai', params: { base_url } })
    expect(resolved(agent('https://proxy.example/other'), defaults, environment).key?.value).toBe(shared)
    expect(resolved(agent('https://env.example/other'), defaults, environment).key?.value).toBe('from-environment')
  })

  test('the key of the environment goes to the address of the same environment, and not to that of the provider', () =>
    expect(
      refusal({ model_name: 'm', provider: 'openai', params: { base_url: 'https://api.openai.com/v1' } }, undefined, environment).title,
    ).toBe('No key'))

  test("an agent's key does not go to an address of the service", () =>
    expect(brief(resolved({ model_name: 'gpt-4o', params: { openai_api_key: own } }, defaults, environment))).toEqual([
      'openai',
      'gpt-4o',
      'https://api.openai.com/v1',
      own,
      'agent',
    ]))
})

test.each<[string, Own, RegExp]>([
  ['no model', {}, /model_name/],
  ['a model of nobody', { model_name: 'house-model' }, /base_url/],
  ['a provider without an address', { model_name: 'm', provider: 'acme' }, /base_url/],
  ['Azure without an address', { model_name: 'm', provider: 'azure', params: { api_key: own } }, /AZURE_OPENAI_ENDPOINT/],
  ['no key', { model_name: 'gpt-4o' }, /OPENAI_API_KEY/],
  ['a key of another provider', { model_name: 'gpt-4o', params: { anthropic_api_key: own } }, /openai_api_key/],
  ['a model of ours', { model_name: 'churn', provider: 'mindsdb' }, /tools/],
  ['an address that is none', { model_name: 'm', params: { base_url: 'not an address' } }, /base_url/],
  ['a path of files', { model_name: 'm', params: { base_url: 'file:///etc/passwd' } }, /base_url/],
  ['an address with a password', { model_name: 'm', params: { base_url: sealed('c') } }, /api_key/],
  ['an address with parameters', { model_name: 'm', params: { base_url: 'https://a.example/v1?api-version=2' } }, /api_version/],
])('%s is refused with a hint', (_, agent, hint) => {
  const { code, extras } = refusal(agent)
  expect(code).toBe('llm_failed')
  expect(extras.hint).toMatch(hint)
})
