import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { trainRent } from '../../support/models/rentals.js'
import { send, sql, startTestService, temporaryDirectory } from '../../support/service.js'

let at: Awaited<ReturnType<typeof startTestService>>
const place = temporaryDirectory()
beforeAll(async () => void (at = await startTestService({ CONNECTION_FILES: place.path })))
afterAll(async () => {
  await at.stop()
  place.remove()
})

const path = '/api/projects/mindsdb/knowledge_bases'
const call = (method: string, rest = '', body?: object, headers = {}) => send(at.url, method, `${path}${rest}`, body, headers)
const create = (name: string, fields: object = {}) => call('POST', '', { knowledge_base: { name, ...fields } })
const insert = (name: string, rows: object[], more: object = {}, headers = {}) =>
  call('PUT', `/${name}`, { knowledge_base: { rows, ...more } }, headers)
type Document = { id: string; chunk_id: string; content: string; metadata: object; relevance: number }
const search = async (name: string, query: string, more: object = {}) =>
  ((await call('POST', `/${name}/completions`, { query, type: 'context', ...more })).body as { documents: Document[] }).documents

describe('a knowledge base over REST', () => {
  test('is created, listed, read, changed and deleted', async () => {
    const made = await create('life', { content_columns: ['body'], params: { k: 1 }, storage: { database: 'pvec', table: 't' } })
    expect(made).toMatchObject({
      status: 201,
      body: { name: 'life', content_columns: ['body'], params: { k: 1 }, vector_database: 'pvec', vector_database_table: 't' },
    })
    expect(await create('LIFE')).toMatchObject({ status: 409, body: { title: 'Knowledge base already exists' } })
    expect((await call('GET')).body).toEqual([made.body])
    expect((await call('GET', '/life')).body).toEqual(made.body)
    // A client may send the record that it read.
    expect((await call('PUT', '/life', { knowledge_base: made.body as object })).status).toBe(200)
    expect((await call('GET', '/life')).body).toMatchObject({ ...(made.body as object), updated_at: expect.any(String) })
    expect(await call('PUT', '/life', { knowledge_base: { name: 'living', params: { k: null, l: 2 } } })).toMatchObject({
      status: 200,
      body: '',
    })
    expect((await call('GET', '/living')).body).toMatchObject({ params: { l: 2 } })
    expect((await call('DELETE', '/living')).status).toBe(204)
    expect(await call('GET', '/living')).toMatchObject({ status: 404, body: { title: 'Knowledge base not found' } })
  })

  test('is missing as other resources are: 400 without the wrapper, 404 for what is not there', async () => {
    expect(await call('POST', '', {})).toMatchObject({ status: 400, body: { title: 'Missing parameter' } })
    expect((await insert('absent', [{ content: 'x' }])).status).toBe(404)
    expect((await send(at.url, 'GET', '/api/projects/nowhere/knowledge_bases')).status).toBe(404)
  })

  test('never shows a secret of its model', async () => {
    await create('secretive', { embedding_model: { provider: 'openai', model_name: 'm', api_key: 'sk-live-1234567890abcdef' } })
    const shown = JSON.stringify([
      (await call('GET', '/secretive')).body,
      await sql(at.url, 'SELECT * FROM information_schema.knowledge_bases'),
    ])
    expect(shown).toContain('******')
    expect(shown).not.toContain('sk-live')
    expect(JSON.stringify((await send(at.url, 'GET', '/api/events?type=KnowledgeBaseCreated')).body)).not.toContain('sk-live')
  })
})

test('a knowledge base writes no answers: a question for one is refused, and says who answers', async () => {
  await create('silent')
  expect(await call('POST', '/silent/completions', { query: 'Who are you?', type: 'chat' })).toMatchObject({
    status: 501,
    body: { code: 'not_built', hint: expect.stringContaining('an agent with this knowledge base answers') },
  })
})

test('a question without a type is one for chunks', async () => {
  await create('untyped')
  await call('PUT', '/untyped', { knowledge_base: { rows: [{ id: 'a', content: 'The lamp of the attic.' }] } })
  const found = await call('POST', '/untyped/completions', { query: 'a lamp', type: 'context' })
  expect(found).toMatchObject({ status: 200, body: { documents: [{ id: 'a' }] } })
  for (const more of [{}, { type: null }])
    expect(await call('POST', '/untyped/completions', { query: 'a lamp', ...more })).toMatchObject({ status: 200, body: found.body })
})

