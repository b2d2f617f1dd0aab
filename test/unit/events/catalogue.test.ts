import { describe, expect, test } from '@jest/globals'
import * as z from 'zod'
import { catalogue, currentSchema, evolve, kinds, linksOf, upcast, type Kind } from '../../../events/catalogue/catalogue.js'
import { streamId } from '../../../events/common.js'
import type { FileContent } from '../../../events/file.js'
import type { TrainingRequest, TrainingResult } from '../../../events/model.js'
import { blobsOf, erasedBlobsOf, erasedPayloadsOf, payloadsOf } from '../../../events/catalogue/references.js'

const p = streamId.parse('00000000-0000-7000-8000-000000000001')
const s = streamId.parse('00000000-0000-7000-8000-000000000002')
const hash = 'ab'.repeat(32)

const fold = (kind: Kind, ...events: { type: string; data: unknown }[]): unknown =>
  events.reduce<unknown>((state, event) => evolve(kind, state as never, event), undefined)

const content: FileContent = { content: hash, bytes: 10, row_count: 1, columns: [{ name: 'a', type: 'BIGINT' }], original_name: 'a.csv' }
const request: TrainingRequest = {
  version: 1,
  engine: 'boost',
  target: 'y',
  database: 'files',
  query: 'SELECT 1 AS y',
  using: {},
  seed: 7,
  activate: true,
  tag: null,
}
const result: TrainingResult = {
  version: 1,
  artefact: hash,
  matrix: hash,
  read_at: 1,
  rows: 10,
  accuracy: 0.5,
  report: {},
  runtime: {},
  seconds: 0.1,
}
const skill = { project: p, name: 'Sales', type: 'sql', params: { a: 1, b: 2 } }
const answered = {
  ...{
    agent: s,
    version: 1,
    answer: p,
    purpose: 'completion',
    conversation: null,
    provider: 'openai',
    model: 'gpt-4o',
    host: 'localhost:1',
  },
  ...{
    skills: [{ skill: s, version: 1 }],
    models: [{ model: s, version: 1 }],
    knowledge_bases: [{ knowledge_base: s, version: 1, position: 3 }],
  },
  read_at: 2,
  steps: [
    { kind: 'sql', name: 'query', outcome: 'complete', duration_ms: 1, rows: 2, input_tokens: null, output_tokens: null },
    {
      ...{ kind: 'search', name: 'search_knowledge', outcome: 'complete', duration_ms: 1, rows: 2, input_tokens: 5, output_tokens: null },
      models: [{ role: 'embedding', provider: 'openai', model: 'small', host: 'localhost:1', input_tokens: 5, output_tokens: null }],
    },
  ],
  ...{ input_tokens: 3, output_tokens: 4, outcome: 'answered', error: null, first_token_ms: 1, duration_ms: 2, payload: hash },
}
const agent = { project: p, name: 'helper', model_name: 'gpt-4o', provider: 'openai', skills: [{ skill: s, params: {} }], params: { k: 1 } }
const chatbot = { project: p, name: 'bot', agent: s, model_name: null, database: p, is_running: false, params: {} }
const conversation = { chatbot: s, name: 'c0ffee', channel: 'slack' }
const delivery = { message: p, reply: s, answer: p, answered_at: 3, payload: hash }
const knowledgeBase = {
  ...{
    project: p,
    name: 'docs',
    embedding_model: { provider: 'openai', api_key: { $secret: hash } },
    reranking_model: null,
    storage: null,
  },
  ...{ content_columns: ['body'], metadata_columns: [], id_column: null, chunking: { size: 1000, overlap: 200 }, params: {} },
}
const inserted = {
  ...{ knowledge_base: s, version: 1, source: 'rows', documents: 2, chunks: 3, bytes: 2_000, chunking: { size: 1000, overlap: 200 } },
  ...{
    embedding: { provider: 'openai', model: 'm', host: 'h', dimensions: 3, input_tokens: 9 },
    replaces: [{ position: 7, rows: [0, 2] }],
    payload: hash,
    vectors: hash,
  },
}
const view = { project: p, name: 'v', query: 'SELECT 1', database: 'files' }
const database = { name: 'slack', engine: 'slack', parameters: { token: { $secret: hash } } }
const job = {
  project: p,
  name: 'nightly',
  query: 'SELECT 1',
  if_query: null,
  sealed: { $secret: hash },
  start_at: '2026-01-01T00:00:00.000000Z',
  end_at: null,
  schedule: { count: 1, unit: 'day', said: 'every day' },
}
const run = {
  run: 'r',
  due_at: '2026-01-01T00:00:00.000000Z',
  started_at: '2026-01-01T00:00:01.000000Z',
  next_run_at: '2026-01-02T00:00:00.000000Z',
}
const queried = {
  connection: s,
  version: 1,
  purpose: 'query',
  statement: 'SELECT 1',
  rows: 1,
  bytes: 4,
  duration_ms: 0.5,
  outcome: 'complete',
  user: 'ada',
  training: { model: s, version: 2 },
}
const served = { model: s, version: 1, rows: 1, requests: [{ request: 'r', rows: 1 }], payload: hash, statement: null, read_at: 1 }

