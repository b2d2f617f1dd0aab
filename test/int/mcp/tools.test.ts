import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { until } from '../../support/until.js'
import { generations, oldClient, type McpClient } from '../../support/mcp.js'
import { queries, ScriptedModel } from '../../support/agents/scripted-model.js'
import { settled, uploadRentals } from '../../support/models/rentals.js'
import { send, sql, startTestService } from '../../support/service.js'

let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
  await uploadRentals(at.url)
  await sql(at.url, `CREATE SKILL sales USING type = 'sql', database = 'files', tables = ['rentals']`)
  await sql(at.url, `CREATE AGENT helper USING model = 'gpt-4o', openai_api_key = 'sk-secret-1', skills = ['sales']`)
  await sql(at.url, 'CREATE VIEW big AS (SELECT * FROM files.rentals WHERE sqft > 1500)')
  await sql(at.url, 'CREATE MODEL rent FROM files (SELECT * FROM rentals) PREDICT rental_price')
  expect(await settled(at.url, 'rent')).toBe('complete')
})
afterAll(() => at.stop())

const row = { sqft: 900, location: 'good', rooms: 2 }

describe.each(generations)('a client of $name', ({ connect }) => {
  let client: McpClient
  beforeAll(async () => {
    client = await connect(at.url)
  })
  afterAll(() => client.close())

  // The clients check each answer with the tool's output schema, once they have listed the tools.
  test('lists the tools, all of which only read', async () => {
    const tools = await client.tools()
    expect(tools.map(({ name }) => name)).toEqual([
      'query',
      'list',
      'describe',
      'history',
      'predict',
      'ask_agent',
      'search_knowledge',
      'dry_run',
    ])
    expect(tools.map(({ annotations }) => annotations?.readOnlyHint)).toEqual(tools.map(() => true))
  })

  test('queries with SQL, and gets columns, types and rows', async () => {
    const { data, text } = await client.call('query', { sql: 'SELECT sqft, location FROM files.rentals ORDER BY sqft LIMIT 2' })
    expect(data).toEqual({
      columns: [
        { name: 'sqft', type: 'BIGINT' },
        { name: 'location', type: 'VARCHAR' },
      ],
      rows: [
        [300, 'good'],
        [307, 'great'],
      ],
      truncated: false,
      affected_rows: null,
      positions: [],
      database: 'mindsdb',
    })
    expect(JSON.parse(text)).toEqual(data)
  })

  test('gives values for the names in a statement, a database, and a past', async () => {
    const named = await client.call('query', { sql: 'SELECT :a AS a, count(*) AS n FROM rentals', params: { a: 'x' }, database: 'files' })
    expect(named.data).toMatchObject({ rows: [['x', 240]], database: 'files' })
    const then = await client.call('query', { sql: 'SELECT count(*) AS n FROM agents', as_of: 2 })
    expect(then.data).toMatchObject({ rows: [[0]] })
  })

  test('gets the first rows of many, and hears that there are more', async () => {
    const { data } = await client.call('query', { sql: 'SELECT i FROM range(5000000) AS t(i)', max_rows: 3 })
    expect(data).toMatchObject({ rows: [[0], [1], [2]], truncated: true })
    const usual = await client.call('query', { sql: 'SELECT i FROM range(200) AS t(i)' })
    expect([(usual.data?.['rows'] as unknown[]).length, usual.data?.['truncated']]).toEqual([100, true])
    const exact = await client.call('query', { sql: 'SELECT i FROM range(100) AS t(i)' })
    expect([(exact.data?.['rows'] as unknown[]).length, exact.data?.['truncated']]).toEqual([100, false])
  })

  test('gets no more bytes than an answer may have', async () => {
    const { data, text } = await client.call('query', { sql: `SELECT repeat('x"[', 10000) AS x FROM range(100)` })
    expect(data?.['truncated']).toBe(true)
    expect((data?.['rows'] as unknown[]).length).toBeGreaterThan(1)
    expect(text.length).toBeLessThan(400_000)
    expect((await client.call('query', { sql: `SELECT repeat('x', 1000000) AS x` })).data).toMatchObject({ rows: [], truncated: true })
  })

  test('gets whole numbers that it would round as texts', async () => {
    const { data } = await client.call('query', { sql: 'SELECT 9007199254740993 AS big, 12 AS small, NULL AS none' })
    expect(data?.['rows']).toEqual([['9007199254740993', 12, null]])
  })

  test('reads what is wrong with a statement, and what to do', async () => {
    const { isError, text, data, meta } = await client.call('query', { sql: 'SELECT sqfd FROM files.rentals' })
    expect([isError, data]).toEqual([true, undefined])
    expect(text).toMatch(/sqft/)
    expect(meta['mindledger/problem']).toMatchObject({ code: 'bad_statement', request: expect.any(String) })
  })

  test.each([
    `CREATE SKILL other USING type = 'sql'`,
    'DROP AGENT helper',
    'INSERT INTO files.rentals VALUES (1)',
    'CREATE TABLE files.t (SELECT 1 AS a)',
    'DROP VIEW big',
    'RETRAIN rent',
  ])('cannot write: %s', async (statement) => {
    const before = await sql(at.url, 'SELECT max(position) FROM log.events')
    const { isError, text } = await client.call('query', { sql: statement })
    expect([isError, text]).toEqual([true, expect.stringMatching(/this statement writes.*MCP_WRITE=true/s)])
    expect((await sql(at.url, 'SELECT max(position) FROM log.events')).data).toEqual(before.data)
  })

  test('sees the events that a statement would record, and nothing is recorded', async () => {
    const before = await sql(at.url, 'SELECT max(position) FROM log.events')
    const { data } = await client.call('dry_run', { sql: `CREATE SKILL other USING type = 'sql', api_key = 'sk-secret-2'` })
    expect(data).toMatchObject({
      events: [{ type: 'SkillCreated', version: 1, data: { name: 'other', params: { api_key: '******' } } }],
      truncated: false,
    })
    expect((await client.call('dry_run', { sql: 'DROP AGENT nobody' })).isError).toBe(true)
    expect((await client.call('dry_run', { sql: 'SELECT 1' })).text).toMatch(/No dry run/)
    expect((await client.call('dry_run', { sql: 'INSERT INTO files.rentals VALUES (1)' })).isError).toBe(true)
    expect((await sql(at.url, 'SELECT max(position) FROM log.events')).data).toEqual(before.data)
  })

  test('lists resources and tables, in pages', async () => {
    const names = async (args: Record<string, unknown>) => {
      const { data } = await client.call('list', args)
      return [(data?.['items'] as { name: string }[]).map(({ name }) => name), data?.['next']]
    }
    expect(await names({ kind: 'projects' })).toEqual([['mindsdb'], null])
    expect(await names({ kind: 'agents' })).toEqual([['helper'], null])
    expect(await names({ kind: 'tables', in: 'files' })).toEqual([['rentals'], null])
    const [tables] = await names({ kind: 'tables' })
    expect(tables).toEqual(expect.arrayContaining(['models', 'rent', 'big', 'helper']))
    const [first, after] = await names({ kind: 'tables', in: 'log', limit: 2 })
    const [second] = await names({ kind: 'tables', in: 'log', limit: 2, after })
    expect([first, second].flat()).toHaveLength(4)
    expect(new Set([first, second].flat()).size).toBe(4)
    const { data } = await client.call('list', { kind: 'models' })
    expect(data).toMatchObject({ items: [{ name: 'rent', about: 'predicts rental_price; version 1 is complete' }] })
  })

  test('has tables, models and resources described, without secrets', async () => {
    const table = await client.call('describe', { name: 'rentals', in: 'files' })
    expect(table.data).toMatchObject({ kind: 'table', columns: [{ name: 'sqft', type: 'BIGINT' }, {}, {}, { name: 'rental_price' }] })
    const model = await client.call('describe', { name: 'rent', kind: 'model' })
    expect(model.data).toMatchObject({
      record: { name: 'rent', predict: 'rental_price' },
      columns: expect.arrayContaining([expect.objectContaining({ name: 'rental_price' })]),
    })
    const agent = await client.call('describe', { name: 'HELPER', kind: 'agent' })
    expect(agent.data).toMatchObject({ name: 'helper', record: { params: { openai_api_key: '******' } }, truncated: false, left_out: [] })
    expect(agent.text).not.toContain('sk-secret')
    expect((await client.call('describe', { name: 'big', kind: 'view' })).data).toMatchObject({ columns: [{ name: 'sqft' }, {}, {}, {}] })
    expect((await client.call('describe', { name: 'rentals', kind: 'file' })).data).toMatchObject({ record: { row_count: 240 } })
    expect((await client.call('describe', { name: 'mindsdb', kind: 'project' })).data).toMatchObject({ record: { name: 'mindsdb' } })
    expect((await client.call('describe', { name: 'nothing' })).text).toMatch(/Table not found/)
    expect((await client.call('describe', { name: 'nobody', kind: 'agent' })).text).toMatch(/Agent not found/)
  })

  test('reads who changed a resource', async () => {
    const { data } = await client.call('history', { kind: 'agent', name: 'helper' })
    expect(data).toMatchObject({
      changes: [{ type: 'AgentCreated', actor: 'anonymous', source: 'sql', version: 1 }],
      next: null,
      version: 1,
      truncated: false,
    })
    expect((await client.call('history', { kind: 'agent', name: 'nobody' })).isError).toBe(true)
  })

  test('predicts as REST does, with an explanation and a record', async () => {
    const [overRest] = (await send(at.url, 'POST', '/api/projects/mindsdb/models/rent/predict', [row])).body as Record<string, unknown>[]
    const { data } = await client.call('predict', { model: 'rent', rows: [row], contributions: true })
    const { value, explanation } = (data?.['predictions'] as { value: number; explanation: object }[])[0] ?? {}
    expect(value).toBe(overRest?.['rental_price'])
    expect(explanation).toMatchObject({ contributions: expect.anything() })
    const recorded = await sql(at.url, `SELECT source, output FROM log.predictions WHERE position = ${String(data?.['position'])}`)
    expect(recorded.data[0]?.[0]).toBe('mcp')
  })

  test('cannot predict without a row that fits, nor too many', async () => {
    expect((await client.call('predict', { model: 'rent', rows: [{ sqft: 'many' }] })).text).toMatch(/sqft/)
    expect((await client.call('predict', { model: 'rent', rows: Array.from({ length: 201 }, () => row) })).text).toMatch(/at most 200/)
    expect((await client.call('predict', { model: 'nobody', rows: [row] })).text).toMatch(/Model not found/)
    expect((await client.call('predict', { model: 'rent', rows: [row], version: 7 })).isError).toBe(true)
  })

  test('reads which argument does not fit', async () => {
    expect((await client.call('query', {})).text).toMatch(/Missing "sql" field/)
    expect((await client.call('query', { sql: 1 })).text).toMatch(/arguments\.sql/)
    expect((await client.call('query', { sql: 'SELECT 1', max_rows: 1e9 })).text).toMatch(/arguments\.max_rows/)
    expect((await client.call('list', { kind: 'elephants' })).text).toMatch(/arguments\.kind/)
    expect((await client.call('list', { kind: 'agents', whatever: 1 })).text).toMatch(/whatever/)
  })

  test('gets an error of the protocol for a tool that is not there', async () => {
    await expect(client.call('drop_everything')).rejects.toMatchObject({ code: -32602 })
    await expect(client.call('__proto__')).rejects.toMatchObject({ code: -32602 })
  })

  test('reads schemas as resources', async () => {
    const resources = await client.resources()
    expect(resources.map(({ uri }) => uri)).toEqual(expect.arrayContaining(['mindledger://schemas/mindsdb', 'mindledger://schemas/files']))
    expect((await client.templates()).map(({ uriTemplate }) => uriTemplate)).toEqual([
      'mindledger://schemas/{database}',
      'mindledger://schemas/{database}/{table}',
    ])
    expect(await client.read('mindledger://schemas/files')).toMatchObject({
      tables: [{ name: 'rentals', columns: [{ name: 'sqft' }, {}, {}, {}] }],
      truncated: false,
    })
    expect(await client.read('mindledger://schemas/mindsdb/big')).toMatchObject({ table: 'big', columns: [{ name: 'sqft' }, {}, {}, {}] })
    await expect(client.read('mindledger://schemas/nowhere')).rejects.toThrow()
    await expect(client.read('mindledger://schemas/files/nothing')).rejects.toThrow()
  })

  test('cancels a query, which ends', async () => {
    const leave = new AbortController()
    const asked = client.call('query', { sql: 'SELECT count(*) FROM range(100000000000) AS a(i) WHERE i % 7 = 3' }, leave.signal)
    const refused = expect(asked).rejects.toThrow()
    const running = async () => /^mindledger_sql_running_queries (\d+)/m.exec(await (await fetch(`${at.url}/api/metrics`)).text())?.[1]
    await until(async () => (await running()) === '1')
    leave.abort()
    await refused
    await until(async () => (await running()) === '0')
    expect((await client.call('query', { sql: 'SELECT 1 AS a' })).data).toMatchObject({ rows: [[1]] })
  })
})