describe('uploaded texts', () => {
  const upload = (name: string, content: string, original: string) => {
    const form = new FormData()
    form.set('file', new Blob([content]), original)
    return send(at.url, 'PUT', `/api/files/${name}`, form)
  }

  test('are documents, by their names and in SQL, with their file as metadata', async () => {
    await upload('lamp', '# Lamp\n\nHold the button, for ten seconds, until it blinks.\n', 'lamp.md')
    await upload('radio', 'The battery lasts nine hours.\nCharge it overnight, then, unplug it.\n', 'radio.txt')
    await create('shelf')
    expect(await call('PUT', '/shelf', { knowledge_base: { files: ['lamp'] } })).toMatchObject({ status: 200, body: '' })
    await sql(at.url, 'INSERT INTO shelf SELECT source_file AS id, content FROM files.radio')
    expect(await search('shelf', 'which button blinks')).toMatchObject([
      { content: '# Lamp\n\nHold the button, for ten seconds, until it blinks.', metadata: { source_file: 'lamp.md', file_format: 'md' } },
    ])
    expect((await sql(at.url, "SELECT id FROM shelf WHERE content = 'battery'")).data).toEqual([['radio.txt']])
  })

  test('come as the body itself, too', async () => {
    expect(await send(at.url, 'PUT', '/api/files/raw', 'Just a text.', { 'content-type': 'text/markdown' })).toMatchObject({
      status: 200,
      body: { rows: 1, columns: [{ name: 'content' }, { name: 'source_file' }, { name: 'file_format' }] },
    })
    expect((await sql(at.url, 'SELECT content, source_file FROM files.raw')).data).toEqual([['Just a text.', null]])
  })
})

