import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { Blobs } from '../../../src/files/blobs.js'
import { Embedders } from '../../../src/knowledge/embedding/embedders.js'
import { tinyEmbeddingModel, tinyTokenizer } from '../../support/onnx/embedding-model.js'
import { RawServer } from '../../support/llm/raw-server.js'
import { send, sql, startTestService, temporaryDirectory } from '../../support/service.js'

let at: Awaited<ReturnType<typeof startTestService>>
const upload = async (name: string, content: Buffer | string, originalName: string) => {
  const form = new FormData()
  form.set('file', new Blob([content]), originalName)
  return send(at.url, 'PUT', `/api/files/${name}`, form)
}
beforeAll(async () => {
  at = await startTestService()
  await upload('tiny', tinyEmbeddingModel(), 'model.onnx')
  await upload('tiny_tokenizer', tinyTokenizer, 'tokenizer.json')
})
afterAll(() => at.stop())

const ids = async (query: string) => (await sql(at.url, query)).data.map(([id]) => id)

describe('an uploaded sentence transformer', () => {
  test('finds documents by their meaning, offline; words weigh as much as is asked', async () => {
    await sql(at.url, "CREATE KNOWLEDGE_BASE docs USING embedding_model = {'provider': 'onnx', 'file': 'tiny'}")
    const rows = [
      { id: 'pets', content: 'the puppy and the hound' },
      { id: 'cats', content: 'a kitten' },
      { id: 'cars', content: 'automobile papers and kittenish things' },
    ]
    expect(await send(at.url, 'PUT', '/api/projects/mindsdb/knowledge_bases/docs', { knowledge_base: { rows } })).toMatchObject({
      status: 200,
    })
    expect((await ids("SELECT id FROM docs WHERE content = 'dog'"))[0]).toBe('pets')
    expect((await ids("SELECT id FROM docs WHERE content = 'vehicle'"))[0]).toBe('cars')
    const { data } = await sql(at.url, "SELECT id, relevance, distance FROM docs WHERE content = 'cat' LIMIT 1")
    const [[id, relevance, distance] = []] = data
    expect(id).toBe('cats')
    expect(relevance).toBeCloseTo(1 / (1 + Number(distance)), 10)
    expect((await ids("SELECT id FROM docs WHERE content = 'dog papers' AND hybrid_search_alpha = 0"))[0]).toBe('cars')
    expect((await ids("SELECT id FROM docs WHERE content = 'dog papers' AND hybrid_search_alpha = 1"))[0]).toBe('pets')
    expect(await ids("SELECT id FROM docs WHERE content = 'dog papers' AND hybrid_search = true")).toHaveLength(3)
  })

  test('reads the end of a long text as it reads its beginning', async () => {
    await sql(at.url, "CREATE KNOWLEDGE_BASE long USING embedding_model = {'provider': 'onnx', 'file': 'tiny', 'max_tokens': 8}")
    await sql(
      at.url,
      "INSERT INTO long (id, content) VALUES ('a', 'x x x x x x x x x x x x x x x x money money'), ('b', 'x x x x x x x x x x x x x x x x x x')",
    )
    expect((await ids("SELECT id FROM long WHERE content = 'cash'"))[0]).toBe('a')
  })

  test('stays the model of a knowledge base, also if another file is uploaded under its name', async () => {
    const make = async (base: string) => {
      await sql(at.url, `CREATE KNOWLEDGE_BASE ${base} USING embedding_model = {'provider': 'onnx', 'file': 'worn'}`)
      await sql(at.url, `INSERT INTO ${base} (id, content) VALUES ('pets', 'a puppy'), ('cars', 'an automobile')`)
    }
    const find = (base: string, question: string, limit: number) =>
      ids(`SELECT id FROM ${base} WHERE content = '${question}' ORDER BY relevance DESC LIMIT ${limit}`)
    await upload('worn', tinyEmbeddingModel(), 'model.onnx')
    await upload('worn_tokenizer', tinyTokenizer, 'tokenizer.json')
    await make('kept')
    // Two words have the meaning of each other.
    const other = JSON.parse(tinyTokenizer) as { model: { vocab: Record<string, number> } }
    const { dog = 0, car = 0 } = other.model.vocab
    Object.assign(other.model.vocab, { dog: car, car: dog })
    await upload('worn_tokenizer', JSON.stringify(other), 'tokenizer.json')
    await make('later')
    expect(await find('later', 'dog', 1)).toEqual(['cars'])
    expect(await find('kept', 'dog', 1)).toEqual(['pets'])
    await sql(at.url, "INSERT INTO kept (id, content) VALUES ('late', 'dog')")
    expect((await find('kept', 'hound', 2)).sort()).toEqual(['late', 'pets'])
    const used = `SELECT data ->> '$.embedding.files.tokenizer' FROM log.events
      WHERE type = 'KnowledgeInserted' AND (data ->> '$.embedding.model') = 'worn' ORDER BY position`
    const hashes = (await sql(at.url, used)).data.map(([hash]) => hash)
    const [first, second] = [tinyTokenizer, JSON.stringify(other)].map((text) => createHash('sha256').update(text).digest('hex'))
    expect(hashes).toEqual([first, second, first])
  })

  test('whose tokenizer never ends its search blocks only its own request, which is refused', async () => {
    const pre_tokenizer = { type: 'Split', pattern: { Regex: '(?:a+)+b' }, behavior: 'Isolated', invert: false }
    const endless = JSON.stringify({ ...(JSON.parse(tinyTokenizer) as object), pre_tokenizer })
    await upload('endless_tokenizer', endless, 'tokenizer.json')
    const embedding_model = { provider: 'onnx', file: 'tiny', tokenizer: 'endless_tokenizer' }
    const path = '/api/projects/mindsdb/knowledge_bases'
    await send(at.url, 'POST', path, { knowledge_base: { name: 'endless', embedding_model } })
    const insert = (content: string) => send(at.url, 'PUT', `${path}/endless`, { knowledge_base: { rows: [{ content }] } })
    const refused = insert(`${'a'.repeat(100)}c`)
    expect((await send(at.url, 'GET', path)).status).toBe(200)
    expect(await refused).toMatchObject({ status: 400, body: { title: 'The model took too long' } })
    expect((await insert('dog')).status).toBe(200)
  })

  test.each([
    [{ provider: 'onnx', file: 'absent' }, 404, /File with name absent does not exist: it is the ONNX file/],
    [{ provider: 'onnx', file: 'tiny', tokenizer: 'absent' }, 404, /it is the tokenizer/],
    [{ provider: 'onnx', file: 'tiny_tokenizer', tokenizer: 'tiny_tokenizer' }, 400, /ONNX/],
    [{ provider: 'onnx', file: 'tiny', tokenizer: 'tiny' }, 400, /cannot be read as tokenizer.json/],
    [{ provider: 'onnx', file: 'tiny', max_tokens: 'many' }, 400, /max_tokens/],
  ])('that cannot be used is refused at the first insert: %j', async (embedding_model, status, message) => {
    const path = '/api/projects/mindsdb/knowledge_bases'
    await send(at.url, 'DELETE', `${path}/bad`)
    expect((await send(at.url, 'POST', path, { knowledge_base: { name: 'bad', embedding_model } })).status).toBe(201)
    const answer = await send(at.url, 'PUT', `${path}/bad`, { knowledge_base: { rows: [{ content: 'x' }] } })
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.stringMatching(message)])
    expect((await sql(at.url, 'SELECT count(*) FROM bad')).data).toEqual([[0]])
  })
})

