import type { ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import type { ChatMessage, ChatRequest } from '../../../src/llm/contract/language-model.js'
import { failure, hear, modelsHere, question, settingsAt, type Heard } from '../../support/llm/models.js'
import { chunk, event, last, RawServer, stream, type Answering } from '../../support/llm/raw-server.js'

const server = new RawServer()
beforeAll(() => server.start())
afterAll(() => server.stop())
afterEach(() => server.reset())

const model = () => modelsHere().of(settingsAt(`${server.url}/v1`))
const hearing = (...chunks: string[]) => {
  server.answer = (response) => stream(response).end(chunks.join(''))
  return hear(model(), question('hi'))
}
const texts = (...contents: string[]) => contents.map((content) => chunk({ content }))
const call = (more: object) => chunk({ tool_calls: [more] })

describe('calls of tools', () => {
  test('are put together from pieces that arrive in turns', async () => {
    const { calls, end } = await hearing(
      call({ index: 0, id: 'a', function: { name: 'sql', arguments: '{"q' } }),
      call({ index: 1, id: 'b', function: { name: 'search', arguments: '' } }),
      call({ index: 0, function: { arguments: 'uery":1}' } }),
      call({ index: 1, function: { arguments: '{"text":2}' } }),
      last('tool_calls'),
    )
    expect(calls).toEqual([
      { id: 'a', tool: 'sql', input: '{"query":1}' },
      { id: 'b', tool: 'search', input: '{"text":2}' },
    ])
    expect(end.finish).toBe('tool_calls')
  })
  test('get an id where there is none, or where two are the same', async () => {
    const one = (index: number, id?: string) => call({ index, id, function: { name: 'sql', arguments: `{"n":${index}}` } })
    const { calls } = await hearing(one(0), one(1, ''), one(2, 'same'), one(3, 'same'), last('tool_calls'))
    expect(calls.map(({ input }) => input)).toEqual(['{"n":0}', '{"n":1}', '{"n":2}', '{"n":3}'])
    expect(new Set(calls.map(({ id }) => id)).size).toBe(4)
    expect(calls.every(({ id }) => id.trim() !== '')).toBe(true)
  })
  test('are given as they are, even if their input is ill-formed, empty or cut off', async () => {
    const { calls, end } = await hearing(
      call({ index: 0, id: 'a', function: { name: 'sql', arguments: '' } }),
      call({ index: 1, id: 'b', function: { name: 'no such tool', arguments: '{"query": "SELECT' } }),
      last('length'),
    )
    expect(calls.map(({ tool, input }) => [tool, input])).toEqual([
      ['sql', '{}'],
      ['no such tool', '{"query": "SELECT'],
    ])
    expect(end.finish).toBe('length')
  })
  test('end an answer as such, also where the server says "stop"', async () => {
    const { end } = await hearing(call({ index: 0, id: 'a', function: { name: 'sql', arguments: '{}' } }), last('stop'))
    expect(end.finish).toBe('tool_calls')
  })
  test('have a limit', async () => {
    const many = Array.from({ length: limits.llmToolCallsMax + 1 }, (_, index) =>
      call({ index, id: `c${index}`, function: { name: 'sql', arguments: '{}' } }),
    )
    expect(await failure(hearing(...many, last('tool_calls')))).toMatchObject({ code: 'llm_failed', title: 'Too many calls' })
  })
  test.each([
    ['openai', 'none'],
    ['anthropic', { type: 'none' }],
  ] as const)('are not allowed where the choice is none: wire %s', async (wire, choice) => {
    server.answer = (response) => response.writeHead(400).end('{}')
    const tools = [{ name: 'sql', description: 'Runs SQL', inputSchema: { type: 'object' } }]
    const asked = modelsHere().of(settingsAt(`${server.url}/v1`, { wire, provider: wire }))
    await failure(hear(asked, question('hi', { tools, toolChoice: 'none' })))
    expect(server.asked[0]?.body).toMatchObject({ tools: [expect.anything()], tool_choice: choice })
  })
  test('go back with what the provider signed, and with input that is an object', async () => {
    const signed = { google: { thought_signature: 'c2lnbmF0dXJl' } }
    const heard = await hearing(
      call({ index: 0, id: 'a', function: { name: 'sql', arguments: '{}' }, extra_content: signed }),
      last('tool_calls'),
    )
    const ill = { id: 'b', tool: 'sql', input: '{"query": "SELECT' }
    const messages: ChatMessage[] = [
      { role: 'system', content: 'First.' },
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: '', toolCalls: [...heard.calls, ill] },
      { role: 'tool', toolCallId: 'a', tool: 'sql', content: 'rows' },
      { role: 'tool', toolCallId: 'b', tool: 'sql', content: 'ill-formed' },
      { role: 'assistant', content: '' },
      { role: 'system', content: 'Second.' },
    ]
    server.answer = (response) => stream(response).end(texts('ok').join('') + last())
    await hear(model(), question('', { messages }))
    const { messages: sent } = server.asked.at(-1)!.body as { messages: Record<string, unknown>[] }
    expect(sent.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'tool'])
    expect(sent[0]?.['content']).toBe('First.\n\nSecond.')
    const [first, second] = sent[2]?.['tool_calls'] as { function: { arguments: string }; extra_content?: object }[]
    expect(first?.extra_content).toEqual(signed)
    expect(JSON.parse(second!.function.arguments)).toEqual({ ill_formed_input: '{"query": "SELECT' })
  })
})

