import { describe, expect, test } from '@jest/globals'
import { knowledgeSettings, readChunking } from '../../../src/commands/knowledge-base-input.js'
import { knowledgeBaseDecider } from '../../../src/commands/knowledge-base.js'

const hash = 'ab'.repeat(32)
const project = { kind: 'project', stream: 'p', id: 1, version: 1, state: { name: 'shop' } }
const state = {
  ...{ project: 'p', name: 'docs', embedding_model: null, reranking_model: null, storage: null },
  ...{ content_columns: [], metadata_columns: [], id_column: null, chunking: { size: 1_000, overlap: 200 }, params: { a: 1 } },
}
const base = { kind: 'knowledge_base', stream: 'k', id: 2, version: 1, state }
const nothing = { knowledge_base: undefined, clash: undefined, usual: undefined }
const decide = (command: object, facts: object = {}) =>
  knowledgeBaseDecider.decide(command as never, { project, ...nothing, ...facts } as never)
const target = { project: 'shop', knowledge_base: 'docs' }
const embedding = { provider: 'openai', model_name: 'm', base_url: 'http://a', api_key: { $secret: hash } }

describe('a knowledge base', () => {
  test('is created with the settings that were sent, and defaults for the others', () =>
    expect(
      decide({ type: 'CreateKnowledgeBase', data: { ...target, content_columns: ['body'], preprocessing: { chunk_size: 500 } } }),
    ).toEqual([
      { type: 'KnowledgeBaseCreated', data: { ...state, content_columns: ['body'], chunking: { size: 500, overlap: 100 }, params: {} } },
    ]))

  test('has a name that FROM takes for nothing else', () => {
    const create = { type: 'CreateKnowledgeBase', data: target }
    expect(() => decide(create, { knowledge_base: base })).toThrow('Knowledge base with name docs already exists')
    expect(decide({ type: 'CreateKnowledgeBase', data: { ...target, unlessExists: true } }, { knowledge_base: base })).toEqual([])
    expect(() => decide(create, { asView: {} })).toThrow('docs is the name of a view in this project')
    expect(() => decide(create, { asAgent: {} })).toThrow('docs is the name of an agent in this project')
    expect(() => decide({ type: 'CreateKnowledgeBase', data: { ...target, knowledge_base: 'models' } })).toThrow('every project has')
  })

  test('keeps the model of its vectors', () => {
    const update = (embedding_model: object, before: object | null = embedding) =>
      decide(
        { type: 'UpdateKnowledgeBase', data: { ...target, embedding_model } },
        { knowledge_base: { ...base, state: { ...state, embedding_model: before } } },
      )
    expect(update({ api_key: { $secret: 'cd'.repeat(32) } })).toMatchObject([{ type: 'KnowledgeBaseUpdated' }])
    expect(() => update({ model_name: 'other' })).toThrow('embedding_model.model_name cannot be changed')
    const uploaded = { provider: 'onnx', file: 'minilm', max_tokens: 256 }
    expect(() => update({ max_tokens: 64 }, uploaded)).toThrow('embedding_model.max_tokens cannot be changed')
    expect(() => update({ max_tokens: null }, uploaded)).toThrow('embedding_model.max_tokens cannot be changed')
    expect(update({ max_tokens: 64 })).toMatchObject([{ type: 'KnowledgeBaseUpdated' }])
    expect(() => update({ model_name: 'm' }, null)).toThrow('created without one')
    expect(() => update({ base_url: 'http://b' })).toThrow('would send it to')
    expect(update({ base_url: 'http://b', api_key: { $secret: 'cd'.repeat(32) } })).toMatchObject([{ type: 'KnowledgeBaseUpdated' }])
  })

  test('has the default model, and its key stays there; {} is no model', () => {
    const usual = { state: { value: { provider: 'openai', model_name: 'm', api_key: { $secret: hash } } } }
    const model = (data: object) => decide({ type: 'CreateKnowledgeBase', data: { ...target, ...data } }, { usual })
    expect(model({})).toMatchObject([{ data: { embedding_model: { provider: 'openai', model_name: 'm' } } }])
    expect(JSON.stringify(model({}))).not.toContain(hash)
    expect(model({ embedding_model: {} })).toMatchObject([{ data: { embedding_model: null } }])
  })

  test('has also the numbers of the default model, on which vectors depend', () => {
    const value = { provider: 'onnx', file: 'minilm', max_tokens: 128, dimensions: 256 }
    expect(decide({ type: 'CreateKnowledgeBase', data: target }, { usual: { state: { value } } })).toMatchObject([
      { data: { embedding_model: value } },
    ])
  })

  test('keeps the secret of its storage for a mask, and takes no mask without one', () => {
    const storage = { database: 'pg', table: 't', password: { $secret: hash } }
    const masked = { ...storage, password: '******' }
    const update = (sent: object, before: object | null = storage) =>
      decide(
        { type: 'UpdateKnowledgeBase', data: { ...target, storage: sent } },
        { knowledge_base: { ...base, state: { ...state, storage: before } } },
      )
    expect(update(masked)).toEqual([{ type: 'KnowledgeBaseUpdated', data: { storage } }])
    expect(update({ database: 'pg', table: 'u' })).toEqual([
      { type: 'KnowledgeBaseUpdated', data: { storage: { database: 'pg', table: 'u' } } },
    ])
    expect(() => update(masked, null)).toThrow('password is a mask')
    expect(() => decide({ type: 'CreateKnowledgeBase', data: { ...target, storage: masked } })).toThrow('password is a mask')
  })

  test('is renamed and deleted', () => {
    expect(decide({ type: 'UpdateKnowledgeBase', data: { ...target, name: 'papers' } }, { knowledge_base: base })).toEqual([
      { type: 'KnowledgeBaseRenamed', data: { name: 'papers' } },
    ])
    expect(decide({ type: 'DeleteKnowledgeBase', data: target }, { knowledge_base: base })).toEqual([
      { type: 'KnowledgeBaseDeleted', data: {} },
    ])
    expect(() => decide({ type: 'DeleteKnowledgeBase', data: target })).toThrow('Knowledge base with name docs does not exist')
  })
})

describe('settings', () => {
  test('are read in the shapes of all clients', () => {
    expect(knowledgeSettings({ storage: 'a.b', content_columns: 'title, body', params: { x: 1, id_column: 'key' } })).toEqual({
      storage: { database: 'a', table: 'b' },
      content_columns: ['title', 'body'],
      id_column: 'key',
      params: { x: 1 },
    })
    expect(knowledgeSettings({ model: 'files.minilm' })).toEqual({ embedding_model: { provider: 'onnx', file: 'minilm' } })
  })

  test.each([
    [{ chunk_size: 10 }, /50 to 10000/],
    [{ chunk_size: 100, chunk_overlap: 60 }, /at most half/],
    [{ chunk_size: '100' }, /whole number/],
    [{ type: 'contextual' }, /is not known/],
    [{ separators: [] }, /is not a setting/],
  ])('of chunks are checked: %j', (preprocessing, message) => expect(() => readChunking(preprocessing as never)).toThrow(message))

  test('of chunks may stand inside text_chunking_config', () =>
    expect(readChunking({ type: 'text_chunking', text_chunking_config: { chunk_size: 300, chunk_overlap: 30 } })).toEqual({
      size: 300,
      overlap: 30,
    }))
})
