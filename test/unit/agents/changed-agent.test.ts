import { expect, test } from '@jest/globals'
import type { Agent } from '../../../events/agent.js'
import type { StreamId } from '../../../events/common.js'
import { changedAgent, type AgentChange } from '../../../src/agents/rerun/changed-agent.js'
import { resolveModel } from '../../../src/llm/resolve.js'
import type { Resource } from '../../../src/log/contract/log.js'

const gateway = 'http://gateway.example/v1'

/** An agent after a change. */
const changed = async (own: Partial<Agent>, change: AgentChange): Promise<Agent> => {
  const state: Agent = { project: 'p' as StreamId, name: 'a', model_name: null, provider: null, skills: [], params: {}, ...own }
  const found = { stream: 's', version: 1, state } as unknown as Resource<'agent'>
  const place = { log: {}, resources: { byStream: async () => found } } as unknown as Parameters<typeof changedAgent>[0]
  return (await changedAgent(place, found.stream, change)).state
}

/** The address, the model and the key of an agent after a change. */
const called = async (own: Partial<Agent>, change: AgentChange): Promise<unknown[]> => {
  const environment = { openai: { apiKey: 'sk-service' } }
  const { address, model, key } = resolveModel({
    what: 'agent',
    own: await changed(own, change),
    defaults: undefined,
    defaultName: 'default_llm',
    environment,
  })
  return [address, model, key?.value ?? null]
}

test.each<[string, Partial<Agent>]>([
  ['a gateway', { provider: 'litellm', model_name: 'openai/gpt-4o', params: { base_url: gateway } }],
  ['an address without a provider', { model_name: 'qwen', params: { base_url: gateway } }],
  ['a gateway in an object', { params: { model: { provider: 'openrouter', model_name: 'anthropic/claude', base_url: gateway } } }],
])('another model is asked at the address of the agent, though its name begins with a provider: %s', async (_, own) => {
  expect(await called(own, { model: 'openai/gpt-4o-mini' })).toEqual([gateway, 'openai/gpt-4o-mini', null])
})

test('a provider that is named gets the model at its own address, with the key of the service', async () => {
  const own = { provider: 'litellm', model_name: 'openai/gpt-4o', params: { base_url: gateway, api_key: 'sk-gateway' } }
  expect(await called(own, { model: 'gpt-4o-mini', provider: 'OpenAI' })).toEqual([
    'https://api.openai.com/v1',
    'gpt-4o-mini',
    'sk-service',
  ])
  await expect(called(own, { provider: 'openai' })).rejects.toMatchObject({ code: 'wrong_arguments' })
})

test('a provider that is named gets the model with the other settings of the agent, also those inside of model', async () => {
  const settings = { temperature: 0, max_tokens: 300, max_prompt_tokens: 3_000 }
  const chosen = { name: 'gpt-4o', provider: 'openai', base_url: gateway, api_key: 'sk-gateway', api_version: 'v1' }
  const params = { data: { tables: ['files.cars'] }, model: { ...chosen, ...settings } }
  const change = { model: 'llama3.2', provider: 'ollama' }
  expect((await changed({ params }, change)).params).toEqual({ data: params.data, model: settings })
  expect((await changed({ params: { model: chosen, temperature: 0 } }, change)).params).toEqual({ temperature: 0 })
  expect(await called({ params }, change)).toEqual(['http://127.0.0.1:11434/v1', 'llama3.2', null])
})