describe('thoughts before calls', () => {
  const sqlCall = call({ index: 0, id: 'a', function: { name: 'sql', arguments: '{}' } })
  const refusal = (response: ServerResponse, message: string) => response.writeHead(400).end(JSON.stringify({ error: { message } }))
  const after = ({ calls, end }: Heard): ChatRequest =>
    question('', {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: '', toolCalls: calls, ...(end.thoughts && { thoughts: end.thoughts }) },
        { role: 'tool', toolCallId: 'a', tool: 'sql', content: 'rows' },
      ],
    })
  const sent = () => (server.asked.at(-1)!.body as { messages: Record<string, unknown>[] }).messages[1]

  test('go back as they came', async () => {
    const heard = await hearing(chunk({ reasoning_content: 'I ' }), chunk({ reasoning_content: 'wonder' }), sqlCall, last('tool_calls'))
    expect(heard.end.thoughts).toEqual({ reasoning_content: 'I wonder' })
    server.answer = (response, { body }) =>
      JSON.stringify(body).includes('"reasoning_content":"I wonder"')
        ? stream(response).end(texts('ok').join('') + last())
        : refusal(response, 'Missing `reasoning_content` field in the assistant message at message index 1')
    expect((await hear(model(), after(heard))).text).toBe('ok')
  })
  test('go back in details whose pieces are joined', async () => {
    const piece = (type: string, index: number, more: object) => chunk({ reasoning_details: [{ type, index, ...more }] })
    const heard = await hearing(
      piece('reasoning.text', 0, { text: 'I ', format: 'f' }),
      piece('reasoning.text', 0, { text: 'wonder', signature: null }),
      piece('reasoning.text', 0, { signature: 's', text: '' }),
      piece('reasoning.text', 1, { text: 'More' }),
      piece('reasoning.summary', 1, { summary: 'In ' }),
      piece('reasoning.summary', 1, { summary: 'short' }),
      piece('reasoning.encrypted', 1, { data: 'AA==', id: 'c' }),
      piece('reasoning.encrypted', 1, { data: 'BB==', id: 'd' }),
      sqlCall,
      last('tool_calls'),
    )
    server.answer = (response) => stream(response).end(texts('ok').join('') + last())
    await hear(model(), after(heard))
    expect(sent()).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [expect.anything()],
      reasoning_details: [
        { type: 'reasoning.text', index: 0, text: 'I wonder', format: 'f', signature: 's' },
        { type: 'reasoning.text', index: 1, text: 'More' },
        { type: 'reasoning.summary', index: 1, summary: 'In short' },
        { type: 'reasoning.encrypted', index: 1, data: 'AA==', id: 'c' },
        { type: 'reasoning.encrypted', index: 1, data: 'BB==', id: 'd' },
      ],
    })
  })
  test('do not go back to a server that refuses them', async () => {
    const heard = await hearing(chunk({ reasoning_content: 'I wonder' }), sqlCall, last('tool_calls'))
    const models = modelsHere()
    server.answer = (response, { body }) =>
      JSON.stringify(body).includes('reasoning_content')
        ? refusal(response, "'messages.1' : property 'reasoning_content' is unsupported")
        : stream(response).end(texts('ok').join('') + last())
    for (const requests of [3, 4]) {
      expect((await hear(models.of(settingsAt(`${server.url}/v1`)), after(heard))).text).toBe('ok')
      expect(server.asked).toHaveLength(requests)
    }
  })
  test('are not kept if there are no calls, or if they are too long', async () => {
    const thought = (length: number) => chunk({ reasoning_content: 'x'.repeat(length) })
    expect((await hearing(thought(9), ...texts('Three.'), last())).end.thoughts).toBeUndefined()
    const half = limits.llmThoughtsMaxChars / 2
    expect((await hearing(thought(half), thought(half), sqlCall, last('tool_calls'))).end.thoughts).toBeDefined()
    expect((await hearing(thought(half), thought(half + 1), sqlCall, last('tool_calls'))).end.thoughts).toBeUndefined()
  })
})