describe('documents', () => {
  test('are found by their words; an insert answers an empty text as JSON', async () => {
    await create('docs')
    const rows = [
      { id: 'a', content: 'Running dogs love parks', year: 2020 },
      { id: 'b', content: 'Cats sleep on the sofa', year: 2021 },
    ]
    expect(await insert('docs', rows)).toMatchObject({ status: 200, body: '', type: expect.stringContaining('application/json') })
    expect(await search('docs', 'does a dog run?')).toMatchObject([{ id: 'a', chunk_id: 'a:1of1:0to23', metadata: { year: 2020 } }])
    expect(await search('docs', 'dogs cats', { metadata: { year: 2021 } })).toMatchObject([{ id: 'b' }])
    expect(await search('docs', 'dogs cats', { limit: 1 })).toHaveLength(1)
    // Keywords are searched for beside the question.
    expect(await search('docs', 'where to rest')).toEqual([])
    for (const keywords of ['sofa', ['sofa', 'cushion']])
      expect(await search('docs', 'where to rest', { keywords })).toMatchObject([{ id: 'b' }])
  })

  test('with an id that is there take the place of the ones before; or stand beside them, or are left out, as it is asked', async () => {
    await create('again')
    await insert('again', [{ id: 1, content: 'first zebra' }])
    await insert('again', [{ id: 1, content: 'second zebra' }])
    expect((await search('again', 'zebra')).map(({ content }) => content)).toEqual(['second zebra'])
    await insert('again', [{ id: 1, content: 'third zebra' }], { params: { kb_skip_existing: true } })
    expect(await search('again', 'zebra')).toHaveLength(1)
    await insert('again', [{ id: 1, content: 'fourth zebra' }], { params: { kb_no_upsert: true } })
    expect(await search('again', 'zebra')).toHaveLength(2)
    // Texts of equal length give the chunks of both the same chunk_id.
    const beside = [['second zebra'], ['fourth zebra']]
    for (const asked of ["content = 'zebra'", "content IN ('zebra', 'second fourth')"])
      expect((await sql(at.url, `SELECT chunk_content FROM again WHERE ${asked} ORDER BY chunk_content DESC`)).data).toEqual(beside)
  })

  test('come in all, or none: rows without content are named', async () => {
    await create('whole')
    const refused = await insert('whole', [{ content: 'fine' }, { content: ' ' }, { content: 'good' }, { content: null }])
    expect(refused).toMatchObject({ status: 400, body: { detail: 'rows 2, 4: the content is empty; nothing was inserted' } })
    expect(await insert('whole', [{ id: null, content: 'x' }])).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('row 1: id is NULL') },
    })
    expect(await search('whole', 'fine good')).toEqual([])
  })

  test('come from queries and files; what was inserted before a row without content stays, and is counted', async () => {
    await create('queried')
    await call('PUT', '/queried', { knowledge_base: { query: "SELECT i AS id, 'giraffe ' || i AS content FROM range(2500) AS t(i)" } })
    expect((await sql(at.url, 'SELECT count(*) FROM queried')).data).toEqual([[2500]])
    await sql(at.url, "CREATE TABLE files.notes (SELECT 'n' AS id, 'a note on okapis' AS content)")
    await call('PUT', '/queried', { knowledge_base: { files: ['notes'] } })
    expect(await search('queried', 'okapi')).toMatchObject([{ id: 'n' }])
    const query = "SELECT 'x' || i AS id, CASE i WHEN 2200 THEN '' ELSE 'heron ' || i END AS content FROM range(3000) AS t(i)"
    expect(await call('PUT', '/queried', { knowledge_base: { query } })).toMatchObject({
      status: 400,
      body: { detail: 'row 2201: the content is empty; 1000 documents were inserted before, and stay', inserted: 1000 },
    })
    expect((await sql(at.url, "SELECT count(*) FROM queried WHERE id LIKE 'x%'")).data).toEqual([[1000]])
    const withoutId = "SELECT CASE i WHEN 2200 THEN NULL ELSE 'y' || i END AS id, 'heron' AS content FROM range(3000) AS t(i)"
    expect(await call('PUT', '/queried', { knowledge_base: { query: withoutId } })).toMatchObject({
      status: 400,
      body: { detail: 'row 2201: id is NULL, and a document is known by it; 1000 documents were inserted before, and stay' },
    })
    expect((await sql(at.url, "SELECT count(*) FROM queried WHERE id LIKE 'y%'")).data).toEqual([[1000]])
    expect(await call('PUT', '/queried', { knowledge_base: { query: 'SELECT 1 AS a' } })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('there is no column content') },
    })
    expect(await call('PUT', '/queried', { knowledge_base: { query: "SELECT 'z' AS id, 1 AS ID, 'heron' AS content" } })).toMatchObject({
      status: 400,
      body: { detail: 'Two columns of the rows are called "ID"' },
    })
  })

  test('of several sources come in one source after the other; files are looked up first', async () => {
    await create('mixed')
    const both = (more: object) =>
      insert(
        'mixed',
        [
          { id: 'a', content: 'tapir' },
          { id: 'b', content: 'tapir' },
        ],
        more,
      )
    expect(await both({ files: ['missing'] })).toMatchObject({ status: 404, body: { title: 'File not found' } })
    expect(await search('mixed', 'tapir')).toEqual([])
    const refused = await both({ query: "SELECT 'c' AS id, '' AS content" })
    expect(refused).toMatchObject({
      status: 400,
      body: { detail: 'row 1: the content is empty; 2 documents were inserted before, and stay' },
    })
    expect(await search('mixed', 'tapir')).toHaveLength(2)
  })

  test('come from the tables of a connected database, over REST and in SQL', async () => {
    const lite = new Database(join(place.path, 'wiki.db'))
    lite.exec('CREATE TABLE pages (ref TEXT, body TEXT, year INTEGER)')
    lite.exec(`INSERT INTO pages VALUES ('p1', 'Tapirs swim well', 2020), ('p2', 'Okapis are shy', 2021)`)
    lite.close()
    await sql(at.url, `CREATE DATABASE wiki WITH ENGINE = 'sqlite', PARAMETERS = {"path": "wiki.db"}`)
    await create('connected')
    const query = 'SELECT ref AS id, body AS content, year FROM wiki.pages WHERE year ='
    expect((await call('PUT', '/connected', { knowledge_base: { query: `${query} 2020` } })).status).toBe(200)
    expect((await sql(at.url, `INSERT INTO connected ${query} 2021`)).error_message).toBeUndefined()
    expect(await search('connected', 'tapir')).toMatchObject([{ id: 'p1', content: 'Tapirs swim well', metadata: { year: 2020 } }])
    expect(await search('connected', 'okapi')).toMatchObject([{ id: 'p2', content: 'Okapis are shy', metadata: { year: 2021 } }])
  })

  test('are inserted only at the version that is expected, and with no settings beside them', async () => {
    await create('careful')
    const rows = [{ id: 'a', content: 'wombat' }]
    expect(await insert('careful', rows, {}, { 'if-match': '"7"' })).toMatchObject({ status: 412, body: { version: 1 } })
    expect((await insert('careful', rows, {}, { 'if-none-match': '*' })).status).toBe(412)
    for (const more of [
      { name: 'other' },
      { id_column: 'key' },
      { params: { reranking_model: { model_name: 'm' } } },
      { params: { k: 1 } },
    ])
      expect(await insert('careful', rows, more)).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining('an insert does not change the settings') },
      })
    expect(await search('careful', 'wombat')).toEqual([])
    const fitting = { name: 'careful', preprocessing: { chunk_size: 300 }, params: { kb_skip_existing: true } }
    expect((await insert('careful', rows, fitting, { 'if-match': '"1"' })).status).toBe(200)
    expect(await search('careful', 'wombat')).toHaveLength(1)
  })

  test('are not inserted beside a member that is not known, and neither is a knowledge base created', async () => {
    await create('spelt')
    const unknown = (name: string, meant: string) => ({
      status: 400,
      body: { detail: expect.stringContaining(`"${name}"`), hint: expect.stringContaining(`Did you mean "${meant}"?`) },
    })
    const rows = [{ id: 'a', content: 'wombat' }]
    expect(await insert('spelt', rows, { preprocesing: { chunk_size: 300 } })).toMatchObject(unknown('preprocesing', 'preprocessing'))
    expect(await search('spelt', 'wombat')).toEqual([])
    expect(await create('misspelt', { meta_data_columns: ['year'] })).toMatchObject(unknown('meta_data_columns', 'metadata_columns'))
    expect(await call('GET', '/misspelt')).toMatchObject({ status: 404 })
  })

  test('that models predicted in a query leave a record of the predictions', async () => {
    await trainRent(at.url)
    await create('predicted')
    const insertQuery = (query: string) => call('PUT', '/predicted', { knowledge_base: { query } }, { 'x-request-id': 'predicts' })
    const joined = 'SELECT t.sqft AS id, m.rental_price AS content FROM (SELECT * FROM files.rentals LIMIT 3) AS t JOIN mindsdb.rent AS m'
    expect((await insertQuery(joined)).status).toBe(200)
    expect((await insertQuery("SELECT 'one' AS id, rental_price AS content FROM rent WHERE sqft = 500")).status).toBe(200)
    expect((await sql(at.url, 'SELECT count(*) FROM predicted')).data).toEqual([[4]])
    const { data } = await sql(at.url, "SELECT rows, statement FROM log.prediction_receipts WHERE request = 'predicts' ORDER BY position")
    expect(data).toEqual([
      [3, joined],
      [1, null],
    ])
    expect((await sql(at.url, "SELECT row FROM log.predictions WHERE request = 'predicts'")).data).toEqual([[0]])
  })

  test('of a request that comes again under its key are inserted once', async () => {
    await create('keyed', { params: { kb_no_upsert: true } })
    const once = () => insert('keyed', [{ id: 'k', content: 'quokka' }], {}, { 'idempotency-key': 'insert-1' })
    expect([(await once()).status, (await once()).status]).toEqual([200, 200])
    expect(await search('keyed', 'quokka')).toHaveLength(1)
  })

  test('that come at the same time all come in, and each id once', async () => {
    await create('busy')
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        insert('busy', [
          { id: 'shared', content: `ibex ${i}` },
          { id: `own${i}`, content: `ibex ${i}` },
        ]),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect((await sql(at.url, 'SELECT count(*), count(DISTINCT id) FROM busy')).data).toEqual([[13, 13]])
  })

  test('of chats are refused with what to do instead', async () => {
    expect(await call('POST', '/docs/completions', { query: 'x', type: 'chat' })).toMatchObject({
      status: 501,
      body: { hint: expect.stringContaining('"type": "context"') },
    })
    expect(await call('PUT', '/docs', { knowledge_base: {} })).toMatchObject({
      status: 400,
      body: { detail: 'there is nothing to insert' },
    })
  })

  test.each([
    [{ query: ' ' }, /nothing to search for/],
    [{ query: 'x'.repeat(10_001) }, /at most 10000/],
    [{ query: 'x', limit: 101 }, /limit/],
    [{ query: 'x', alpha: 2 }, /alpha/],
    [{ query: 'x', metadata: { a: { b: 1 } } }, /compared with a text/],
  ])('are not found by a question like %j', async (body, message) => {
    const { status, body: problem } = await call('POST', '/docs/completions', { type: 'context', ...body })
    expect([status, JSON.stringify(problem)]).toEqual([400, expect.stringMatching(message)])
  })
})
