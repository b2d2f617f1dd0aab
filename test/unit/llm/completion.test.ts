import { describe, expect, test } from '@jest/globals'
import type { WirePart } from '../../../src/llm/contract/wire.js'
import { Completion } from '../../../src/llm/openai/completion.js'

const read = (...chunks: unknown[]): WirePart[] => {
  const completion = new Completion()
  const parts: WirePart[] = []
  for (const chunk of chunks) completion.take(JSON.stringify(chunk), parts)
  return [...parts, ...completion.end()]
}
const delta = (given: object, finish_reason: string | null = null) => ({ model: 'm', choices: [{ index: 0, delta: given, finish_reason }] })
const stop = delta({}, 'stop')
const callsIn = (...pieces: object[]) =>
  read(...pieces.map((piece) => delta({ tool_calls: [piece] })), delta({}, 'tool_calls')).flatMap((part) =>
    part.type === 'toolCall' ? [part.toolCall] : [],
  )

test('texts that arrive together are one part', () => {
  expect(read(delta({ role: 'assistant', content: '' }), delta({ content: 'a' }), delta({ content: 'b' }), stop)).toEqual([
    { type: 'model', model: 'm' },
    { type: 'text', text: 'ab' },
    { type: 'end', finish: 'stop', usage: { input: null, output: null } },
  ])
})

test.each([
  ['stop', 'stop'],
  ['length', 'length'],
  ['content_filter', 'content_filter'],
  ['function_call', 'tool_calls'],
  ['tool_calls', 'tool_calls'],
  ['eos', 'other'],
])('%s ends an answer as %s', (said, finish) => {
  expect(read(delta({ content: 'a' }, said)).at(-1)).toMatchObject({ type: 'end', finish })
})

test('a list of parts has its texts, without thoughts, and a refusal is one', () => {
  const content = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
    { type: 'text', text: 'Three.' },
    { type: 'image', url: 'x' },
  ]
  expect(read(delta({ content }), stop)[1]).toEqual({ type: 'text', text: 'Three.' })
  expect(read(delta({ refusal: 'No.' }), stop).slice(1)).toMatchObject([{ type: 'text', text: 'No.' }, { finish: 'content_filter' }])
  expect(read(delta({ content: 'Yes.', refusal: false }), stop).at(-1)).toMatchObject({ finish: 'stop' })
})

test.each([
  1,
  null,
  'text',
  [],
  {},
  { choices: null },
  { choices: [] },
  { choices: [null] },
  { choices: [{}] },
  { choices: [{ delta: 1 }] },
  { choices: [{ delta: { content: 7, tool_calls: 'x' } }], usage: 1 },
])('a chunk of another shape tells nothing: %j', (chunk) => {
  expect(read(chunk)).toEqual([])
  expect(read(delta({ content: 'a' }), chunk, stop)).toHaveLength(3)
})

test('a chunk that is no JSON is refused', () => {
  expect(() => new Completion().take('{"choices":[', [])).toThrow(SyntaxError)
})

test('an error is told as the server words it', () => {
  expect(read({ error: { message: 'out of memory' } })).toEqual([{ type: 'failed', error: { message: 'out of memory' } }])
  expect(read({ ...stop, error: null }).at(-1)).toMatchObject({ type: 'end' })
})

describe('calls of tools are told apart', () => {
  const f = (name: string | undefined, args: string) => ({ function: { ...(name !== undefined && { name }), arguments: args } })
  test('by their index', () => {
    expect(
      callsIn({ index: 1, id: 'b', ...f('two', '{') }, { index: 0, id: 'a', ...f('one', '{}') }, { index: 1, ...f(undefined, '}') }),
    ).toEqual([
      { id: 'a', tool: 'one', input: '{}' },
      { id: 'b', tool: 'two', input: '{}' },
    ])
  })
  test('by their id where the index is the same for all, or missing', () => {
    const expected = [
      { id: 'a', tool: 'sql', input: '{"n":1}' },
      { id: 'b', tool: 'sql', input: '{"n":2}' },
    ]
    for (const at of [{ index: 0 }, {}])
      expect(callsIn({ ...at, id: 'a', ...f('sql', '{"n":1}') }, { ...at, id: 'b', ...f('sql', '{"n":2}') })).toEqual(expected)
  })
  test('by their input where there is neither', () => {
    for (const at of [{ index: 0 }, {}]) {
      const found = callsIn({ ...at, ...f('sql', '{"n":1}') }, { ...at, ...f('sql', '{"n":2}') })
      expect(found.map(({ input }) => input)).toEqual(['{"n":1}', '{"n":2}'])
      expect(new Set(found.map(({ id }) => id)).size).toBe(2)
    }
  })
  test('and one whose name or id is repeated, or comes late, stays one', () => {
    expect(callsIn({ index: 0, id: 'a', ...f('sql', '{"q') }, { index: 0, id: 'a', ...f('sql', '":1}') })).toEqual([
      { id: 'a', tool: 'sql', input: '{"q":1}' },
    ])
    expect(callsIn({ index: 0, ...f(undefined, '{"q') }, { index: 0, id: 'a', ...f('sql', '":1}') })).toEqual([
      { id: 'a', tool: 'sql', input: '{"q":1}' },
    ])
    expect(callsIn({ id: 'a', ...f('sql', '{"q') }, { ...f(undefined, '":1}') })).toEqual([{ id: 'a', tool: 'sql', input: '{"q":1}' }])
  })
  test('and one of many pieces that each repeat its name stays one, whatever its strings hold', () => {
    const input = JSON.stringify({ query: `SELECT '}{"\\\\${'x, '.repeat(100_000)}'`, rest: [{}] })
    const pieces = input.match(/[^]{1,7}/gu)!.map((piece) => ({ index: 0, id: 'a', ...f('sql', piece) }))
    expect(callsIn(...pieces)).toEqual([{ id: 'a', tool: 'sql', input }])
  })
})
