import { describe, test } from '@jest/globals'
import type { JsonObject } from '../../../events/common.js'
import { given } from '../../support/log/given.js'
import { stream } from '../../support/log/log.js'
import { hash, secret } from './samples.js'

const [llm, embedding, reranking, prices] = [stream(21), stream(22), stream(23), stream(24)]
const streams = { default_llm: llm, default_embedding_model: embedding, default_reranking_model: reranking, llm_prices: prices }
const update = (parameters: Record<string, JsonObject>) => ({ type: 'UpdateConfig' as const, data: { parameters, streams } })
const openai = { provider: 'openai', api_key: secret }
const set = { stream: llm, event: { type: 'ConfigCreated' as const, data: { name: 'default_llm' as const, value: openai } } }
const another = { $secret: 'ef'.repeat(32) }

describe('defaults', () => {
  test('each that is set begins a resource of its own, without its nulls', () =>
    given()
      .when(update({ default_llm: { provider: 'openai', api_key: null }, default_embedding_model: { provider: 'x' } }))
      .then(
        { type: 'ConfigCreated', data: { name: 'default_llm', value: { provider: 'openai' } } },
        { type: 'ConfigCreated', data: { name: 'default_embedding_model', value: { provider: 'x' } } },
      ))

  test('a new value replaces the old one as a whole', () =>
    given(set)
      .when(update({ default_llm: { provider: 'google', api_key: another } }))
      .then({ type: 'ConfigUpdated', data: { value: { provider: 'google', api_key: another } } }))

  test('a mask keeps the secret at its place, and what is the same is no event', () => {
    given(set)
      .when(update({ default_llm: { provider: 'openai', model_name: 'gpt-5', api_key: '******' } }))
      .then({ type: 'ConfigUpdated', data: { value: { provider: 'openai', model_name: 'gpt-5', api_key: { $secret: hash } } } })
    given(set)
      .when(update({ default_llm: { provider: 'openai', api_key: '******' } }))
      .then()
  })

  test.each([
    { provider: 'google', api_key: '******' },
    { provider: 'openai', api_key: '******', base_url: 'https://evil.example/v1' },
    { provider: 'openai', api_key: '******', base_url: 'http://api.openai.com/v1' },
  ])('a key that is kept is not sent elsewhere: %j', (value) => {
    given(set)
      .when(update({ default_llm: value }))
      .refuses('wrong_arguments', 'https://api.openai.com')
  })

  test('a mask where there is no secret is refused', () => {
    given()
      .when(update({ default_llm: { api_key: '******' } }))
      .refuses('wrong_arguments', 'api_key')
  })

  test('an empty one takes it back, once', () => {
    given(set)
      .when(update({ default_llm: {} }))
      .then({ type: 'ConfigDeleted', data: {} })
    given()
      .when(update({ default_llm: {} }))
      .then()
  })
})