const reported = { model: s, rows: 2, predictions: [{ position: 7, version: 1, request: 'r', rows: [0, 2] }], payload: hash }

/** One valid event of every type. */
const samples: Record<string, object> = {
  ProjectCreated: { name: 'shop' },
  ProjectRenamed: { name: 'store' },
  ProjectDeleted: {},
  SkillCreated: skill,
  SkillUpdated: { params: { a: 2 } },
  SkillRenamed: { name: 'sold' },
  SkillDeleted: {},
  AgentCreated: agent,
  AgentUpdated: { model_name: null },
  AgentRenamed: { name: 'aide' },
  AgentDeleted: {},
  ChatbotCreated: chatbot,
  ChatbotUpdated: { is_running: true },
  ChatbotRenamed: { name: 'robot' },
  ChatbotTokenRenewed: {},
  ChatbotDeleted: {},
  ConversationStarted: conversation,
  MessageReceived: { message: p, origins: ['ab12'], payload: hash },
  DeliveryBegun: delivery,
  DeliveryDeferred: { message: p, reply: s, error: 'it answered 429' },
  MessageSent: delivery,
  DeliveryFailed: { ...delivery, reason: 'unknown', error: 'the call broke off' },
  NoticeBegun: { message: p, reply: s, reason: 'agent', error: 'the agent failed', notice: 'Sorry.' },
  MessageFailed: { message: p, reason: 'agent', error: 'the agent failed', notice: null },
  ConversationEnded: {},
  ModelCreated: { project: p, name: 'm' },
  ModelTrainingRequested: request,
  ModelTrainingStarted: { version: 1 },
  ModelTrained: result,
  ModelTrainingFailed: { version: 1, error: 'no rows' },
  ModelVersionActivated: { version: 1 },
  ModelVersionDeleted: { version: 1 },
  ModelRecordingChanged: { recording: 'off' },
  ModelDeleted: {},
  ViewCreated: view,
  ViewUpdated: { query: 'SELECT 2' },
  ViewRenamed: { name: 'w' },
  ViewDeleted: {},
  DatabaseCreated: database,
  DatabaseUpdated: { parameters: {} },
  DatabaseRenamed: { name: 'chat' },
  DatabaseDeleted: {},
  FileCreated: { name: 'sales', ...content },
  FileReplaced: content,
  FileDeleted: {},
  ConfigCreated: { name: 'default_llm', value: { api_key: { $secret: hash } } },
  ConfigUpdated: { value: {} },
  ConfigDeleted: {},
  EngineCreated: { name: 'mine', handler: 'lightwood', parameters: { api_key: { $secret: hash } } },
  EngineDeleted: {},
  JobCreated: job,
  JobUpdated: {
    ...{ query: 'SELECT 2', schedule: null, next_run_at: null },
    keeps_last: { condition: false, statements: [null, 0] },
  },
  JobRunStarted: run,
  JobRunFinished: {
    run: 'r',
    outcome: 'error',
    error: 'no rows',
    statements: [{ positions: [3], error: null, last: [{ column: 't.id', type: 'BIGINT', value: '7' }] }],
    condition_last: [{ column: 't.id', type: 'BIGINT', value: null }],
  },
  JobExpired: {},
  JobDeleted: {},
  KnowledgeBaseCreated: knowledgeBase,
  KnowledgeBaseUpdated: { params: { a: 1 } },
  KnowledgeBaseRenamed: { name: 'papers' },
  KnowledgeBaseDeleted: {},
  KnowledgeInserted: inserted,
  KnowledgeRemoved: { knowledge_base: s, documents: 1, removes: [{ position: 7, rows: [1] }] },
  PredictionsServed: served,
  AgentAnswered: answered,
  AnswerJudged: { agent: s, answer: p, answered_at: 3, verdict: 'good', payload: hash },
  AgentEvaluated: {
    ...{ agent: s, version: 1, test: 'rerun', replayed: 'tools', model: 'gpt-4o', cases: 1, failed: 0 },
    ...{ metrics: [{ name: 'same_text', value: 1 }], input_tokens: 1, output_tokens: null, judge: null, duration_ms: 1.5, payload: hash },
  },
  DatabaseQueried: queried,
  KnowledgeSearched: {
    ...{ knowledge_base: s, version: 1, purpose: 'search', read_at: 3, chunks: 2, outcome: 'complete', error: null, duration_ms: 4.5 },
    embedding: { provider: 'openai', model: 'small', host: 'api.openai.com', input_tokens: 5, output_tokens: null, duration_ms: 3.5 },
    reranking: null,
    ...{ answer: p, payload: hash },
  },
  OutcomesReported: reported,
  DataErased: { what: 'request', subject: 'r', reason: null, payloads: [{ hash, replacement: hash }], blobs: [hash] },
  MasterKeyRotated: { from: 'a1', to: 'b2', payloads: 3 },
}
const event = (type: string) => ({ type, data: samples[type] })