test('what models scored is on record, although only the first rows are given', async () => {
  const client = await oldClient(at.url)
  const { data } = await client.call('query', { sql: 'SELECT m.rental_price FROM files.rentals AS t JOIN rent AS m', max_rows: 2 })
  await client.close()
  expect([(data?.['rows'] as unknown[]).length, data?.['truncated']]).toEqual([2, true])
  const [position = 0] = data?.['positions'] as number[]
  expect((await sql(at.url, `SELECT type, source FROM log.events WHERE position = ${position}`)).data).toEqual([
    ['PredictionsServed', 'mcp'],
  ])
})

test('with MCP_WRITE=true a client writes, and the events say how they came', async () => {
  const other = await startTestService({ MCP_WRITE: 'true' })
  const client = await oldClient(other.url)
  try {
    const query = (await client.tools()).find(({ name }) => name === 'query')
    expect(query?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true })
    const { data } = await client.call('query', { sql: `CREATE SKILL sales USING type = 'sql'` })
    const positions = data?.['positions'] as number[]
    const { data: events } = await sql(other.url, `SELECT type, source FROM log.events WHERE position = ${positions[0] ?? 0}`)
    expect(events).toEqual([['SkillCreated', 'mcp']])
  } finally {
    await client.close()
    await other.stop()
  }
})

