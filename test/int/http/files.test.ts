import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../../../src/basics/limits.js'
import { pathsUnder } from '../../support/directories.js'
import { formOf, rentalsCsv } from '../../support/models/rentals.js'
import { send, sql, startTestService } from '../../support/service.js'

let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
})
afterAll(() => at.stop())

const put = (
  name: string,
  text: string,
  filename = `${name}.csv`,
  fields: Record<string, string> = {},
  query = '',
  headers: Record<string, string> = {},
) => send(at.url, 'PUT', `/api/files/${name}${query}`, formOf(text, filename, fields), headers)

/** A form as the JavaScript client sends it: without a length, and with a file part that calls itself a form. */
const putChunked = (name: string, text: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(at.url)
    const boundary = '--------------------------123456789012345678901234'
    const head = { 'content-type': `multipart/form-data; boundary=${boundary}`, 'transfer-encoding': 'chunked' }
    const sent = request({ hostname, port, method: 'PUT', path: `/api/files/${name}`, headers: head }, (res) =>
      res.resume().on('end', () => resolve(res.statusCode)),
    )
    sent.on('error', reject)
    const field = (key: string, value: string) =>
      sent.write(`--${boundary}\r\nContent-Disposition: form-data; name="${key}"\r\n\r\n${value}\r\n`)
    field('original_file_name', `${name}.csv`)
    field('name', name)
    field('source_type', 'file')
    sent.write(
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}.csv"\r\nContent-Type: multipart/form-data\r\n\r\n`,
    )
    for (const part of text.match(/.{1,500}/gs) ?? []) sent.write(part)
    sent.end(`\r\n--${boundary}--\r\n`)
  })

test('a file is uploaded in the shape of either client, listed, described, queried and deleted', async () => {
  expect(
    await put('Rentals', rentalsCsv, 'rentals.csv', { original_file_name: 'rentals.csv', name: 'rentals', source_type: 'file' }),
  ).toMatchObject({ status: 200, body: { name: 'rentals', rows: 240, warnings: [], skipped: 0, first: [] } })
  expect(await putChunked('chunked', rentalsCsv)).toBe(200)
  const columns = ['sqft', 'location', 'rooms', 'rental_price']
  for (const path of ['/api/files', '/api/files/'])
    expect(await send(at.url, 'GET', path)).toMatchObject({
      status: 200,
      body: [
        { name: 'rentals', row_count: 240, columns },
        { name: 'chunked', row_count: 240, columns },
      ],
    })
  expect(await send(at.url, 'GET', '/api/files/RENTALS')).toMatchObject({
    status: 200,
    body: {
      name: 'rentals',
      row_count: 240,
      original_name: 'rentals.csv',
      columns: columns.map((name) => ({ name, type: expect.any(String) })),
    },
  })
  for (const name of ['files.rentals', 'files.chunked', 'files.Rentals'])
    expect(await sql(at.url, `SELECT count(*) AS n, min(sqft) AS low FROM ${name}`)).toMatchObject({ data: [[240, 300]] })
  expect(await put('bad.csv', rentalsCsv)).toMatchObject({
    status: 400,
    body: { title: 'Error', detail: 'File name cannot contain extension.' },
  })
  expect(await send(at.url, 'DELETE', '/api/files/Chunked')).toMatchObject({ status: 200, body: '' })
  expect(await send(at.url, 'DELETE', '/api/files/chunked')).toMatchObject({ status: 400, body: { title: 'Error deleting file' } })
  expect(await send(at.url, 'GET', '/api/files/chunked')).toMatchObject({ status: 404, body: { title: 'File not found' } })
})