/** The events of a kind: what begins a resource, what ends it, and all of them. */
const boundsOf = (kind: Kind) => {
  const own = [...catalogue].flatMap(([type, definition]) => (definition.kind === kind ? [type] : []))
  const begins = own.find((type) => /^[A-Z][a-z]+(?:Base)?(?:Created|Started)$/.test(type)) ?? ''
  const ends = own.find((type) => /^[A-Z][a-z]+(?:Base)?(?:Deleted|Ended)$/.test(type)) ?? ''
  return { own, begins, ends }
}

describe('catalogue', () => {
  test('every event has a sample here, and every sample is an event', () => {
    expect(Object.keys(samples).sort()).toEqual([...catalogue.keys()].sort())
  })

  test.each([...catalogue])('%s has a schema that takes its data, refuses other keys, and a description', (type, { schema }) => {
    expect(schema.safeParse(samples[type]).success).toBe(true)
    expect(schema.safeParse({ ...samples[type], unheard_of: 1 }).success).toBe(false)
    expect(schema.description).toMatch(/\.$/)
  })

  test('docs can be made of every schema', () => {
    for (const { schema } of catalogue.values()) expect(z.toJSONSchema(schema, { unrepresentable: 'any' })).toHaveProperty('type', 'object')
  })

  test('a required field of a creation cannot be left out', () => {
    for (const [type, { schema }] of catalogue)
      if (type.endsWith('Created'))
        for (const left of Object.keys(samples[type] ?? {}))
          expect(schema.safeParse(Object.fromEntries(Object.entries(samples[type] ?? {}).filter(([key]) => key !== left))).success).toBe(
            false,
          )
  })

  test('every kind has an event that begins it, and one that ends it', () => {
    for (const kind of kinds) {
      const { begins, ends } = boundsOf(kind)
      expect([begins, ends]).not.toContain('')
    }
  })
})

