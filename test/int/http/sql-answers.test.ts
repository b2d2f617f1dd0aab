import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { until } from '../../support/until.js'
import { send, sql, startSqlService } from '../../support/service.js'

let at: Awaited<ReturnType<typeof startSqlService>>
beforeAll(async () => {
  at = await startSqlService()
})
afterAll(() => at.stop())

const post = (query: string, more: object = {}, headers: Record<string, string> = {}) =>
  fetch(`${at.url}/api/sql/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query, ...more }),
  })
const csv = { accept: 'text/csv' }
/** Fails at a row that comes long after the first ones have been sent. */
const failing = `SELECT CAST(CASE WHEN i = 900000 THEN 'boo' ELSE '1' END AS INTEGER) AS v FROM range(1000000) AS t(i)`

test('a table has its columns, their types, and its rows', async () => {
  const answer = await (await post(`SELECT 1 AS a, 'x' AS a, [1.5] AS l`)).json()
  expect(answer).toEqual({
    type: 'table',
    column_names: ['a', 'a', 'l'],
    column_types: ['INTEGER', 'VARCHAR', 'DECIMAL(2,1)[]'],
    data: [[1, 'x', [1.5]]],
    context: { db: 'mindsdb', show_secrets: false },
  })
})

test('answers of a few rows have types as well', async () => {
  const answer = await (await post('SELECT @@version, @@autocommit')).json()
  expect(answer).toMatchObject({ column_types: [expect.any(String), expect.any(String)] })
})

test('a result without rows is one in every form', async () => {
  const none = 'SELECT 1 AS a, 2 AS b WHERE false'
  expect(await (await post(none)).json()).toMatchObject({ column_names: ['a', 'b'], data: [] })
  expect(await (await post(none, { response_format: 'jsonlines' })).text()).toBe(
    '{"type":"table","column_names":["a","b"],"column_types":["INTEGER","INTEGER"],"context":{"db":"mindsdb","show_secrets":false}}\n',
  )
  expect(await (await post(none, {}, csv)).text()).toBe('a,b\r\n')
})

test('lines and events carry the same', async () => {
  const lines = await post('SELECT 1 AS a', { response_format: 'jsonlines' })
  expect(lines.headers.get('content-type')).toMatch(/^application\/jsonlines/)
  expect(await lines.text()).toBe(
    '{"type":"table","column_names":["a"],"column_types":["INTEGER"],"context":{"db":"mindsdb","show_secrets":false}}\n[[1]]\n',
  )
  const events = await post('SELECT 1 AS a', { response_format: 'sse' })
  expect(events.headers.get('content-type')).toMatch(/^text\/event-stream/)
  expect(await events.text()).toBe(
    'data: {"type":"table","column_names":["a"],"column_types":["INTEGER"],"context":{"db":"mindsdb","show_secrets":false}}\n\ndata: [[1]]\n\n',
  )
})

test('CSV comes to a client that prefers it, or names it', async () => {
  const query = `SELECT 1 AS "a,b", NULL AS n, DATE '2024-01-02' AS d, 'say "hi"' AS s`
  const expected = '"a,b",n,d,s\r\n1,,2024-01-02,"say ""hi"""\r\n'
  const accepted = await post(query, {}, csv)
  expect(accepted.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
  expect(await accepted.text()).toBe(expected)
  expect(await (await post(query, { response_format: 'csv' })).text()).toBe(expected)
  for (const accept of ['*/*', 'application/json, text/plain, */*', 'text/html'])
    expect((await post(query, {}, { accept })).headers.get('content-type')).toMatch(/^application\/json/)
})

test('a client that asks for CSV writes documents and evaluates as well', async () => {
  await post('CREATE KNOWLEDGE_BASE manuals')
  const inserted = await post("INSERT INTO manuals (id, content) SELECT 'a', 'a red sofa'", {}, csv)
  expect(await inserted.json()).toMatchObject({ type: 'ok', affected_rows: 1 })
  await post("CREATE TABLE files.asked (SELECT 'red sofa' AS question, 'a' AS doc_id)")
  const evaluated = await post("EVALUATE KNOWLEDGE_BASE manuals USING test_table = files.asked, version = 'doc_id'", {}, csv)
  expect((await evaluated.text()).split('\r\n')).toHaveLength(3)
})

test('rows that were put together by the server are CSV as well', async () => {
  expect(await (await post(`SHOW VARIABLES LIKE 'autocommit'`, {}, csv)).text()).toMatch(/^[^\r\n]+\r\nautocommit,[^\r\n]+\r\n$/)
})

test('a refusal in CSV has the status of its problem, and a statement without rows is ok', async () => {
  const refused = await post('SELECT nothing_of_this_name', {}, csv)
  expect([refused.status, refused.headers.get('content-type')]).toEqual([400, expect.stringContaining('application/problem+json')])
  expect(await (await post('USE mindsdb', {}, csv)).json()).toMatchObject({ type: 'ok' })
})

test('an answer that fails after its first rows says so at its end', async () => {
  const text = await (await post(failing)).text()
  expect(text.match(/"type":/g)).toHaveLength(1)
  expect(await (await post(failing)).json()).toMatchObject({
    type: 'error',
    data: expect.any(Array),
    error_message: expect.stringContaining("'boo'"),
  })
  type Variant = { properties: Record<string, { const?: string }> }
  type Operation = { responses: Record<string, { content: Record<string, { schema: { anyOf: Variant[] } }> }> }
  const { paths } = (await send(at.url, 'GET', '/api/openapi.json')).body as { paths: Record<string, Record<string, Operation>> }
  const variants = paths['/api/sql/query']?.['post']?.responses['200']?.content['application/json']?.schema.anyOf ?? []
  const error = variants.find(({ properties }) => properties['type']?.const === 'error')
  expect(Object.keys(error?.properties ?? {})).toEqual(expect.arrayContaining(Object.keys((await (await post(failing)).json()) as object)))
  const last = async (format: string) => (await (await post(failing, { response_format: format })).text()).trimEnd().split('\n').at(-1)
  expect(JSON.parse((await last('jsonlines')) ?? '')).toMatchObject({ type: 'error', error_message: expect.stringContaining("'boo'") })
  expect(JSON.parse((await last('sse'))?.replace('data: ', '') ?? '')).toMatchObject({ type: 'error' })
})

test('CSV that fails after its first rows is broken off, never short', async () => {
  const answer = await post(failing, {}, csv)
  expect(answer.status).toBe(200)
  await expect(answer.text()).rejects.toThrow()
})

const parquet = { accept: 'application/vnd.apache.parquet' }

test('the rows of a SELECT come as a Parquet file, whole and with their types', async () => {
  const query = `SELECT i, i::HUGEINT * 3 AS h, DATE '2024-01-02' + i::INTEGER AS d, [i] AS l, CASE WHEN i > 1 THEN 'ä' END AS s FROM range(3) AS t(i) WHERE i >= :from`
  for (const answer of [
    await post(query, { params: { from: 1 } }, parquet),
    await post(query, { params: { from: 1 }, response_format: 'parquet' }),
  ]) {
    expect(answer.headers.get('content-type')).toBe('application/vnd.apache.parquet')
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect(answer.headers.get('content-length')).toBe(String(bytes.length))
    const form = new FormData()
    form.append('file', new Blob([bytes]), 'again.parquet')
    await send(at.url, 'PUT', '/api/files/again', form)
    expect((await sql(at.url, 'SELECT * FROM files.again')).data).toEqual([
      [1, 3, '2024-01-03', [1], null],
      [2, 6, '2024-01-04', [2], 'ä'],
    ])
  }
})

test('what is no SELECT is answered in JSON where Parquet is asked for, and what fails by its problem', async () => {
  expect(await (await post('SHOW VARIABLES', {}, parquet)).json()).toMatchObject({ type: 'table' })
  expect(await (await post('USE mindsdb', {}, parquet)).json()).toMatchObject({ type: 'ok' })
  for (const query of [failing, 'SELECT nothing_of_this_name', 'SELECT 1 AS a, 2 AS a', `SELECT INTERVAL 1 DAY AS i`]) {
    const refused = await post(query, {}, parquet)
    expect([query, refused.status, refused.headers.get('content-type')]).toEqual([
      query,
      400,
      expect.stringContaining('application/problem+json'),
    ])
  }
  expect(readdirSync(join(at.directory, 'tmp', 'tables'), { recursive: true })).toEqual([])
})

test('a reader of Parquet who goes away leaves nothing behind', async () => {
  const large = `SELECT i, 'row number ' || i AS s FROM range(3000000) AS t(i)`
  const leaving = new AbortController()
  const answer = await fetch(`${at.url}/api/sql/query`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json', ...parquet }, body: JSON.stringify({ query: large }) },
    signal: leaving.signal,
  })
  leaving.abort()
  await expect(answer.arrayBuffer()).rejects.toThrow()
  await until(() => readdirSync(join(at.directory, 'tmp', 'tables')).length === 0)
  expect((await sql(at.url, 'SELECT 1')).data).toEqual([[1]])
})

const residentMb = (pid: number): number => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

/** Asks for a large answer, and reads nothing of it. */
const stuckReader = async (query: string): Promise<Socket> => {
  const { hostname, port } = new URL(at.url)
  const socket = connect(Number(port), hostname)
  socket.pause()
  const body = JSON.stringify({ query })
  socket.write(
    `POST /api/sql/query HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  await new Promise((resolve) => socket.once('readable', resolve))
  expect(String(socket.read(12))).toBe('HTTP/1.1 200')
  return socket
}

