import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { limits } from '../../../src/basics/limits.js'
import { send, sql, startTestService } from '../../support/service.js'

let at: Awaited<ReturnType<typeof startTestService>>
let answer: (response: ServerResponse, request: IncomingMessage) => void
const asked: IncomingMessage[] = []
const server = createServer((request, response) => {
  asked.push(request)
  answer(response, request)
})
let site = ''
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  at = await startTestService()
  await sql(at.url, 'CREATE KNOWLEDGE_BASE pages')
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await at.stop()
})
beforeEach(() => void asked.splice(0))

const insert = (...urls: string[]) => send(at.url, 'PUT', '/api/projects/mindsdb/knowledge_bases/pages', { knowledge_base: { urls } })
const says = (type: string, body: string | Buffer) => (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': type }).end(body)
const count = async () => Number((await sql(at.url, 'SELECT count(*) FROM pages')).data[0]?.[0])

describe('web pages', () => {
  test('become documents: their text, title and address; a second reading takes the place of the first', async () => {
    const html =
      '<title> The  lamp </title><nav>Menu</nav><h1>Reset</h1><p>Hold the button<br>for ten&nbsp;seconds.<script>evil()</script><table><tr><td>a<td>b'
    answer = says('text/html; charset=utf-8', html)
    expect(await insert(`${site}/lamp?x=1#part`)).toMatchObject({ status: 200, body: '' })
    expect(await insert(`${site}/lamp?x=1`)).toMatchObject({ status: 200 })
    const { data } = await sql(at.url, "SELECT id, chunk_content, title, url FROM pages WHERE content = 'hold the button'")
    expect(data).toEqual([[`${site}/lamp?x=1`, 'Reset\n\nHold the button\nfor ten seconds.\n\na b', 'The lamp', `${site}/lamp?x=1`]])
    expect(asked[0]?.headers['cookie']).toBeUndefined()
    expect(asked[0]?.headers['authorization']).toBeUndefined()
    expect(
      (await sql(at.url, "SELECT data->>'source' FROM log.events WHERE type = 'KnowledgeInserted' ORDER BY position DESC LIMIT 1")).data,
    ).toEqual([['url']])
  })

  test.each([
    ['crawl_depth', { crawl_depth: 3 }],
    ['filters', { crawl_depth: 1, filters: ['/guide/'] }],
    ['limit', { limit: 1 }],
  ])('are not crawled: %s is refused, and says what to send', async (member, more) => {
    const urls = [`${site}/a`, `${site}/b`]
    const body = { knowledge_base: { urls, ...more } }
    expect(await send(at.url, 'PUT', '/api/projects/mindsdb/knowledge_bases/pages', body)).toMatchObject({
      status: 501,
      body: { detail: expect.stringContaining(`${member}: `), hint: expect.stringContaining('Name each page in urls') },
    })
    expect(asked).toEqual([])
  })

  test.each([
    ['titled', ['title', 'body'], null, 'title: The lamp\nbody: Hold it.'],
    ['addressed', ['url', 'body'], 'url', 'url: SITE/lamp\nbody: Hold it.'],
    ['plain', ['body', 'title'], null, 'body: Hold it.\ntitle: The lamp'],
    ['single', ['title'], null, 'Hold it.'],
  ])('keep their titles and addresses in a base with several content columns: %s', async (name, columns, id, content) => {
    answer = says('text/html', '<title>The lamp</title><p>Hold it.')
    const bases = '/api/projects/mindsdb/knowledge_bases'
    await send(at.url, 'POST', bases, { knowledge_base: { name, content_columns: columns, ...(id !== null && { id_column: id }) } })
    const { status } = await send(at.url, 'PUT', `${bases}/${name}`, { knowledge_base: { urls: [`${site}/lamp`] } })
    expect(status).toBe(200)
    expect((await sql(at.url, `SELECT id, chunk_content FROM ${name}`)).data).toEqual([[`${site}/lamp`, content.replace('SITE', site)]])
  })

  test('of plain text and Markdown, in the character set that they name', async () => {
    answer = says('text/markdown; charset=iso-8859-1', Buffer.from('# Caf\u00e9 zebra', 'latin1'))
    expect((await insert(`${site}/cafe.md`)).status).toBe(200)
    expect((await sql(at.url, "SELECT chunk_content FROM pages WHERE content = 'zebra'")).data).toEqual([['# Caf\u00e9 zebra']])
  })

  test.each<[string, number, string, (response: ServerResponse) => void]>([
    ['a PDF', 400, 'PDF is not read here', says('application/pdf', '%PDF-1.7')],
    ['an image', 400, 'send other texts as rows', says('image/png', 'x')],
    ['no type', 400, 'send other texts as rows', (response) => void response.writeHead(200).end('x')],
    ['a page without text', 400, 'send its text as rows', says('text/html', '<script>fill()</script>')],
    ['bytes of another character set', 400, 'Send its text as rows', says('text/plain; charset=utf-8', Buffer.from([0xff, 0xfe, 0xc3]))],
    ['a character set that is none', 400, 'Send its text as rows', says('text/plain; charset=klingon', 'x')],
    ['an error', 400, 'without a login', (response) => void response.writeHead(403, { 'content-type': 'text/html' }).end('no')],
    [
      'a redirect',
      502,
      'Name the address that answers itself',
      (response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    ],
    [
      'too much',
      502,
      '',
      (response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end('a'.repeat(limits.knowledgePageMaxBytes + 1)),
    ],
  ])('that answer %s are refused, and nothing is inserted', async (_, status, hint, how) => {
    const before = await count()
    answer = (response, { url }) => (url === '/good' ? says('text/plain', 'a good page')(response) : how(response))
    const refused = await insert(`${site}/good`, `${site}/bad`)
    expect(refused.status).toBe(status)
    expect(JSON.stringify(refused.body)).toContain(hint)
    expect(await count()).toBe(before)
  })

  test.each([
    ['http://10.0.0.1/', 403],
    ['http://169.254.169.254/latest/meta-data', 403],
    ['http://[fd00::1]/', 403],
    ['file:///etc/passwd', 403],
    ['http://user:password@127.0.0.1/', 403],
    ['no address', 400],
    [`http://127.0.0.1/${'a'.repeat(limits.knowledgeIdMaxChars)}`, 400],
  ])('at %s are not called', async (url, status) => {
    expect((await insert(url)).status).toBe(status)
    expect(asked).toEqual([])
  })

  test('are at most so many, and as deep as they like', async () => {
    expect((await insert(...Array.from({ length: limits.knowledgeUrlsMax + 1 }, (_, i) => `${site}/${i}`))).status).toBe(400)
    expect(asked).toEqual([])
    answer = says('text/html', `${'<div>'.repeat(100_000)}deep yak`)
    expect((await insert(`${site}/deep`)).status).toBe(200)
    expect((await sql(at.url, "SELECT chunk_content FROM pages WHERE content = 'yak'")).data).toEqual([['deep yak']])
  })
})
