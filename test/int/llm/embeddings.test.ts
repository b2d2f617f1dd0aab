import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { LLMock } from '@copilotkit/aimock'
import { limits } from '../../../src/basics/limits.js'
import { failure, modelsHere, settingsAt } from '../../support/llm/models.js'
import { RawServer, type Asked } from '../../support/llm/raw-server.js'

const server = new RawServer()
beforeAll(() => server.start())
afterAll(() => server.stop())
afterEach(() => server.reset())

const signal = new AbortController().signal
const embedder = () => modelsHere().embedderOf(settingsAt(`${server.url}/v1`, { model: 'small' }))
const textsOf = ({ body }: Asked) => body['input'] as string[]
type Vector = { index?: number; embedding: unknown }
const answering = (vectors: (texts: string[], count: number) => Vector[]) => {
  server.answer = (response, asked, count) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data: vectors(textsOf(asked), count) }))
}
const lengths = (texts: readonly string[]) => texts.map((text, index) => ({ index, embedding: [text.length, 0.5] }))

test('a scripted embedder gives the vectors of texts', async () => {
  const scripted = new LLMock({ port: 0 })
  await scripted.start()
  scripted.onEmbedding('rooms', { embedding: [0.25, -1, 2] })
  const vectors = await modelsHere()
    .embedderOf(settingsAt(`${scripted.url}/v1`))
    .embed(['rooms'], { signal })
  expect(vectors).toEqual([Float32Array.of(0.25, -1, 2)])
  await scripted.stop()
})

describe('texts', () => {
  test('are sent in batches, and their vectors come in the order of the texts', async () => {
    answering(lengths)
    const texts = Array.from({ length: 2 * limits.embeddingBatchMaxTexts + 1 }, (_, at) => 'x'.repeat(at + 1))
    const vectors = await embedder().embed(texts, { signal })
    expect(vectors.map(([first]) => first)).toEqual(texts.map(({ length }) => length))
    expect(server.asked.map((asked) => textsOf(asked).length)).toEqual([limits.embeddingBatchMaxTexts, limits.embeddingBatchMaxTexts, 1])
  })
  test('that are long are sent in smaller batches', async () => {
    answering(lengths)
    const long = 'x'.repeat(limits.embeddingBatchMaxChars)
    await embedder().embed([long, 'a', 'b', `${long}y`, 'c'], { signal })
    expect(server.asked.map((asked) => textsOf(asked).length)).toEqual([1, 2, 1, 1])
  })
  test('have their vectors by the index that the answer gives', async () => {
    answering((texts) => lengths(texts).reverse())
    const vectors = await embedder().embed(['a', 'bb', 'ccc'], { signal })
    expect(vectors.map(([first]) => first)).toEqual([1, 2, 3])
  })
  test('use tokens, which are told where the answer says them', async () => {
    server.answer = (response, asked) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ data: lengths(textsOf(asked)), usage: { prompt_tokens: 7, total_tokens: 7 } }))
    const used: unknown[] = []
    await embedder().embed(['a'], { signal, onUsed: (usage) => used.push(usage) })
    answering(lengths)
    await embedder().embed(['a'], { signal, onUsed: (usage) => used.push(usage) })
    expect(used).toEqual([{ input: 7, output: null }])
  })
  test.each([0, -1, limits.llmReportedMaxTokens + 1, Number.MAX_SAFE_INTEGER])(
    'use an unknown number of tokens if the answer says %d',
    async (prompt_tokens) => {
      server.answer = (response, asked) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ data: lengths(textsOf(asked)), usage: { prompt_tokens, total_tokens: prompt_tokens } }))
      const used: unknown[] = []
      await embedder().embed(['a'], { signal, onUsed: (usage) => used.push(usage) })
      expect(used).toEqual([])
    },
  )
  test('that are none are not sent', async () => {
    expect(await embedder().embed([], { signal })).toEqual([])
    expect(server.asked).toEqual([])
  })
})

test.each<[string, (texts: string[], count: number) => Vector[]]>([
  ['fewer vectors than texts', (texts) => lengths(texts).slice(1)],
  ['vectors of different lengths', (texts) => lengths(texts).map((one, at) => (at === 1 ? { ...one, embedding: [1] } : one))],
  ['numbers that 32 bits cannot hold', (texts) => lengths(texts).map((one) => ({ ...one, embedding: [1e300, 1] }))],
  ['empty vectors', (texts) => lengths(texts).map((one) => ({ ...one, embedding: [] }))],
  [
    'vectors that are too long',
    (texts) => lengths(texts).map((one) => ({ ...one, embedding: Array(limits.embeddingMaxDimensions + 1).fill(1) })),
  ],
  ['texts as numbers', (texts) => lengths(texts).map((one) => ({ ...one, embedding: ['1', '2'] }))],
  ['base64', (texts) => lengths(texts).map((one) => ({ ...one, embedding: 'AAAA' }))],
  ['nulls', (texts) => lengths(texts).map((one) => ({ ...one, embedding: [null, 1] }))],
])('an embedder that answers %s is not understood', async (_, vectors) => {
  answering(vectors)
  expect(await failure(embedder().embed(['a', 'bb'], { signal }))).toMatchObject({ code: 'llm_failed', title: 'Not understood' })
})

test('vectors of different lengths are found across batches', async () => {
  answering((texts, count) => lengths(texts).map((one) => ({ ...one, embedding: Array(count).fill(1) })))
  const texts = Array.from({ length: limits.embeddingBatchMaxTexts + 1 }, () => 'a')
  expect((await failure(embedder().embed(texts, { signal }))).detail).toContain('different lengths (1, 2)')
})

test('an embedder that is busy is asked again, and one that refuses the key is not', async () => {
  server.answer = (response, asked, count) =>
    count === 1 ? response.writeHead(503).end() : response.end(JSON.stringify({ data: lengths(textsOf(asked)) }))
  expect((await embedder().embed(['a'], { signal })).length).toBe(1)
  server.reset()
  server.answer = (response) => response.writeHead(401).end()
  expect(await failure(embedder().embed(['a'], { signal }))).toMatchObject({ code: 'llm_failed', title: 'Key refused' })
  expect(server.asked.length).toBe(1)
})

test('who leaves stops the request', async () => {
  const client = new AbortController()
  const reason = new Error('left')
  server.answer = () => client.abort(reason)
  await expect(embedder().embed(['a'], { signal: client.signal })).rejects.toBe(reason)
  await server.isLeft()
})