describe('agents and knowledge bases', () => {
  const model = new ScriptedModel()
  beforeAll(async () => {
    await model.start()
    const agent = { name: 'clerk', model: model.model, skills: ['sales'] }
    expect((await send(at.url, 'POST', '/api/projects/mindsdb/agents', { agent })).status).toBe(201)
    await sql(at.url, `CREATE KNOWLEDGE_BASE docs USING metadata_columns = ['room']`)
    const rows = `('a', 'The lamp of the hall', 'hall'), ('b', 'The lamp of the attic', 'attic')`
    await sql(at.url, `INSERT INTO docs (id, content, room) VALUES ${rows}`)
  })
  afterAll(() => model.stop())

  test.each(generations)('are asked and searched by a client of $name, on record', async ({ connect }) => {
    const client = await connect(at.url)
    // Now it checks each answer with the tool's output schema.
    await client.tools()
    const query = 'SELECT count(*) AS n FROM rentals'
    model.script = queries(() => query, 'There are 240.')
    const history = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello.' },
    ]
    const { data, isError } = await client.call('ask_agent', { agent: 'clerk', question: 'How many?', history })
    expect([isError, data]).toMatchObject([
      false,
      {
        ...{ answer_id: expect.any(String), position: expect.any(Number), outcome: 'answered', answer: 'There are 240.' },
        ...{ queries: [{ sql: query, columns: ['n'], rows: [[240]], cut: false }], truncated: false },
      },
    ])
    expect(data).not.toHaveProperty('note')
    expect(model.asked.at(-1)?.messages.slice(1, 4)).toMatchObject([...history, { role: 'user', content: 'How many?' }])
    const record = await sql(at.url, `SELECT source, purpose, question FROM log.answers WHERE position = ${String(data?.['position'])}`)
    expect(record.data).toEqual([['mcp', 'tool', 'How many?']])
    model.script = () => ({ error: { message: 'no such key' }, status: 401 })
    const failed = await client.call('ask_agent', { agent: 'clerk', question: 'How many?' })
    const last = await sql(at.url, 'SELECT answer_id, position FROM log.answers ORDER BY position DESC LIMIT 1')
    const [[answer, position] = []] = last.data as [string, number][]
    expect([failed.isError, failed.text, failed.meta['mindledger/problem']]).toMatchObject([
      true,
      expect.stringMatching(new RegExp(`refuses the key(.|\\n)*answer ${String(answer)}`)),
      { code: 'llm_failed', trace_id: answer, position },
    ])
    expect((await client.call('ask_agent', { agent: 'nobody', question: 'Hi' })).text).toMatch(/Agent not found/)

    const filters = [{ column: 'room', op: '=', value: 'attic' }]
    const found = await client.call('search_knowledge', { knowledge_base: 'docs', content: 'lamp', filters })
    expect([found.isError, found.data]).toMatchObject([
      false,
      {
        chunks: [{ id: 'b', content: 'The lamp of the attic', metadata: { room: 'attic' }, relevance: expect.any(Number), distance: null }],
        ...{ position: expect.any(Number), truncated: false },
      },
    ])
    expect((await client.call('search_knowledge', { knowledge_base: 'docs', content: 'lamp', limit: 1 })).data?.['chunks']).toHaveLength(1)
    expect((await client.call('search_knowledge', { knowledge_base: 'nothing', content: 'lamp' })).text).toMatch(/Knowledge base not found/)
    await client.close()
  })
})
