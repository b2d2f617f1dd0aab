import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import { exchange } from '../../../src/llm/ask-model.js'
import type { OnSent } from '../../../src/llm/contract/language-model.js'
import { tokensOfExchange } from '../../../src/llm/exchange-usage.js'
import { AskedModels } from '../../../src/llm/tokens/asked-models.js'
import type { ReserveTokens } from '../../../src/llm/tokens/daily-token-quotas.js'
import { modelsHere, question, settingsAt } from '../../support/llm/models.js'
import { RawServer, type Answering } from '../../support/llm/raw-server.js'

const server = new RawServer()
beforeAll(() => server.start())
afterAll(() => server.stop())
afterEach(() => server.reset())

const estimate = 1_000
const settings = () => settingsAt(`${server.url}/v1`)
const later: Answering = (response) => response.writeHead(429, { 'retry-after': '20' }).end('{"error":{"message":"later"}}')

/** Calls `then` when a call learns that no model answers its request. */
const seen =
  (onSent: OnSent | undefined, then: () => void): OnSent =>
  () => {
    const tell = onSent?.()
    return () => {
      tell?.()
      then()
    }
  }

/** The tokens that count for a chat, whose client may leave: by the signal, or once its request was refused. */
const ofChat = async (client: AbortController, models = modelsHere()): Promise<number> => {
  const model = models.of(settings())
  const leaving: typeof model = {
    ...model,
    chat: (request, options) => model.chat(request, { ...options, onSent: seen(options.onSent, () => client.abort(new Error('left'))) }),
  }
  return tokensOfExchange(await exchange(leaving, question('hi'), { signal: client.signal }), estimate)
}

/** The same for vectors. */
const ofVectors = async (client: AbortController, models = modelsHere(), texts: readonly string[] = ['hi']): Promise<number> => {
  const model = models.embedderOf(settings())
  const settled: number[] = []
  const reserve: ReserveTokens = (tokens) => Promise.resolve({ tokens, left: Infinity, settle: (used) => void settled.push(used) })
  await new AskedModels(reserve)
    .asking('embedding', { provider: model.provider, model: model.model, host: model.host, estimate }, ({ onUsed, onSent }) =>
      model.embed(texts, { signal: client.signal, onUsed, onSent: seen(onSent, () => client.abort(new Error('left'))) }),
    )
    .catch(() => undefined)
  return settled.reduce((sum, used) => sum + used, 0)
}

describe.each<[string, typeof ofChat]>([
  ['a chat', ofChat],
  ['vectors', ofVectors],
])('%s', (_, tokensOf) => {
  test('that is cut off while it waits for the Retry-After of its provider counts nothing', async () => {
    server.answer = later
    expect(await tokensOf(new AbortController())).toBe(0)
    expect(server.asked).toHaveLength(1)
  })

  test('that is cut off while it waits for its turn counts nothing', async () => {
    const models = modelsHere({ most: { slots: { atOnce: 1, waiting: 9, waitMs: 60_000 } } })
    const [first, second] = [new AbortController(), new AbortController()]
    const isAsked = new Promise<void>((resolve) => (server.answer = () => resolve()))
    const held = tokensOf(first, models)
    await isAsked
    const waiting = tokensOf(second, models)
    second.abort(new Error('left'))
    expect(await waiting).toBe(0)
    first.abort(new Error('left'))
    expect(await held).toBeGreaterThanOrEqual(estimate)
    expect(server.asked).toHaveLength(1)
  })

  test('that no model answers counts nothing', async () => {
    server.answer = (response) => response.writeHead(401).end()
    expect(await tokensOf(new AbortController())).toBe(0)
  })
})

test('vectors of which a model made some count by their estimate, also if it refuses the rest', async () => {
  server.answer = (response, { body }, count) => {
    const data = (body['input'] as string[]).map((_, index) => ({ index, embedding: [1, index] }))
    if (count === 1) response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }))
    else response.writeHead(401).end()
  }
  const texts = Array.from({ length: limits.embeddingBatchMaxTexts + 1 }, () => 'hi')
  expect(await ofVectors(new AbortController(), modelsHere(), texts)).toBe(estimate)
  expect(server.asked).toHaveLength(2)
})

test('vectors that arrive and cannot be read count by their estimate', async () => {
  server.answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"data": [')
  expect(await ofVectors(new AbortController())).toBe(estimate)
})