describe('upcasting', () => {
  test('ChatbotCreated of version 1 had no is_running and stood still', () => {
    const { is_running: _, ...old } = chatbot
    expect(upcast('ChatbotCreated', 1, old)).toEqual(chatbot)
    expect(currentSchema('ChatbotCreated')).toBe(2)
  })

  test("today's version is left as it is", () =>
    expect(upcast('ChatbotCreated', 2, { ...chatbot, is_running: true })['is_running']).toBe(true))

  test('a version that a newer release wrote is refused', () =>
    expect(() => upcast('ChatbotCreated', 3, chatbot)).toThrow('a newer release wrote'))

  test('KnowledgeInserted of version 1 did not say whose model made its vectors, nor what it used', () => {
    const of = (embedding: object | null) => upcast('KnowledgeInserted', 1, { ...inserted, embedding } as never)['embedding']
    const old = { model: 'm', host: 'h', dimensions: 3 }
    expect(of(old)).toEqual({ provider: null, ...old, input_tokens: null })
    expect(of(null)).toBeNull()
  })

  test('an unknown type is refused', () => expect(() => upcast('SkillForgotten', 1, {})).toThrow('unknown event type SkillForgotten'))

  test('what does not fit after upcasting is refused', () => expect(() => upcast('SkillRenamed', 1, { name: '' })).toThrow())
})

describe('evolve', () => {
  test.each<[Kind, object, [string, object][]]>([
    ['project', { name: 'store' }, [['ProjectRenamed', { name: 'store' }]]],
    [
      'skill',
      { ...skill, params: { a: 2 }, name: 'sold' },
      [
        ['SkillUpdated', { params: { a: 2 } }],
        ['SkillRenamed', { name: 'sold' }],
      ],
    ],
    [
      'agent',
      { ...agent, model_name: null, name: 'aide' },
      [
        ['AgentUpdated', { model_name: null }],
        ['AgentRenamed', { name: 'aide' }],
      ],
    ],
    [
      'chatbot',
      { ...chatbot, is_running: true, name: 'r' },
      [
        ['ChatbotUpdated', { is_running: true }],
        ['ChatbotRenamed', { name: 'r' }],
      ],
    ],
    [
      'conversation',
      {
        ...conversation,
        waiting: [{ message: s, payload: hash }],
        delivering: null,
        notifying: null,
        deferred: null,
        recent: ['ab12', 'cd34'],
      },
      [
        ['MessageReceived', { message: p, origins: ['ab12'], payload: hash }],
        ['MessageReceived', { message: s, origins: ['cd34'], payload: hash }],
        ['DeliveryBegun', delivery],
        ['MessageSent', delivery],
      ],
    ],
    [
      'view',
      { ...view, query: 'SELECT 2', name: 'w' },
      [
        ['ViewUpdated', { query: 'SELECT 2' }],
        ['ViewRenamed', { name: 'w' }],
      ],
    ],
    [
      'database',
      { ...database, parameters: {}, name: 'c' },
      [
        ['DatabaseUpdated', { parameters: {} }],
        ['DatabaseRenamed', { name: 'c' }],
      ],
    ],
    ['file', { name: 'sales', ...content, bytes: 11 }, [['FileReplaced', { ...content, bytes: 11 }]]],
    ['config', { name: 'default_llm', value: {} }, [['ConfigUpdated', { value: {} }]]],
    [
      'knowledge_base',
      { ...knowledgeBase, params: { a: 1 }, name: 'papers' },
      [
        ['KnowledgeBaseUpdated', { params: { a: 1 } }],
        ['KnowledgeBaseRenamed', { name: 'papers' }],
      ],
    ],
  ])('%s: changes are plain assignments', (kind, expected, changes) => {
    expect(fold(kind, event(boundsOf(kind).begins), ...changes.map(([type, data]) => ({ type, data })))).toEqual(expected)
  })

  test.each(kinds)('%s: a deletion ends it, and nothing before the creation makes one', (kind) => {
    const { begins, ends, own } = boundsOf(kind)
    expect(fold(kind, event(begins), event(ends))).toBeUndefined()
    for (const type of own) if (type !== begins) expect(fold(kind, event(type))).toBeUndefined()
  })

  test('evolve never changes the state it was given', () => {
    for (const kind of kinds) {
      const { begins, own } = boundsOf(kind)
      const first = evolve(kind, undefined, event(begins))
      const before = JSON.stringify(first)
      for (const type of own) evolve(kind, first, event(type))
      expect(JSON.stringify(first)).toBe(before)
    }
  })

  test('an event that is not of the kind is a fault of the program', () => {
    expect(() => evolve('skill', undefined, { type: 'Nonsense', data: {} })).toThrow('unreachable')
  })

  test('the recording of a model is all until it is changed', () => {
    const switched = fold('model', event('ModelCreated'), event('ModelRecordingChanged'))
    expect(switched).toMatchObject({ name: 'm', recording: 'off' })
    expect(evolve('model', switched as never, { type: 'ModelRecordingChanged', data: { recording: 'all' } })).toMatchObject({
      recording: 'all',
    })
  })

  test("a model's life: generating, training, complete, active, retrained, failed, version deleted", () => {
    const requested = { ...request, status: 'generating', error: null, result: null }
    const first = [event('ModelCreated'), event('ModelTrainingRequested')]
    expect(fold('model', ...first)).toEqual({ project: p, name: 'm', active: null, latest: 1, recording: 'all', versions: [requested] })
    const trained = [...first, event('ModelVersionActivated'), event('ModelTrainingStarted'), event('ModelTrained')]
    expect(fold('model', ...trained)).toEqual({
      project: p,
      name: 'm',
      active: 1,
      latest: 1,
      recording: 'all',
      versions: [{ ...requested, status: 'complete', result }],
    })
    const second = [
      ...trained,
      { type: 'ModelTrainingRequested', data: { ...request, version: 2 } },
      { type: 'ModelTrainingFailed', data: { version: 2, error: 'no rows' } },
    ]
    expect(fold('model', ...second)).toMatchObject({ active: 1, latest: 2, versions: [{ version: 1 }, { version: 2, status: 'error' }] })
    // The number of a deleted version is never given again.
    expect(fold('model', ...second, { type: 'ModelVersionDeleted', data: { version: 2 } })).toMatchObject({
      active: 1,
      latest: 2,
      versions: [{ version: 1 }],
    })
  })
})