test('an uploaded model that two ask for at once is opened once: a second one would end the first at its work', async () => {
  const { path, remove } = temporaryDirectory()
  const blobs = new Blobs(path)
  const contents = { tiny: 'a'.repeat(64), tiny_tokenizer: 'b'.repeat(64) }
  writeFileSync(blobs.path(contents.tiny), tinyEmbeddingModel())
  writeFileSync(blobs.path(contents.tiny_tokenizer), tinyTokenizer)
  const one = (_: string, name: keyof typeof contents) => Promise.resolve({ state: { columns: [], content: contents[name] } })
  const embedders = new Embedders({ log: { resources: { one } as never }, blobs, overHttp: () => Promise.resolve(undefined) })
  const [first, second] = await Promise.all([1, 2].map(() => embedders.of({ provider: 'onnx', file: 'tiny' })))
  expect(first).toBe(second)
  embedders.stop()
  remove()
})

test('an uploaded model whose vectors are there and whose file is gone is told with its hash', async () => {
  const { path, remove } = temporaryDirectory()
  const blobs = new Blobs(path)
  const tokenizer = 'b'.repeat(64)
  writeFileSync(blobs.path(tokenizer), tinyTokenizer)
  const embedders = new Embedders({ log: { resources: {} as never }, blobs, overHttp: () => Promise.resolve(undefined) })
  const made = { model: 'c'.repeat(64), tokenizer }
  await expect(embedders.of({ provider: 'onnx', file: 'tiny' }, made)).rejects.toMatchObject({
    ...{ code: 'not_found', detail: expect.stringContaining('ONNX file') as unknown },
    extras: { hint: expect.stringContaining(made.model) as unknown },
  })
  remove()
})

