import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Problem } from '../../../src/basics/errors.js'
import { send, sql, startTestService } from '../../support/service.js'
import { until } from '../../support/until.js'

let at: Awaited<ReturnType<typeof startTestService>>
let inserted: number
beforeAll(async () => {
  at = await startTestService()
  // It waits until SQL has started.
  await sql(at.url, 'SELECT 1')
  await ask("CREATE KNOWLEDGE_BASE docs USING metadata_columns = ['year', 'kind'], preprocessing = {'chunk_size': 100}")
  await ask(`INSERT INTO docs (id, content, year, kind) VALUES
    ('a', 'Running dogs love parks', 2020, 'pet'), ('b', 'Cats sleep on the sofa', 2021, 'pet'), ('c', 'Return a parcel within thirty days', 2022, 'shop')`)
  inserted = Number((await ask('SELECT max(position) FROM log.events'))[0]?.[0])
  await ask("INSERT INTO docs SELECT 'a' AS id, 'Wolves howl at night' AS content, 2030 AS year")
  await ask("INSERT INTO docs (content, kind) VALUES ('An addendum on badgers', 'extra')")
  await ask("CREATE VIEW drawn AS (SELECT CAST(uuid() AS VARCHAR) AS id UNION ALL SELECT 'b')")
})
afterAll(() => at.stop())

const ask = async (query: string, context: object = {}): Promise<unknown[][]> => {
  const { body } = await send(at.url, 'POST', '/api/sql/query', { query, context: { db: 'mindsdb', ...context } })
  const { type, data, error_message: message } = body as { type: string; data?: unknown[][]; error_message?: string }
  if (type === 'error') throw new Error(message)
  return data ?? []
}
const ids = async (query: string, context?: object) => (await ask(query, context)).map(([id]) => id)