test('a row that does not fit refuses the file with its line, text and reason; skip leaves it out and counts it', async () => {
  const bad = 'a,b\n1,2\n3,4,5\n6,7\n'
  const { position } = await at.service.head()
  const refused = await put('bad', bad)
  expect(refused).toMatchObject({ status: 400, type: expect.stringContaining('application/problem+json'), body: { code: 'bad_file' } })
  expect(JSON.stringify(refused.body)).toMatch(/"line":3/)
  expect(JSON.stringify(refused.body)).toMatch(/"text":"3,4,5"/)
  expect(JSON.stringify(refused.body)).toMatch(/"reason":"./)
  expect((await at.service.head()).position).toBe(position)
  expect(await put('bad', bad, 'bad.csv', {}, '?on_bad_rows=skip')).toMatchObject({
    status: 200,
    body: { rows: 2, skipped: 1, first: [{ line: 3, text: '3,4,5', reason: expect.stringMatching(/./) }] },
  })
  expect(await sql(at.url, 'SELECT * FROM files.bad')).toMatchObject({
    data: [
      [1, 2],
      [6, 7],
    ],
  })
})

test('an upload that is no table is refused, and nothing of it stays', async () => {
  const { position } = await at.service.head()
  for (const [text, filename] of [
    ['', 'e.csv'],
    ['{"a":', 'x.json'],
    ['PAR1nonsense', 'x.parquet'],
    ['\u0000\u0001\u0002', 'x.bin'],
  ] as const)
    expect({ filename, ...(await put('odd', text, filename)) }).toMatchObject({
      filename,
      status: 400,
      body: { code: expect.stringMatching(/bad_file|wrong_arguments/) },
    })
  const noFile = new FormData()
  noFile.set('name', 'x')
  for (const [body, headers] of [
    [noFile, {}],
    ['{"source_type":"url","source":"http://169.254.169.254/"}', {}],
    ['x', { 'content-type': 'multipart/form-data' }],
    ['--x\r\nnonsense', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['', { 'content-type': 'text/csv' }],
    ['a\n1\n', { 'content-type': 'text/csv', 'content-encoding': 'gzip' }],
  ] as [unknown, Record<string, string>][])
    expect([400, 415]).toContain((await send(at.url, 'PUT', '/api/files/odd', body, headers)).status)
  for (const name of ['%2e%2e%2fx', 'a%2fb', '%00', 'x'.repeat(256), '%20'])
    expect({ name, status: (await put(name, rentalsCsv, 'r.csv')).status }).toEqual({ name, status: 400 })
  expect((await at.service.head()).position).toBe(position)
  const left = pathsUnder(at.directory).filter((path) => /upload/.test(path) && !path.endsWith('uploads'))
  expect(left).toEqual([])
})

test('an upload tells what was made of the file', async () => {
  const text = 'a,A,d,n\n1,x,01/02/2024,1\n2,y,03/04/2024,NA\n'
  expect(await put('told', text)).toMatchObject({
    status: 200,
    body: {
      name: 'told',
      rows: 2,
      columns: [
        { name: 'a', type: 'BIGINT' },
        { name: 'A_1', type: 'VARCHAR' },
        { name: 'd', type: 'VARCHAR' },
        { name: 'n', type: 'BIGINT' },
      ],
      renamed: [{ from: 'A', to: 'A_1' }],
      warnings: expect.arrayContaining([expect.stringContaining('"d"'), expect.stringContaining('"n" has markers such as NA')]),
    },
  })
})

test('a file that is uploaded again has a new content, and the ones before stay readable', async () => {
  const first = await put('again', 'a\n1\n')
  const { position } = await at.service.head()
  const second = await put('AGAIN', 'b,c\n2,x\n3,y\n')
  expect([first.headers.get('etag'), second.headers.get('etag')]).toEqual(['"1"', '"2"'])
  expect(second).toMatchObject({ status: 200, body: { name: 'again', rows: 2 } })
  expect(await sql(at.url, 'SELECT * FROM files.again')).toMatchObject({
    column_names: ['b', 'c'],
    data: [
      [2, 'x'],
      [3, 'y'],
    ],
  })
  expect(await sql(at.url, `SELECT * FROM files.again AT (VERSION => ${position})`)).toMatchObject({ column_names: ['a'], data: [[1]] })
  const { body } = await send(at.url, 'GET', '/api/files/again/history')
  expect(JSON.stringify(body)).toMatch(/FileCreated.*FileReplaced|FileReplaced.*FileCreated/)
  expect((await send(at.url, 'GET', '/api/files/again')).body).toMatchObject({ row_count: 2 })
})

test('an upload that fails leaves the content that was there', async () => {
  await put('kept_as_it_is', 'a\n1\n')
  const { position } = await at.service.head()
  expect((await put('kept_as_it_is', 'a,b\n1,2\n3\n')).status).toBe(400)
  expect((await put('kept_as_it_is', 'a\n2\n', 'x.csv', {}, '', { 'if-match': '"7"' })).status).toBe(412)
  expect((await put('kept_as_it_is', 'a\n2\n', 'x.csv', {}, '', { 'if-none-match': '*' })).status).toBe(412)
  expect((await at.service.head()).position).toBe(position)
  expect(await sql(at.url, 'SELECT * FROM files.kept_as_it_is')).toMatchObject({ data: [[1]] })
  const replaced = await put('kept_as_it_is', 'a\n2\n', 'x.csv', {}, '', { 'if-match': '"1"' })
  expect([replaced.status, replaced.headers.get('etag')]).toEqual([200, '"2"'])
})

test('a file is found by its name, and never by its id, which another may have as its name', async () => {
  await put('numbered', 'a\n1\n')
  const { data } = await sql(at.url, "SELECT id FROM log.resources WHERE kind = 'file' AND name = 'numbered'")
  const id = String(data[0]?.[0])
  expect((await send(at.url, 'GET', `/api/files/${id}`)).status).toBe(404)
  expect((await send(at.url, 'GET', `/api/files/${id}/history`)).status).toBe(404)
  const { position } = await at.service.head()
  expect((await send(at.url, 'GET', `/api/files/${id}?as_of=${position}`)).status).toBe(404)
  expect(await sql(at.url, `CREATE TABLE IF NOT EXISTS files.\`${id}\` (SELECT 2 AS b)`)).toMatchObject({ type: 'ok' })
  expect(await sql(at.url, `SELECT b FROM files.\`${id}\``)).toMatchObject({ data: [[2]] })
  await send(at.url, 'DELETE', `/api/files/${id}`)
  const table = { name: id, select: 'SELECT 3 AS c' }
  expect(await send(at.url, 'POST', '/api/databases/files/tables', { table })).toMatchObject({ status: 201 })
  expect(await sql(at.url, 'SELECT a FROM files.numbered')).toMatchObject({ data: [[1]] })
})

test('of uploads of one name at once each is a version, and the last of them is the content', async () => {
  const { position } = await at.service.head()
  const replies = await Promise.all(Array.from({ length: 6 }, (_, i) => put('race', `a\n${i}\n`)))
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
  const versions = replies.map(({ headers }) => headers.get('etag'))
  expect(versions.toSorted()).toEqual(['"1"', '"2"', '"3"', '"4"', '"5"', '"6"'])
  for (const [i, version] of versions.entries())
    expect(await sql(at.url, `SELECT a FROM files.race AT (VERSION => ${position + Number(JSON.parse(version ?? '0'))})`)).toMatchObject({
      data: [[i]],
    })
  expect(await sql(at.url, 'SELECT a FROM files.race')).toMatchObject({ data: [[versions.indexOf('"6"')]] })
})

test('an upload that is sent again with its key has its answer; other bytes, fields or wishes under that key are refused', async () => {
  const keyed = (text: string, query = '', fields = {}) => put('kept', text, 'kept.csv', fields, query, { 'idempotency-key': 'upload' })
  const first = await keyed('a\n1\n')
  expect(first).toMatchObject({ status: 200, body: { name: 'kept', rows: 1 } })
  const { position } = await at.service.head()
  expect(await keyed('a\n1\n')).toMatchObject({ status: 200, body: first.body })
  for (const other of [
    keyed('a\n2\n'),
    keyed('a\n1,2\n'),
    keyed('a\n1\n', '?on_bad_rows=skip'),
    keyed('a\n1\n', '', { original_file_name: 'b' }),
  ])
    expect(await other).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } })
  expect((await at.service.head()).position).toBe(position)
  await send(at.url, 'DELETE', '/api/files/kept')
  expect(await keyed('a\n1\n')).toMatchObject({ status: 200, body: first.body })
  expect(await send(at.url, 'GET', '/api/files/kept')).toMatchObject({ status: 404 })
})