describe('references', () => {
  test('agents and chatbots refer to other streams, the rest to none', () => {
    expect(linksOf('agent', agent)).toEqual([s])
    expect(linksOf('chatbot', chatbot)).toEqual([s, p])
    expect(linksOf('chatbot', { ...chatbot, agent: null })).toEqual([p])
    expect(linksOf('skill', skill)).toEqual([])
  })

  test('payloads are the secrets at every depth, and the recorded rows', () => {
    expect(payloadsOf('DatabaseCreated', database)).toEqual([hash])
    expect(payloadsOf('SkillCreated', { params: { list: [{ deep: { $secret: 'x' } }], two: { $secret: 'y', other: 1 } } })).toEqual(['x'])
    expect(payloadsOf('PredictionsServed', served)).toEqual([hash])
    expect(payloadsOf('PredictionsServed', { ...served, payload: null })).toEqual([])
    expect(payloadsOf('OutcomesReported', reported)).toEqual([hash])
  })

  test('blobs are the contents of files, artefacts and matrices', () => {
    expect(blobsOf('FileCreated', samples['FileCreated'] as never)).toEqual([hash])
    expect(blobsOf('ModelTrained', result)).toEqual([hash, hash])
    expect(blobsOf('ModelTrained', { ...result, matrix_kept: false })).toEqual([hash])
    expect(blobsOf('SkillCreated', skill)).toEqual([])
  })

  test('an erasure names only what it put in the place of another; what it erased is told apart', () => {
    const other = 'cd'.repeat(32)
    const payloads = [
      { hash, replacement: other },
      { hash: other, replacement: null },
    ]
    const data = { what: 'request', subject: 'r', reason: null, payloads, blobs: [hash] }
    expect(payloadsOf('DataErased', data)).toEqual([other])
    expect(blobsOf('DataErased', data)).toEqual([])
    expect(erasedPayloadsOf('DataErased', data)).toEqual(payloads)
    expect(erasedBlobsOf('DataErased', data)).toEqual([hash])
    expect(erasedPayloadsOf('PredictionsServed', served)).toEqual([])
    expect(erasedBlobsOf('FileCreated', samples['FileCreated'] as never)).toEqual([])
  })
})