test('an uploaded model that is at work is not ended by others that are opened meanwhile', async () => {
  const { path, remove } = temporaryDirectory()
  const hashOf = (name: string) => createHash('sha256').update(name).digest('hex')
  const blobs = new Blobs(path)
  const one = (_: string, name: string) => Promise.resolve({ state: { columns: [], content: hashOf(name) } })
  for (const name of ['m1', 'm2', 'm3', 'm4', 'm5']) writeFileSync(blobs.path(hashOf(name)), tinyEmbeddingModel())
  writeFileSync(blobs.path(hashOf('tokenizer')), tinyTokenizer)
  const embedders = new Embedders({ log: { resources: { one } as never }, blobs, overHttp: () => Promise.resolve(undefined) })
  const of = (name: string) => embedders.of({ provider: 'onnx', file: name, tokenizer: 'tokenizer' })
  const { signal } = new AbortController()
  const texts = Array.from({ length: 2_000 }, () => 'a kitten and a puppy')
  const first = await of('m1')
  const long = first.embed(texts, { signal })
  for (const name of ['m2', 'm3', 'm4', 'm5']) await of(name)
  expect(await long).toHaveLength(texts.length)
  embedders.stop()
  remove()
})

describe('a provider over HTTP', () => {
  const server = new RawServer()
  const path = '/api/projects/mindsdb/knowledge_bases'
  /** A vector says how often a text has each of these words. */
  const words = ['dog', 'cat', 'car']
  const vectorOf = (text: string) => [...words.map((word) => text.split(word).length - 1), 0.01]
  const answering = (vector: (text: string) => number[]) => {
    server.answer = (response, { body }) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          data: (body['input'] as string[]).map((text, index) => ({ index, embedding: vector(text) })),
          usage: { prompt_tokens: 7, total_tokens: 7 },
        }),
      )
  }
  beforeAll(async () => {
    await server.start()
    answering(vectorOf)
    const embedding_model = { provider: 'openai', model_name: 'small', base_url: `${server.url}/v1`, api_key: 'sk-of-the-base-123456' }
    await send(at.url, 'POST', path, { knowledge_base: { name: 'called', embedding_model } })
  })
  afterAll(() => server.stop())
  const insert = (rows: object[]) => send(at.url, 'PUT', `${path}/called`, { knowledge_base: { rows } })

  test('makes the vectors of documents and questions, with the key of the knowledge base', async () => {
    expect(
      (
        await insert([
          { id: 'd', content: 'a dog and a dog' },
          { id: 'c', content: 'a cat in a car' },
        ])
      ).status,
    ).toBe(200)
    expect(server.asked.at(-1)?.headers['authorization']).toBe('Bearer sk-of-the-base-123456')
    const used = "SELECT provider, model, inserts, searches, input_tokens FROM log.usage WHERE knowledge_base = 'called'"
    expect((await sql(at.url, used)).data).toEqual([['openai', 'small', 1, 0, 7]])
    expect((await ids("SELECT id FROM called WHERE content = 'which car?'"))[0]).toBe('c')
    expect((await ids("SELECT id FROM called WHERE content = 'dog' AND hybrid_search = true"))[0]).toBe('d')
  })

  test('is asked for vectors of the length that the knowledge base names', async () => {
    expect(server.asked.at(-1)?.body).not.toHaveProperty('dimensions')
    const embedding_model = { provider: 'openai', model_name: 'small', base_url: `${server.url}/v1`, api_key: 'k', dimensions: 3 }
    await send(at.url, 'POST', path, { knowledge_base: { name: 'short', embedding_model } })
    const rows = [{ id: 'd', content: 'a dog' }]
    expect((await send(at.url, 'PUT', `${path}/short`, { knowledge_base: { rows } })).status).toBe(200)
    expect(server.asked.at(-1)?.body).toMatchObject({ dimensions: 3 })
  })

  test('that fails, or gives other vectors, leaves nothing inserted; words are found without it', async () => {
    server.answer = (response) => response.writeHead(401).end('{}')
    expect(await insert([{ id: 'x', content: 'a lynx' }])).toMatchObject({ status: 502 })
    for (const vector of [
      [1, 2],
      [1, 2, 3, 4, 5],
    ]) {
      answering(() => vector)
      const other = { status: 502, body: { title: 'Other embeddings' } }
      expect(await insert([{ id: 'x', content: 'a lynx' }])).toMatchObject(other)
      expect(await send(at.url, 'POST', `${path}/called/completions`, { query: 'a lynx', type: 'context' })).toMatchObject(other)
    }
    expect((await sql(at.url, 'SELECT count(*) FROM called')).data).toEqual([[2]])
    server.answer = (response) => response.writeHead(401).end('{}')
    expect(await sql(at.url, "SELECT id FROM called WHERE content = 'dog'")).toMatchObject({ type: 'error' })
    expect(await ids("SELECT id FROM called WHERE content = 'dog' AND hybrid_search_alpha = 0")).toEqual(['d'])
  })

  test('that is slow holds up no other query: a search waits for it outside of the SQL process', async () => {
    const held: (() => void)[] = []
    server.answer = (response, { body }) =>
      void held.push(() =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ data: (body['input'] as string[]).map((text, index) => ({ index, embedding: vectorOf(text) })) })),
      )
    const searches = Array.from({ length: 40 }, () => ids("SELECT id FROM called WHERE content = 'which car?' LIMIT 1"))
    while (held.length < 4) await new Promise((resolve) => setTimeout(resolve, 10))
    const others = Array.from({ length: 8 }, async (_, i) => (await sql(at.url, `SELECT ${i}`)).data)
    expect(await Promise.all(others)).toEqual(others.map((_, i) => [[i]]))
    let done = false as boolean
    const all = Promise.all(searches).finally(() => (done = true))
    while (!done) {
      for (const answer of held.splice(0)) answer()
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect(await all).toEqual(searches.map(() => ['c']))
    answering(vectorOf)
  })

  test('never gets the key at another address', async () => {
    const moved = await send(at.url, 'PUT', `${path}/called`, {
      knowledge_base: { embedding_model: { base_url: 'http://127.0.0.1:1/v1' } },
    })
    expect(moved).toMatchObject({ status: 400, body: { detail: expect.stringContaining('would send it to') } })
  })
})