describe('the order of roles', () => {
  type Message = { role: string; content: unknown }
  const roles = (messages: readonly Message[]) => messages.map(({ role }) => role).join(' ')
  const messages: ChatMessage[] = [
    { role: 'user', content: 'Before' },
    { role: 'assistant', content: '' },
    { role: 'user', content: 'How many?' },
    { role: 'assistant', content: '', toolCalls: [{ id: 'a', tool: 'sql', input: '{}' }] },
    { role: 'tool', toolCallId: 'a', tool: 'sql', content: '3 rows' },
    { role: 'user', content: 'Answer now.' },
  ]
  const inTurns = [
    { role: 'user', content: 'Before\n\nHow many?' },
    { role: 'assistant', content: null, tool_calls: [expect.anything()] },
    { role: 'tool', tool_call_id: 'a', content: '3 rows' },
    { role: 'assistant', content: 'I have the results.' },
    { role: 'user', content: 'Answer now.' },
  ]
  const sent = () => server.asked.map(({ body }) => body['messages'] as Message[])
  const refuse =
    (status: number, body: object): Answering =>
    (response, asked) =>
      /user user|tool user/.test(roles(asked.body['messages'] as Message[]))
        ? response.writeHead(status).end(JSON.stringify(body))
        : stream(response).end(texts('ok').join('') + last())

  test('is that of the chat where nobody refuses it', async () => {
    server.answer = (response) => stream(response).end(texts('ok').join('') + last())
    await hear(model(), question('', { messages }))
    expect(sent().map(roles)).toEqual(['user user assistant tool user'])
  })
  test('is from the start the one that Mistral wants', async () => {
    server.answer = refuse(400, { message: "Unexpected role 'user' after role 'tool'", code: '3230' })
    const mistral = modelsHere().of(settingsAt(`${server.url}/v1`, { provider: 'mistral' }))
    expect((await hear(mistral, question('', { messages }))).text).toBe('ok')
    expect(sent()).toEqual([inTurns])
  })
  test.each([
    [400, { message: "Unexpected role 'user' after role 'tool'" }],
    [400, { error: { message: 'Provider returned error', metadata: { raw: `{"message":"Unexpected role 'user' after role 'tool'"}` } } }],
    [400, { error: { message: 'After the optional system message, conversation roles must alternate user and assistant roles' } }],
    [500, { error: { message: 'Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...' } }],
  ])('is learnt from a server that refuses another one: %i %j', async (status, body) => {
    const models = modelsHere()
    server.answer = refuse(status, body)
    for (const requests of [2, 3]) {
      expect((await hear(models.of(settingsAt(`${server.url}/v1`)), question('', { messages }))).text).toBe('ok')
      expect(sent()).toHaveLength(requests)
      expect(sent().at(-1)).toEqual(inTurns)
    }
  })
})

