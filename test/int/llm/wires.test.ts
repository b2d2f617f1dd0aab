import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { LLMock } from '@copilotkit/aimock'
import { checkModel } from '../../../src/llm/check.js'
import type { ToolDescription } from '../../../src/llm/contract/language-model.js'
import type { ModelSettings } from '../../../src/llm/settings.js'
import { failure, hear, modelsHere, question, settingsAt } from '../../support/llm/models.js'

const server = new LLMock({ port: 0, chunkSize: 3 })
beforeAll(() => server.start())
afterAll(() => server.stop())
afterEach(() => {
  server.clearFixtures()
  server.clearRequests()
})

const models = modelsHere()
const tool = (name: string): ToolDescription => ({
  name,
  description: `Runs ${name}`,
  inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
})

type Wire = { name: string; settings: (more?: Partial<ModelSettings>) => ModelSettings; usage: Record<string, number> }
const wires: Wire[] = [
  {
    name: 'as OpenAI does',
    settings: (more = {}) => settingsAt(`${server.url}/v1`, more),
    usage: { prompt_tokens: 12, completion_tokens: 5 },
  },
  {
    name: 'as Anthropic does',
    settings: (more = {}) => settingsAt(`${server.url}/v1`, { wire: 'anthropic', provider: 'anthropic', model: 'claude-test', ...more }),
    usage: { input_tokens: 12, output_tokens: 5 },
  },
]

describe.each(wires)('a server that speaks $name', ({ settings, usage }) => {
  test('gives its text in parts, then how it ended and what it used', async () => {
    server.onMessage('how many', { content: 'There are three rows, äöü 🙂.', usage, model: 'the-real-model' }, { latency: 20 })
    const { text, parts, end } = await hear(models.of(settings()), question('how many?'))
    expect(text).toBe('There are three rows, äöü 🙂.')
    expect(parts.length).toBeGreaterThan(3)
    expect(end).toEqual({ finish: 'stop', usage: { input: 12, output: 5 }, model: 'the-real-model' })
  })

  test('calls several tools at once; each call is whole, and has an id of its own', async () => {
    const calls = [
      { name: 'sql', arguments: '{"query":"SELECT 1"}' },
      { name: 'sql', arguments: '{"query":"SELECT 2"}' },
      { name: 'search', arguments: '{"query":"rents"}' },
    ]
    server.onMessage('how many', { toolCalls: calls })
    const heard = await hear(models.of(settings()), question('how many?', { tools: [tool('sql'), tool('search')] }))
    expect(heard.calls.map(({ tool, input }) => ({ name: tool, arguments: JSON.stringify(JSON.parse(input)) }))).toEqual(calls)
    expect(new Set(heard.calls.map(({ id }) => id)).size).toBe(3)
    expect(heard.end.finish).toBe('tool_calls')
  })

  test('is told what the tools gave, as data beside the call', async () => {
    server.onToolResult('c1', { content: 'Three.' })
    const { text } = await hear(
      models.of(settings()),
      question('', {
        messages: [
          { role: 'system', content: 'You answer.' },
          { role: 'user', content: 'How many?' },
          { role: 'assistant', content: '', toolCalls: [{ id: 'c1', tool: 'sql', input: '{"query":"SELECT 1"}' }] },
          { role: 'tool', toolCallId: 'c1', tool: 'sql', content: '[[3]]' },
        ],
        tools: [tool('sql')],
      }),
    )
    expect(text).toBe('Three.')
    const sent = JSON.stringify(server.getLastRequest()?.body)
    expect(sent).toContain('[[3]]')
    expect(sent).toContain('You answer.')
  })

  test('that answers 429 is asked again, and gives its answer', async () => {
    server.nextRequestError(429, { message: 'slow down' })
    server.on({ userMessage: 'hi' }, { content: 'ok' })
    const { text } = await hear(models.of(settings()), question('hi'))
    expect(text).toBe('ok')
    expect(server.getRequests().map(({ response }) => response.status)).toEqual([429, 200])
  })

  test.each([
    [401, 'Key refused', 'Give the agent another key'],
    [403, 'Key refused', 'the right to this model'],
    [404, 'Unknown model', 'Check model_name and base_url'],
    [400, 'Request refused', 'can be used so'],
    [501, 'Language model failed', 'Try again later'],
  ])('that answers %i is not asked again: %s', async (status, title, hint) => {
    server.onMessage('hi', { error: { message: 'no, key-of-the-agent-1' }, status })
    const failed = await failure(hear(models.of(settings()), question('hi')))
    expect(failed).toMatchObject({ code: 'llm_failed', title })
    expect(failed.extras.hint).toContain(hint)
    expect(server.getRequests().length).toBe(1)
    expect(JSON.stringify(failed)).not.toContain('key-of-the-agent-1')
  })

  test('that wants a shorter prompt says so', async () => {
    const message = "This model's maximum context length is 8192 tokens, and the prompt is too long"
    server.onMessage('hi', { error: { message, code: 'context_length_exceeded' }, status: 400 })
    await expect(hear(models.of(settings()), question('hi'))).rejects.toMatchObject({ code: 'llm_failed', title: 'Prompt too long' })
  })

  test('can be tried with a tiny question', async () => {
    server.onMessage(/OK/, { content: 'OK', model: 'the-real-model' })
    const signal = new AbortController().signal
    expect(await checkModel(models.of(settings()), {}, { signal })).toBe('the-real-model')
  })
})