test('a repeated upload tells again which rows were left out', async () => {
  const skipping = () => put('gaps', 'a,b\n1,2\n3\n', 'gaps.csv', {}, '?on_bad_rows=skip', { 'idempotency-key': 'gaps' })
  const first = await skipping()
  expect(first).toMatchObject({ status: 200, body: { rows: 1, skipped: 1 } })
  const { position } = await at.service.head()
  expect(await skipping()).toMatchObject({ status: 200, body: first.body })
  expect((await at.service.head()).position).toBe(position)
})

test.each([
  ['CSV', 'many.csv', 'a\n', '1\n'],
  ['JSON lines', 'many.json', '', '{"a":1}\n'],
])('a table of more rows than the limit is refused as %s, and nothing stays', async (_, filename, head, row) => {
  const reply = await put('many', head + row.repeat(limits.tableMaxRows + 1), filename)
  expect(reply).toMatchObject({ status: 413, body: { code: 'too_large', limit: 'tableMaxRows', hint: expect.any(String) } })
  expect(await send(at.url, 'GET', '/api/files/many')).toMatchObject({ status: 404 })
})

test('uploads beyond the limit of those under way, of a client or of all, are told to come again', async () => {
  const { hostname, port } = new URL(at.url)
  const uploads = join(at.directory, 'tmp', 'uploads')
  const begun = () => (existsSync(uploads) ? readdirSync(uploads).length : 0)
  // An upload is answered a moment before it gives its place back.
  while (begun() > 0) await sleep(20)
  const headers = { 'content-type': 'text/csv', 'transfer-encoding': 'chunked' }
  const upload = (name: string, localAddress: string) => {
    const sent = request({ hostname, port, localAddress, method: 'PUT', path: `/api/files/${name}`, headers })
    sent.on('error', () => undefined).write('a\n')
    return sent
  }
  const refusal = async (localAddress: string) => {
    const [response] = (await once(upload('late', localAddress), 'response')) as [IncomingMessage]
    const { code, detail } = (await json(response)) as { code: string; detail: string }
    return { status: response.statusCode, retryAfter: response.headers['retry-after'], code, detail }
  }
  const slow: ClientRequest[] = []
  for (const address of ['127.0.0.2', '127.0.0.3']) {
    for (let i = 0; i < limits.fileUploadsPerClientMax; i++) slow.push(upload(`slow${slow.length}`, address))
    while (begun() < slow.length) await sleep(20)
    const detail = expect.stringContaining('fileUploadsPerClientMax')
    expect(await refusal(address)).toEqual({ status: 503, retryAfter: '5', code: 'busy', detail })
  }
  expect(begun()).toBe(limits.fileUploadsMax)
  expect(await refusal('127.0.0.4')).toMatchObject({ status: 503, code: 'busy', detail: expect.stringContaining('fileUploadsMax') })
  for (const sent of slow) sent.destroy()
  while (begun() > 0) await sleep(20)
  expect(await put('late', 'a\n1\n')).toMatchObject({ status: 200 })
})