describe('a search in SQL', () => {
  test('gives the documented columns, and those of metadata with their types', async () => {
    const { column_names: names, data } = await sql(at.url, "SELECT * FROM docs WHERE content = 'how to return parcels' LIMIT 1")
    expect(names).toEqual(['id', 'chunk_id', 'chunk_content', 'metadata', 'relevance', 'distance', 'year', 'kind'])
    expect(data).toEqual([
      ['c', 'c:1of1:0to34', 'Return a parcel within thirty days', '{"year":2022,"kind":"shop"}', expect.any(Number), null, 2022, 'shop'],
    ])
  })

  test.each<[string, string[]]>([
    ["SELECT id FROM docs WHERE content LIKE '%sofa%'", ['b']],
    ['SELECT id FROM docs WHERE content = "sofa"', ['b']],
    ["SELECT id FROM docs WHERE content IN ('sofa', 'parcel') ORDER BY id", ['b', 'c']],
    ["SELECT id FROM docs WHERE content = 'wolves sofa parcel' AND year > 2021 AND kind = 'shop'", ['c']],
    ["SELECT id FROM docs WHERE content = 'wolves sofa parcel' AND NOT kind = 'pet'", ['c']],
    ["SELECT id FROM docs WHERE content = 'wolves sofa parcel' AND (year = 2030 OR year = 2021) ORDER BY year", ['b', 'a']],
    ["SELECT id FROM docs WHERE content = 'wolves sofa parcel' AND NOT (kind = 'pet' OR year = 2030)", ['c']],
    ["SELECT id FROM docs WHERE content = 'wolves sofa parcel' AND NOT (kind = 'pet' AND year = 2021) ORDER BY id", ['a', 'c']],
    ["SELECT id FROM docs WHERE content = 'wolves sofa parcel' AND year BETWEEN 2021 AND 2022 ORDER BY id", ['b', 'c']],
    ["SELECT id FROM docs WHERE content = 'wolves sofa parcel' AND year NOT BETWEEN 2021 AND 2022", ['a']],
    ["SELECT id FROM docs WHERE content = 'wolves sofa parcel' AND chunk_content NOT LIKE '%sofa%' ORDER BY id", ['a', 'c']],
    ["SELECT id FROM docs WHERE content = 'sofa' OR content = 'parcel' ORDER BY id", ['b', 'c']],
    ["SELECT id FROM docs WHERE content = 'sofa' AND relevance >= 0.99", []],
    ["SELECT id FROM docs WHERE content = 'sofa' AND relevance > 0.1 AND hybrid_search = true AND hybrid_search_alpha = 0", ['b']],
    ["SELECT d.id FROM mindsdb.docs AS d JOIN (SELECT 'b' AS id) AS t ON t.id = d.id WHERE d.content = 'sofa parcel'", ['b']],
    ["SELECT id FROM (SELECT id, relevance FROM docs WHERE content = 'sofa') AS s", ['b']],
    ["SELECT id FROM docs WHERE content = 'wolves sofa parcel' AND id IN (SELECT 'b' AS id UNION ALL SELECT 'c') ORDER BY id", ['b', 'c']],
    ["SELECT id FROM docs WHERE content = 'wolves sofa parcel' AND id NOT IN (SELECT 'b')", ['a', 'c']],
    ["SELECT id FROM docs WHERE content = 'wolves sofa parcel' AND year = (SELECT max(year) FROM docs)", ['a']],
    [
      "SELECT id FROM docs WHERE content = 'wolves sofa parcel' AND year IN (SELECT n FROM range(2021, 2023) AS r(n)) ORDER BY id",
      ['b', 'c'],
    ],
    ["SELECT id FROM docs WHERE content = 'wolves sofa parcel' AND id IN (SELECT id FROM docs WHERE content = 'sofa')", ['b']],
    ["SELECT id FROM docs WHERE content = 'sofa' AND 'b' IN (SELECT content FROM (SELECT 'b' AS content) AS t)", ['b']],
    ["SELECT id FROM docs AS d WHERE content = 'wolves sofa parcel' AND id IN (SELECT 'c' WHERE d.kind = 'shop')", ['c']],
    ["WITH w AS (SELECT 'c' AS id) SELECT id FROM docs WHERE content = 'wolves sofa parcel' AND id IN (SELECT id FROM w)", ['c']],
    ["SELECT id FROM docs WHERE content = 'wolves sofa parcel' AND id IN (SELECT id FROM docs WHERE year = 1) ", []],
    // NOT IN without values is true, also for a document without the metadata.
    [
      "SELECT id FROM docs WHERE content = 'wolves sofa parcel' AND kind NOT IN (SELECT id FROM docs WHERE year = 1) ORDER BY id",
      ['a', 'b', 'c'],
    ],
    ["SELECT id FROM docs WHERE content = 'wolves sofa parcel' AND kind NOT IN (SELECT 'shop')", ['b']],
    ["SELECT id FROM docs WHERE content = 'wolves sofa parcel' AND kind NOT IN (SELECT CAST(NULL AS VARCHAR))", []],
    // Such a query has other values in each round of the statement.
    ["SELECT id FROM docs WHERE content = 'sofa' AND id IN (SELECT CAST(uuid() AS VARCHAR) UNION ALL SELECT 'b')", ['b']],
    [
      "WITH w AS (SELECT CAST(uuid() AS VARCHAR) AS id UNION ALL SELECT 'b'), v AS (SELECT id FROM w) SELECT id FROM docs WHERE content = 'sofa' AND id IN (SELECT id FROM v)",
      ['b'],
    ],
    ["SELECT id FROM docs WHERE content = 'sofa' AND id IN (SELECT id FROM drawn)", ['b']],
    ["SELECT id FROM docs WHERE content = 'OR \" * NEAR('", []],
    ['SELECT id FROM docs WHERE year >= 2021 AND year < 2030 ORDER BY year', ['b', 'c']],
    ["SELECT ID FROM docs AS d WHERE CONTENT = 'wolves sofa parcel' AND Year = 2021 AND d.Kind = 'pet'", ['b']],
    ["SELECT id FROM docs WHERE ID = 'b'", ['b']],
    ["SELECT id FROM docs WHERE id IN ('a', 'b') ORDER BY id", ['a', 'b']],
    ["SELECT id FROM docs WHERE content = 'wolves sofa parcel' ORDER BY id LIMIT 1", ['a']],
    ["SELECT id FROM docs WHERE content = 'wolves sofa parcel' ORDER BY id DESC LIMIT 1", ['c']],
    ["SELECT min(id) FROM docs WHERE content = 'wolves sofa parcel' GROUP BY year > 2025 ORDER BY 1 DESC LIMIT 1", ['b']],
    ["SELECT DISTINCT id > 'a' AS other FROM docs WHERE content = 'wolves sofa parcel' ORDER BY other LIMIT 1", [false] as never],
  ])('%s', async (query, expected) => expect(await ids(query)).toEqual(expected))

  test('counts what it finds without a LIMIT: a LIMIT is about the rows of the answer', async () => {
    const found = "FROM docs WHERE content = 'wolves sofa parcel'"
    for (const limit of ['', 'LIMIT 1', 'LIMIT 1000']) {
      expect(await ask(`SELECT count(*) ${found} ${limit}`)).toEqual([[3]])
      expect((await ask(`SELECT count(*) OVER () ${found} ORDER BY relevance DESC ${limit}`))[0]).toEqual([3])
    }
    expect(await ask(`SELECT id ${found} ORDER BY relevance DESC LIMIT 1`)).toEqual(await ask(`SELECT id ${found} LIMIT 1`))
  })

  test('in a view has columns that are listed', async () => {
    await ask("CREATE VIEW on_sofas AS (SELECT id, year FROM docs WHERE content = 'sofa')")
    const listed = "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'on_sofas' ORDER BY 1"
    expect(await ask(listed)).toEqual([
      ['id', 'varchar'],
      ['year', 'bigint'],
    ])
    expect((await ask('DESCRIBE on_sofas')).map(([name]) => name)).toEqual(['id', 'year'])
    await ask('DROP VIEW on_sofas')
  })

  test('without a question lists all chunks, and counts them', async () => {
    expect(await ask('SELECT count(*) FROM docs')).toEqual([[4]])
    expect(await ask('SELECT id FROM docs LIMIT 1000')).toHaveLength(4)
    expect(await ids('SELECT id FROM docs WHERE kind IS NULL')).toEqual(['a'])
  })

  test.each([
    ["SELECT id FROM docs WHERE content != 'sofa'", 'chunk_content NOT LIKE'],
    ["SELECT id FROM docs WHERE NOT content = 'sofa'", 'chunk_content NOT LIKE'],
    ["SELECT id FROM docs WHERE content NOT LIKE '%sofa%'", 'chunk_content NOT LIKE'],
    ["SELECT id FROM docs WHERE content = 'sofa' OR year = 2020", 'comparison of its own'],
    ["SELECT id FROM docs WHERE NOT (content = 'sofa' AND year = 2020)", 'comparison of its own'],
    ["SELECT id FROM docs WHERE content = 'sofa' AND (hybrid_search = true OR year = 2020)", 'comparison of its own'],
    ["SELECT id FROM docs WHERE lower(content) = 'sofa'", 'comparison of its own'],
  ])('is refused with what to write instead: %s', async (query, hint) => {
    const { type, error_message: message } = await sql(at.url, query)
    expect(type).toBe('error')
    expect(message).toContain(hint)
  })

  test('with a subquery finds chunks that are not among the best of all, and refuses too many values', async () => {
    await ask('CREATE KNOWLEDGE_BASE crowd')
    await ask(
      `INSERT INTO crowd SELECT 'n' || i AS id, CASE WHEN i < 300 THEN 'parcel ' || repeat('filler ', CAST(i / 10 AS INTEGER)) ELSE 'letter' END AS content FROM range(1000) AS r(i)`,
    )
    expect(await ids("SELECT id FROM crowd WHERE content = 'parcel' LIMIT 100")).not.toContain('n299')
    expect(await ids("SELECT id FROM crowd WHERE content = 'parcel' AND id IN (SELECT 'n299')")).toEqual(['n299'])
    expect(
      await ids("SELECT id FROM crowd WHERE content = 'parcel' AND id IN (SELECT 'n' || n FROM range(200, 290) AS r(n)) LIMIT 100"),
    ).toHaveLength(90)
    await expect(ask("SELECT id FROM crowd WHERE content = 'parcel' AND id IN (SELECT 'n' || n FROM range(1001) AS r(n))")).rejects.toThrow(
      /more than 1000 values/,
    )
    const all = "SELECT id FROM crowd WHERE content = 'parcel' AND id NOT IN (SELECT 'n' || n FROM range(1, 1100) AS r(n))"
    expect(await ids(all)).toEqual(['n0'])
    expect(await ask("EXPLAIN SELECT id FROM crowd WHERE content = 'parcel' AND id IN (SELECT 'n1')")).toContainEqual([
      'table',
      'mindsdb.crowd: a search, not made',
    ])
    await ask('DROP KNOWLEDGE_BASE crowd')
  })

  test('with a subquery compares values of another kind as DuckDB does', async () => {
    await ask('CREATE KNOWLEDGE_BASE numbered')
    await ask("INSERT INTO numbered (id, content, tag) VALUES ('1', 'a sofa', '01'), ('2', 'a sofa', '2')")
    const found = (condition: string) => ids(`SELECT id FROM numbered WHERE content = 'sofa' AND ${condition}`)
    expect(await found('id = (SELECT CAST(1 AS DOUBLE))')).toEqual(['1'])
    expect(await found('tag = (SELECT 1)')).toEqual(['1'])
    await ask('DROP KNOWLEDGE_BASE numbered')
  })

  test('without a question counts more chunks than it would list', async () => {
    await ask('CREATE KNOWLEDGE_BASE many')
    for (const part of [0, 1])
      await ask(
        `INSERT INTO many SELECT 'n' || i AS id, 'number ' || i AS content, i % 7 AS day FROM range(${part * 6_000}, ${part * 6_000 + 6_000}) AS r(i)`,
      )
    expect(await ask('SELECT count(*) FROM many')).toEqual([[12_000]])
    expect(await ask('SELECT count(*) FROM many WHERE day = 3 OR day = 4')).toEqual([[3_428]])
    expect(await ask('SELECT day, count(DISTINCT id) FROM many GROUP BY day ORDER BY day LIMIT 1')).toEqual([[0, 1_715]])
    const refused = await sql(at.url, 'SELECT max(chunk_content) FROM many')
    expect(refused).toMatchObject({ type: 'error', error_message: expect.stringContaining('without chunk_content') })
    for (const limit of ['SELECT max(chunk_content) FROM many LIMIT 5', 'SELECT chunk_content FROM many ORDER BY id LIMIT 5'])
      await expect(ask(limit)).rejects.toThrow('without chunk_content')
    expect(await ask('SELECT id, chunk_content FROM many LIMIT 3 OFFSET 2')).toHaveLength(3)
    expect(await ask('SELECT * FROM many WHERE day = 3 LIMIT 5')).toHaveLength(5)
    await expect(ask('SELECT * FROM many LIMIT 10001')).rejects.toThrow('without chunk_content')
    await ask('DROP KNOWLEDGE_BASE many')
  })

  test('of the past finds what was there then, by AT and by as_of', async () => {
    expect(await ids("SELECT id FROM docs WHERE content = 'dogs'")).toEqual([])
    expect(await ids(`SELECT id FROM docs AT (VERSION => ${inserted}) WHERE content = 'dogs'`)).toEqual(['a'])
    expect(await ids("SELECT id FROM docs WHERE content = 'dogs'", { as_of: inserted })).toEqual(['a'])
    expect(await ids(`SELECT id FROM docs AT (VERSION => ${inserted}) WHERE content = 'wolves'`)).toEqual([])
  })

  test('may stand in a view, which searches anew each time', async () => {
    await ask("CREATE VIEW wolves AS (SELECT id, relevance FROM docs WHERE content = 'wolves')")
    expect(await ids('SELECT id FROM wolves')).toEqual(['a'])
  })

  test.each([
    ["SELECT id FROM docs WHERE content != 'sofa'", /content is what is searched for: != cannot be applied to it \(line 1, column 35\)/],
    ["SELECT id FROM docs WHERE content = 'a' AND content = 'b'", /compared twice/],
    ["SELECT id FROM docs WHERE content = 'a' LIMIT 101", /at most 100 chunks/],
    ["SELECT id FROM docs WHERE content = ''", /nothing to search for/],
    ["SELECT id FROM docs WHERE content = 'a' AND hybrid_search_alpha = 3", /from 0 \(words\) to 1 \(vectors\)/],
    ["SELECT id FROM docs WHERE content = 'a' AND hybrid_search = 'perhaps'", /true or false/],
    ["SELECT id FROM docs WHERE content = 'a' AND reranking = true", /names no language model.*default_reranking_model/s],
    ["SELECT nonsense FROM docs WHERE content = 'a'", /nonsense/],
    ['SELECT * FROM doks', /Did you mean mindsdb.docs\?/],
  ])('%s is refused with what to do', async (query, message) => expect(ask(query)).rejects.toThrow(message))

  test('is explained without being made', async () =>
    expect(await ask("EXPLAIN SELECT * FROM docs WHERE content = 'dogs'")).toContainEqual(['table', 'mindsdb.docs: a search, not made']))
})