describe('text', () => {
  test.each([
    [['<think>I wonder</think>', 'Three.'], 'Three.'],
    [['  <th', 'ink>a', '</thi', 'nk>\n\n', 'Three.'], 'Three.'],
    [['<', 'b>3</b>'], '<b>3</b>'],
    [['<thin'], '<thin'],
    [['Use <think>x</think>'], 'Use <think>x</think>'],
    [['Use <', 'think>x</think>'], 'Use <think>x</think>'],
    [['I wonder </think>\n\nThree.'], 'Three.'],
    [['I won', 'der </th', 'ink>\n\nThree.', ' Or </think>?'], 'Three. Or </think>?'],
    [['</think>', 'Three.'], 'Three.'],
    [['3 < 4 <', ' 5 </thin'], '3 < 4 < 5 </thin'],
    [['<think>', 'for ever'], ''],
  ])('is given without the thoughts before it: %j', async (contents, text) => {
    expect((await hearing(...texts(...contents), last())).text).toBe(text)
  })
  test('has no thoughts that come beside it', async () => {
    const { text } = await hearing(chunk({ reasoning_content: 'I wonder' }), chunk({ reasoning: 'still' }), ...texts('Three.'), last())
    expect(text).toBe('Three.')
  })
  test('has whole characters, even where the server cuts them', async () => {
    const { parts, text } = await hearing(...texts('a\ud83d', '\ude42b', '\ud83d'), last())
    expect(text).toBe('a🙂b\ufffd')
    expect(parts.every((part) => !('text' in part) || part.text.isWellFormed())).toBe(true)
  })
})

describe('usage', () => {
  test('is asked for, and read from the last chunk', async () => {
    const usage = event({ id: 'x', model: 'm', choices: [], usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } })
    const done = event({ id: 'x', model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
    const { end } = await hearing(...texts('ok'), done, usage, event('[DONE]'))
    expect(server.asked[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } })
    expect(end.usage).toEqual({ input: 7, output: 3 })
  })
  test.each([
    undefined,
    null,
    {},
    { prompt_tokens: -1, completion_tokens: 1.5 },
    { prompt_tokens: null },
    { prompt_tokens: 0, completion_tokens: 0 },
    { prompt_tokens: Number.MAX_SAFE_INTEGER, completion_tokens: limits.llmReportedMaxTokens + 1 },
  ])('is null where the server says %j', async (usage) => {
    expect((await hearing(...texts('ok'), last('stop', { usage }))).end.usage).toEqual({ input: null, output: null })
  })
  test('may be nothing written where nothing is', async () => {
    const usage = { prompt_tokens: 7, completion_tokens: 0 }
    expect((await hearing(last('stop', { usage }))).end.usage).toEqual({ input: 7, output: 0 })
  })
})

test.each([
  ['openai', null, '/v1/chat/completions', 'authorization', 'max_completion_tokens'],
  ['azure_openai', null, '/v1/chat/completions', 'api-key', 'max_completion_tokens'],
  ['ollama', null, '/v1/chat/completions', 'authorization', 'max_tokens'],
])('%s is called at its path, with its header', async (provider, apiVersion, path, header, tokens) => {
  server.answer = (response) => stream(response).end(texts('ok').join('') + last())
  await hear(modelsHere().of(settingsAt(`${server.url}/v1`, { provider, apiVersion })), question('hi'))
  const [asked] = server.asked
  expect(asked?.path).toBe(path)
  expect(asked?.headers[header]).toContain('key-of-the-agent-1')
  expect(asked?.body[tokens]).toBe(500)
})

test('requests at the same time whose parameter a model refuses are all sent again without it', async () => {
  const refused: (() => void)[] = []
  server.answer = (response, { body }) => {
    if (!('temperature' in body)) return stream(response).end(texts('ok').join('') + last())
    const message = "Unsupported parameter: 'temperature' is not supported with this model."
    refused.push(() => response.writeHead(400).end(JSON.stringify({ error: { message } })))
    // Each of the others is refused once the one before has its answer.
    if (refused.length === 3) refused.shift()?.()
    return undefined
  }
  const models = modelsHere()
  const heard = Array.from({ length: 3 }, async () => {
    const { text } = await hear(models.of(settingsAt(`${server.url}/v1`, { temperature: 0 })), question('hi'))
    refused.shift()?.()
    return text
  })
  expect(await Promise.all(heard)).toEqual(['ok', 'ok', 'ok'])
  expect(server.asked).toHaveLength(6)
})

test('a deployment of Azure is called by its path where a version is named', async () => {
  server.answer = (response) => stream(response).end(texts('ok').join('') + last())
  const settings = settingsAt(`${server.url}/openai/v1`, { provider: 'azure_openai', apiVersion: '2024-10-21', model: 'my gpt' })
  await hear(modelsHere().of(settings), question('hi'))
  expect(server.asked[0]?.path).toBe('/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21')
})
