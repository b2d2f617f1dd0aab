import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { blocksOf, complaints, openClone, readSource, type Clone } from '../support/clone.js'
import { event, RawServer, stream, type Asked } from '../support/llm/raw-server.js'

// What Ollama answers at /v1/chat/completions: thoughts in `reasoning`, each call whole in one chunk, tokens in a chunk without choices.
const chunk = (delta: object, finish_reason: string | null = null) =>
  event({
    ...{ id: 'chatcmpl-12', object: 'chat.completion.chunk', created: 1_764_000_000, model: 'qwen3', system_fingerprint: 'fp_ollama' },
    choices: [{ index: 0, delta: { role: 'assistant', content: '', ...delta }, finish_reason }],
  })
const tokens = (prompt_tokens: number, completion_tokens: number) =>
  event({
    ...{ id: 'chatcmpl-12', object: 'chat.completion.chunk', created: 1_764_000_000, model: 'qwen3', system_fingerprint: 'fp_ollama' },
    choices: [],
    usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
  }) + event('[DONE]')

const query = 'SELECT "Island", count(*) AS n FROM files.penguins GROUP BY 1 ORDER BY n DESC LIMIT 1'
const says = ({ body }: Asked): string => {
  const { model, messages, tools } = body as { model: string; messages: { role: string }[]; tools?: unknown[] }
  expect(model).toBe('qwen3')
  if (!tools) return chunk({ content: 'OK' }) + chunk({}, 'stop') + tokens(20, 2)
  if (messages.some(({ role }) => role === 'tool'))
    return (
      [...'Biscoe has most penguins: 168.'.matchAll(/\S+ ?/g)].map(([content]) => chunk({ content })).join('') +
      chunk({}, 'stop') +
      tokens(750, 12)
    )
  const call = { id: 'call_x1', index: 0, type: 'function', function: { name: 'sql', arguments: JSON.stringify({ query }) } }
  return (
    chunk({ reasoning: 'The user asks for ' }) +
    chunk({ reasoning: 'islands.' }) +
    chunk({ tool_calls: [call] }, 'tool_calls') +
    tokens(624, 49)
  )
}

const ollama = new RawServer()
let clone: Clone
beforeAll(async () => {
  await ollama.start()
  ollama.answer = (response, asked) => {
    expect(asked.path).toBe('/v1/chat/completions')
    stream(response).end(says(asked))
  }
  clone = await openClone({ OLLAMA_BASE_URL: `${ollama.url}/v1` })
  const program = join(clone.home, 'bin', 'ollama')
  writeFileSync(program, '#!/bin/sh\n[ "$1 $2" = "pull qwen3" ]\n')
  chmodSync(program, 0o755)
})
afterAll(async () => {
  await clone.stop()
  ollama.stop()
})

const run = async (text: string): Promise<string> => {
  const ended = await clone.shell(text)
  expect({ text, code: ended.code, err: complaints(ended) }).toEqual({ text, code: 0, err: '' })
  return ended.out
}

test('docs/use/agents.md walks from a model on this machine to an answer and its record', async () => {
  const [begin = '', ask = '', record = ''] = blocksOf(readSource('docs/use/agents.md'))
    .filter(({ language }) => language === 'sh')
    .map(({ text }) => text)
  expect(await run(begin)).toContain('"name":"biologist"')
  const answer = JSON.parse(await run(ask)) as object
  const [shown = ''] = blocksOf(readSource('docs/use/agents.md'))
    .filter(({ language }) => language === 'json')
    .map(({ text }) => text)
  const page = JSON.parse(shown) as { data: { rows: unknown[][] }[]; message: object }
  expect(answer).toEqual({
    ...page,
    message: { ...page.message, trace_id: expect.any(String) },
    position: expect.any(Number),
    data: [{ ...page.data[0], sql: query }],
  })
  const rows = await run(record)
  expect(rows).toMatch(/Which island has most penguins\? +\| Biscoe has most penguins: 168\. +\| answered +\| qwen3/)
  expect(rows).toMatch(/sql +\| sql +\| complete/)
})

test('the agent of the README answers as the README asks it', async () => {
  const console = blocksOf(readSource('README.md')).find(({ language, text }) => language === 'console' && text.includes('"biologist"'))
  const [create = '', ...asks] = (console?.text ?? '').split(/^\$ /m).filter((line) => line !== '')
  await run(create.replace('"biologist"', '"another"'))
  expect(asks).toHaveLength(2)
  const out = await run(asks.join('').replace('FROM biologist', 'FROM another'))
  expect(out).toContain('Biscoe has most penguins: 168.')
})