describe('statements on knowledge bases', () => {
  test('make, describe, change and drop them, in all spellings', async () => {
    await ask('CREATE KNOWLEDGE BASE mindsdb.other USING MODEL = p.m STORAGE = a.b PARAMS = {"k": 1};')
    await expect(ask('CREATE KNOWLEDGE_BASE other')).rejects.toThrow('already exists')
    await ask('CREATE KNOWLEDGE_BASE IF NOT EXISTS other')
    await ask("ALTER KNOWLEDGE_BASE other USING id_column = 'key'")
    const described = await ask('DESCRIBE KNOWLEDGE_BASE other')
    expect(described[0]?.slice(0, 2)).toEqual(['other', 'mindsdb'])
    expect(described[0]?.[7]).toBe('key')
    await ask('DROP KNOWLEDGE BASE other')
    await ask('DROP KNOWLEDGE_BASE IF EXISTS other')
    expect((await ask("SHOW KNOWLEDGE_BASES WHERE name = 'docs'"))[0]?.[11]).toBe(5)
    expect(await ask("SELECT name, change FROM knowledge_bases_history WHERE name = 'other' ORDER BY valid_from")).toEqual([
      ['other', 'KnowledgeBaseCreated'],
      ['other', 'KnowledgeBaseUpdated'],
    ])
  })

  test('a row of the history counts the documents up to its own end', async () => {
    await ask('CREATE KNOWLEDGE_BASE counted')
    await ask("INSERT INTO counted (id, content) VALUES ('a', 'one')")
    await ask("ALTER KNOWLEDGE_BASE counted USING id_column = 'id'")
    await ask("INSERT INTO counted (id, content) VALUES ('b', 'two'), ('c', 'three')")
    expect(await ask("SELECT processed_rows FROM knowledge_bases_history WHERE name = 'counted' ORDER BY valid_from")).toEqual([[1], [3]])
    expect(await ask("SELECT processed_rows FROM information_schema.knowledge_bases WHERE name = 'counted'")).toEqual([[3]])
    await ask('DROP KNOWLEDGE_BASE counted')
  })

  test('DELETE takes out the documents that pass its condition; the past keeps them', async () => {
    await ask("INSERT INTO docs (id, content, year) VALUES ('gone', 'lynx', 1999), ('stays', 'lynx', 1998)")
    const before = (await ask('SELECT max(position) FROM log.events'))[0]?.[0]
    const { body } = await send(at.url, 'POST', '/api/sql/query', {
      query: "DELETE FROM docs WHERE year = 1999 AND id LIKE 'g%'",
      context: { db: 'mindsdb' },
    })
    expect(body).toMatchObject({ type: 'ok', affected_rows: 1 })
    expect(await ids("SELECT id FROM docs WHERE content = 'lynx'")).toEqual(['stays'])
    expect(await ids(`SELECT id FROM docs AT (VERSION => ${String(before)}) WHERE content = 'lynx' ORDER BY id`)).toEqual(['gone', 'stays'])
    expect((await sql(at.url, "DELETE FROM docs WHERE ID = 'stays'")) as object).toMatchObject({ type: 'ok', affected_rows: 1 })
    expect(await ids("SELECT id FROM docs WHERE content = 'lynx'")).toEqual([])
  })

  test('INSERT takes its columns without case', async () => {
    await ask("INSERT INTO docs (ID, Content, YEAR) VALUES ('named', 'ocelot', 1997)")
    await ask("INSERT INTO docs SELECT 'named' AS Id, 'ocelot again' AS content, 1996 AS Year")
    expect(await ask("SELECT id, chunk_content, year FROM docs WHERE content = 'ocelot'")).toEqual([['named', 'ocelot again', 1996]])
    await ask("DELETE FROM docs WHERE id = 'named'")
  })

  test('INSERT and DELETE that come again under their key after their answer was lost have no second effect', async () => {
    await ask("CREATE KNOWLEDGE_BASE once USING params = {'kb_no_upsert': true}")
    const { log } = at.service
    const keep = log.keepReply.bind(log)
    const keyed = (key: string, query: string) => send(at.url, 'POST', '/api/sql/query', { query }, { 'idempotency-key': key })
    const twice = async (key: string, query: string, between?: string) => {
      log.keepReply = () => Promise.reject(new Problem('busy', 'Busy', 'the answer is lost'))
      expect((await keyed(key, query)).status).toBe(503)
      log.keepReply = keep
      if (between !== undefined) await ask(between)
      expect((await keyed(key, query)).body).toMatchObject({ type: 'ok', affected_rows: null })
    }
    const insert = "INSERT INTO once (id, content) VALUES ('a', 'numbat')"
    await twice('insert', insert)
    expect(await ask('SELECT count(*) FROM once')).toEqual([[1]])
    await twice('delete', "DELETE FROM once WHERE id = 'a'", insert)
    expect(await ask('SELECT count(*) FROM once')).toEqual([[1]])
    await twice('last', insert, 'DROP KNOWLEDGE_BASE once')
  })

  test('INSERT and DELETE are carried out only at the version of the knowledge base that is expected', async () => {
    await ask('CREATE KNOWLEDGE_BASE careful')
    const expecting = async (version: string, query: string) =>
      (await send(at.url, 'POST', '/api/sql/query', { query }, { 'if-match': version })).body
    const stale = { type: 'error', error_message: expect.stringContaining('the resource has version 1') }
    const insert = "INSERT INTO careful SELECT CAST(range AS VARCHAR) AS id, 'wombat' AS content FROM range(2500)"
    expect(await expecting('"7"', insert)).toMatchObject(stale)
    expect(await ask('SELECT count(*) FROM careful')).toEqual([[0]])
    expect(await expecting('"1"', insert)).toMatchObject({ type: 'ok', affected_rows: 2500 })
    expect(await expecting('"7"', "DELETE FROM careful WHERE id = '7'")).toMatchObject(stale)
    expect(await expecting('"1"', "DELETE FROM careful WHERE id = '7'")).toMatchObject({ type: 'ok', affected_rows: 1 })
    await ask('DROP KNOWLEDGE_BASE careful')
  })

  test('INSERT keeps every digit of ids and metadata, so no document takes the place of another', async () => {
    await ask('CREATE KNOWLEDGE_BASE exact')
    await ask(`INSERT INTO exact (id, content, price, sizes) VALUES
      (9007199254740993, 'odd', 12345678901234.5678, {'n': 9007199254740995}), (9007199254740992, 'even', 0.5, {'n': 1})`)
    expect(await ask('SELECT id, chunk_content, metadata FROM exact ORDER BY id')).toEqual([
      ['9007199254740992', 'even', '{"price":0.5,"sizes":{"n":1}}'],
      ['9007199254740993', 'odd', '{"price":"12345678901234.5678","sizes":{"n":"9007199254740995"}}'],
    ])
    expect(await ask('SELECT chunk_content FROM exact WHERE id = 9007199254740993')).toEqual([['odd']])
    await ask('DROP KNOWLEDGE_BASE exact')
  })

  test.each([
    ['DELETE FROM docs', /DELETE of all documents/],
    ['DELETE FROM docs WHERE yeer = 1', /no document has a column yeer.*Did you mean year/s],
    ['DELETE FROM docs WHERE nonsense', /expected/],
    ['DELETE FROM docs WHERE year = 9007199254740993.0', /cannot be kept exactly; write it in quotes/],
    ['UPDATE docs SET a = 1', /inserted anew/],
    ["INSERT INTO docs VALUES ('a', 'b')", /Name them/],
    ["INSERT INTO docs (id) VALUES ('a')", /no column content/],
    ["INSERT INTO docs (id, content) SELECT 'a'", /names 2 columns, and its rows have 1/],
    ["INSERT INTO docs (id, content) VALUES (NULL, 'x')", /row 1: id is NULL/],
    ["INSERT INTO docs (id, content, ID) VALUES ('a', 'b', 'c')", /Two columns of the rows are called "ID"/],
    ["INSERT INTO docs SELECT 'x-' || id AS id, * FROM (SELECT 'a' AS id, 'lost' AS content) AS t", /called "id".*EXCLUDE/s],
    ["EVALUATE KNOWLEDGE_BASE docs USING version = 'doc_id'", /test_table is missing/],
    ["EVALUATE KNOWLEDGE_BASE docs USING test_table = files.q, version = 'best'", /There are 'doc_id' and 'llm_relevancy'/],
    ['EVALUATE KNOWLEDGE_BASE docs USING test_table = files.q, evaluate = false', /always evaluates/],
    ['EVALUATE KNOWLEDGE_BASE docs USING test_table = files.q, generate_data = true', /not made up/],
    ["EVALUATE KNOWLEDGE_BASE docs USING test_table = files.q, save_to = 'files.r'", /saves nothing/],
    ["EVALUATE KNOWLEDGE_BASE docs USING test_table = files.q, llm = {'provider': 'openai'}", /no language model of its own/],
    ['CREATE INDEX ON KNOWLEDGE_BASE nothing', /Knowledge base with name nothing does not exist/],
    ['DROP INDEX ON KNOWLEDGE_BASE nowhere.docs', /Project with name nowhere does not exist/],
  ])('%s is refused with what to do', async (query, message) => expect(ask(query)).rejects.toThrow(message))

  test.each([
    'CREATE INDEX ON KNOWLEDGE_BASE docs',
    "CREATE INDEX ON KNOWLEDGE BASE mindsdb.docs WITH (type = 'hnsw', nlist = 10)",
    'DROP INDEX ON KNOWLEDGE_BASE docs',
    'DROP INDEX ON KNOWLEDGE_BASE IF EXISTS nothing',
  ])('%s is answered, and changes nothing', async (query) => {
    const found = "SELECT id, relevance FROM docs WHERE content = 'sofa'"
    const before = await ask(found)
    const [[head]] = (await ask('SELECT max(position) FROM log.events')) as [[unknown]]
    expect(await sql(at.url, query)).toMatchObject({ type: 'ok' })
    expect(await ask('SELECT max(position) FROM log.events')).toEqual([[head]])
    expect(await ask(found)).toEqual(before)
  })

  test('what is refused leaves no query behind that keeps a place', async () => {
    const left = ['VALUES (1, 2, 3)', "SELECT 'a'", 'SELECT range FROM range(1000000)']
    for (const rows of left) await expect(ask(`INSERT INTO docs (id, content) ${rows}`)).rejects.toThrow()
    const twice = { query: "SELECT range AS id, range AS id, 'text' AS content FROM range(1000000)" }
    const { status } = await send(at.url, 'PUT', '/api/projects/mindsdb/knowledge_bases/docs', { knowledge_base: twice })
    expect(status).toBe(400)
    await ask("CREATE KNOWLEDGE_BASE broken USING embedding_model = {'provider': 'onnx', 'file': 'nothing'}")
    await expect(ask("INSERT INTO broken (id, content) SELECT 'a', 'b'")).rejects.toThrow()
    await until(async () => /^mindledger_sql_running_queries 0$/m.test(String((await send(at.url, 'GET', '/api/metrics')).body)))
  })

  test('EVALUATE takes a table whose name stands in quotes', async () => {
    await ask('CREATE TABLE files.`asked once` (SELECT $$wolves$$ AS question, $$a$$ AS doc_id)'.replaceAll('$$', "'"))
    const [row] = await ask("EVALUATE KNOWLEDGE_BASE docs USING test_table = 'files.`asked once`', version = 'doc_id'")
    expect(row?.slice(0, 2)).toEqual([1, 1])
  })

  test('EVALUATE tells how many questions found their document', async () => {
    await ask("CREATE TABLE files.questions (SELECT 'wolves' AS question, 'a' AS doc_id UNION ALL SELECT 'zebras', 'b')")
    const { column_names: names, data } = await sql(
      at.url,
      "EVALUATE KNOWLEDGE_BASE docs USING test_table = files.questions, version = 'doc_id'",
    )
    expect(names).toEqual([
      'total',
      'total_found',
      'retrieved_in_top_10',
      'cumulative_recall',
      'avg_query_time',
      'id',
      'name',
      'created_at',
    ])
    expect(data[0]?.slice(0, 3)).toEqual([2, 1, 1])
    expect(JSON.parse(String(data[0]?.[3]))).toMatchObject({ '0': 0.5, '9': 0.5 })
  })
})
