import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { settingsOf, requestOf } from '../../../src/agents/prompt/settings.js'
import { checkModel } from '../../../src/llm/check.js'
import { failure, hear, modelsHere, question, settingsAt } from '../../support/llm/models.js'
import { chunk, last, RawServer, stream, type Asked } from '../../support/llm/raw-server.js'
import { send, startTestService } from '../../support/service.js'

const server = new RawServer()
beforeAll(() => server.start())
afterAll(() => server.stop())
afterEach(() => server.reset())

const limitOf = ({ body }: Asked): unknown => body['max_tokens'] ?? body['max_completion_tokens']
const asked = () => server.asked.map(limitOf)
const { signal } = new AbortController()
const models = modelsHere()
const model = () => models.of(settingsAt(`${server.url}/v1`))
const { maxOutputTokens: _, ...unlimited } = question('hi')

/** Answers, or refuses a request with these words if it is refused. */
const refusing = (message: string, isRefused: (asked: Asked) => boolean = () => true, status = 400) => {
  server.answer = (response, asked) =>
    isRefused(asked)
      ? response.writeHead(status).end(JSON.stringify({ error: { message } }))
      : stream(response).end(chunk({ content: 'ok' }) + last())
}

test('an agent without max_tokens sends no limit, so that a model with a small context can answer', async () => {
  refusing('', () => false)
  await hear(model(), { ...unlimited, ...requestOf(settingsOf({ params: {} })) })
  await hear(model(), { ...unlimited, ...requestOf(settingsOf({ params: { max_tokens: 300 } })) })
  await hear(models.of(settingsAt(`${server.url}/v1`, { maxTokens: 200 })), unlimited)
  expect(asked()).toEqual([undefined, 300, 200])
})

test.each([
  'max_tokens is too large: 500. This model supports at most 100 completion tokens, whereas you provided 500.',
  "This model's maximum context length is 600 tokens. However, you requested 700 tokens (200 in the messages, 500 in the completion). Please reduce the length of the messages or completion.",
  '`max_tokens` must be less than or equal to `100`, the maximum value for `max_tokens` is less than the `context_window` for this model',
  'Invalid max_tokens value, the valid range of max_tokens is [1, 100]',
])('a limit that is too large for the model is left out of this request: %s', async (message) => {
  refusing(message, (asked) => Number(limitOf(asked)) > 100)
  expect((await hear(model(), question('hi'))).text).toBe('ok')
  await hear(model(), question('hi', { maxOutputTokens: 50 }))
  expect(asked()).toEqual([500, undefined, 50])
})

test.each([
  'Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.',
  'max_tokens: Input should be greater than or equal to 1024',
])('a limit that is too small is not left out, and the hint names max_tokens: %s', async (message) => {
  refusing(message)
  const failed = await failure(hear(model(), question('hi')))
  expect(failed).toMatchObject({ code: 'llm_failed', title: 'Token limit refused' })
  expect(failed.extras.hint).toContain('max_tokens')
  expect(asked()).toEqual([500])
})

test('a prompt that is too long without a limit, too, is told of as such', async () => {
  refusing(
    "This model's maximum context length is 600 tokens. However, you requested 700 tokens (200 in the messages, 500 in the completion).",
    (asked) => limitOf(asked) !== undefined,
  )
  const answer = server.answer
  server.answer = (response, asked, count) =>
    count === 1 ? answer(response, asked, count) : response.writeHead(400).end('{"error":{"message":"the prompt is too long"}}')
  expect(await failure(hear(model(), question('hi')))).toMatchObject({ title: 'Prompt too long' })
  expect(asked()).toEqual([500, undefined])
})

test('a model is tried with the limit of its agent, and with a tool', async () => {
  refusing('', () => false)
  await checkModel(model(), requestOf(settingsOf({ params: {} })), { signal })
  await checkModel(model(), requestOf(settingsOf({ params: { max_tokens: 300 } })), { signal })
  expect(asked()).toEqual([undefined, 300])
  expect(server.asked[0]?.body).toMatchObject({ tools: [{ type: 'function' }], tool_choice: 'auto' })
})

test('a model is tried with the result of its tool as well, since some only refuse this request', async () => {
  const call = { index: 0, id: 'a', function: { name: 'today', arguments: '{}' } }
  server.answer = (response, { body }) =>
    (body as { messages: unknown[] }).messages.length === 1
      ? stream(response).end(chunk({ reasoning_content: 'I wonder' }) + chunk({ tool_calls: [call] }) + last('tool_calls'))
      : response.writeHead(400).end(JSON.stringify({ error: { message: 'Unexpected role' } }))
  expect(await failure(checkModel(model(), {}, { signal }))).toMatchObject({ code: 'llm_failed', title: 'Request refused' })
  expect(server.asked[1]?.body['messages']).toMatchObject([
    { role: 'user' },
    { role: 'assistant', reasoning_content: 'I wonder', tool_calls: [{ id: 'a' }] },
    { role: 'tool', tool_call_id: 'a', content: expect.stringMatching(/^\d{4}-/) },
  ])
})

test('a model that takes no tools can be the one of an agent without skills, data and models', async () => {
  refusing('gemma does not support tools', ({ body }) => 'tools' in body)
  const shop = await startTestService()
  try {
    const agentOf = (name: string, more: object) =>
      send(shop.url, 'POST', '/api/projects/mindsdb/agents?check=true', {
        agent: {
          name,
          model: { provider: 'openai_compatible', model_name: 'gemma', base_url: `${server.url}/v1`, api_key: 'sk-x' },
          ...more,
        },
      })
    expect((await agentOf('plain', {})).status).toBe(201)
    expect((await agentOf('reader', { data: { tables: ['files.cars'] } })).body).toMatchObject({ title: 'No tools' })
    expect((await agentOf('predictor', { params: { models: ['prices'] } })).body).toMatchObject({ title: 'No tools' })
  } finally {
    await shop.stop()
  }
})

test.each([
  [400, 'registry.ollama.ai/library/gemma:2b does not support tools'],
  [400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
  [404, 'No endpoints found that support tool use'],
  [500, 'tools param requires --jinja flag'],
])('a model that takes no tools is told of when it is tried: %i %s', async (status, message) => {
  refusing(message, ({ body }) => 'tools' in body, status)
  const failed = await failure(checkModel(model(), {}, { signal }))
  expect(failed).toMatchObject({ code: 'llm_failed', title: 'No tools' })
  expect(failed.extras.hint).toMatch(/calls tools/)
})