const onLinux = process.platform === 'linux' ? test : test.skip

onLinux('clients that read nothing cost a few megabytes and nobody a place, and get the rest when they do', async () => {
  const rows = 2_000_000
  const large = `SELECT i, 'row number ' || i AS s, i / 7 AS d FROM range(${rows}) AS t(i)`
  const pids = [process.pid, at.service.sqlProcessPid() ?? 0]
  await send(at.url, 'POST', '/api/sql/query', { query: large.replace(String(rows), '100000') })
  const before = pids.map(residentMb)
  const sockets = await Promise.all(Array.from({ length: 10 }, () => stuckReader(large)))
  for (let n = 0; n < 20; n++)
    expect(
      (await send(at.url, 'POST', '/api/sql/query', { query: `SELECT sum(i) FROM range(${n * 100_000}) AS t(i)` })).body,
    ).toMatchObject({
      type: 'table',
    })
  const grown = pids.map((pid, i) => residentMb(pid) - (before[i] ?? 0))
  expect(Math.max(...grown)).toBeLessThan(150)
  const [reader, ...others] = sockets
  for (const other of others) other.destroy()
  let bytes = 0
  let end = ''
  reader?.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    end = `${end}${chunk.toString('latin1')}`.slice(-16)
  })
  reader?.resume()
  await until(() => end.endsWith('0\r\n\r\n'))
  expect(bytes).toBeGreaterThan(rows * 30)
  reader?.destroy()
})
