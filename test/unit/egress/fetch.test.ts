import { EventEmitter, once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createSocketServer, type AddressInfo, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { egressFetch, type CallLimits } from '../../../src/egress/fetch.js'
import { parseEgress } from '../../../src/egress/policy.js'
import type { NameLookup } from '../../../src/egress/shared-lookup.js'
import { freePort } from '../../support/cli.js'
import { makeCertificate } from '../../support/connections/certificate.js'
import { temporaryDirectory } from '../../support/service.js'

const closed = parseEgress('', { loopback: false })
const here = parseEgress('', { loopback: true })

/** Serves connections that nobody ends otherwise. */
const serveSockets = (take: (socket: Socket) => void) =>
  listening(
    createSocketServer((socket) => {
      opened.push({ close: () => socket.destroy() })
      take(socket.on('error', () => undefined))
    }),
  )

const opened: { close: () => unknown; closeAllConnections?: () => void }[] = []
const listening = async (server: ReturnType<typeof createSocketServer> | Server): Promise<number> => {
  opened.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
const serve = (listener: RequestListener) => listening(createServer(listener))

afterAll(() => {
  for (const server of opened) {
    server.closeAllConnections?.()
    server.close()
  }
})

const failure = async (call: Promise<unknown>) =>
  (await call.then(
    () => 'no failure',
    (error: unknown) => error,
  )) as { code: string; title: string; detail: string; extras: { hint: string } }

/** A resolver that gives these answers one after the other. */
const changing = (...answers: string[]): { lookup: NameLookup; asked: () => number } => {
  let asked = 0
  return { lookup: async () => [answers[Math.min(asked++, answers.length - 1)] ?? ''], asked: () => asked }
}

describe('where nothing is allowed', () => {
  test.each([
    ...[
      'http://127.0.0.1/',
      'http://localhost/',
      'http://localhost./',
      'http://db.localhost/',
      'http://[::1]/',
      'http://127.1/',
      'http://0/',
    ],
    ...['http://2130706433/', 'http://0x7f000001/', 'http://0177.0.0.1/', 'http://0x7f.1/', 'http://１２７.０.０.１/', 'http://①②⑦.0.0.1/'],
    ...['http://[::ffff:127.0.0.1]/', 'http://[::ffff:a9fe:a9fe]/', 'http://[64:ff9b::a9fe:a9fe]/', 'http://[2002:7f00:1::]/'],
    ...[
      'http://169.254.169.254/latest/meta-data/',
      'https://169.254.169.254/',
      'http://2852039166/',
      'http://0xa9fea9fe/',
      'http://[fd00::1]/',
    ],
    ...['http://10.0.0.1:8080/', 'http:10.0.0.1', 'http:\\\\10.0.0.1\\x', ' http://10.0.0.1', 'HTTP://10.0.0.1', 'http://10.0.0.1:0/'],
    ...[
      'http://a%2eexample@10.0.0.1/',
      'http://10.0.0.1#@a.example/',
      'http://user:secret-1@93.184.216.34/',
      'http://a_b..c/',
      'http://-x/',
    ],
    ...[
      'file:///etc/passwd',
      'data:text/plain,x',
      'blob:nodedata:1',
      'about:blank',
      'ftp://10.0.0.1/',
      'unix:/run/x.sock',
      'ws://10.0.0.1/',
    ],
    ...['//10.0.0.1/', '/v1/models', '', 'http://', 'http://moving.example/'],
  ])('%j is not called', async (address) => {
    const { lookup } = changing('192.168.1.1')
    const refused = await failure(egressFetch(closed, { lookup })(address))
    expect(refused.code).toBe('egress_refused')
    expect(JSON.stringify([refused.detail, refused.extras])).not.toContain('secret-1')
  })

  test('the refusal names the setting, with the port of the protocol', async () => {
    const { lookup } = changing('10.0.0.5')
    const refused = await failure(egressFetch(closed, { lookup })('https://llm.corp/v1?key=secret-1'))
    expect(refused.extras.hint).toContain('EGRESS_ALLOW=llm.corp:443')
    expect(JSON.stringify(refused)).not.toContain('secret-1')
  })
})

test('a call is answered with status, headers and body, whatever form the request has', async () => {
  const port = await serve((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      response.writeHead(201, { 'x-method': request.method ?? '', 'set-cookie': ['a=1', 'b=2'] })
      response.end(`${String(request.headers['x-key'])} ${Buffer.concat(parts).toString()}`)
    })
  })
  const address = `http://127.0.0.1:${port}/v1`
  const call = egressFetch(here)
  const init = { method: 'POST', headers: { 'x-key': 'k' }, body: 'text' }
  const streamed = { ...init, body: new Blob(['te', 'xt']).stream(), duplex: 'half' as const }
  for (const answer of [await call(address, init), await call(new URL(address), streamed), await call(new Request(address, init))]) {
    expect(answer).toBeInstanceOf(Response)
    expect([answer.status, answer.headers.get('x-method'), answer.headers.getSetCookie()]).toEqual([201, 'POST', ['a=1', 'b=2']])
    expect(await answer.text()).toBe('k text')
  }
  const form = new FormData()
  form.set('file', new Blob(['rows']), 'a.csv')
  expect(await (await call(address, { method: 'POST', body: form })).text()).toContain('filename="a.csv"')
})

describe('DNS answers that change', () => {
  test('a name is resolved once for a connection, and the checked address is called', async () => {
    const port = await serve((request, response) => response.end(request.headers.host))
    const { lookup, asked } = changing('127.0.0.1', '169.254.169.254')
    const call = egressFetch(here, { lookup })
    expect(await (await call(`http://moving.example:${port}/`)).text()).toBe(`moving.example:${port}`)
    expect(asked()).toBe(1)
  })

  test('another connection is checked anew', async () => {
    const port = await serve((_, response) => response.setHeader('connection', 'close').end('here'))
    const { lookup, asked } = changing('127.0.0.1', '169.254.169.254')
    const call = egressFetch(here, { lookup })
    expect(await (await call(`http://moving.example:${port}/`)).text()).toBe('here')
    const refused = await failure(call(`http://moving.example:${port}/`))
    expect([refused.code, asked()]).toEqual(['egress_refused', 2])
    expect(refused.detail).toContain('169.254.169.254')
  })
})

describe('redirects', () => {
  test.each([301, 302, 303, 307, 308])('%i to the metadata service is not followed, whatever the caller asks for', async (status) => {
    let asked = 0
    const port = await serve((_, response) => {
      asked += 1
      response.writeHead(status, { location: 'http://169.254.169.254/latest/meta-data/?token=secret-1' }).end()
    })
    for (const redirect of ['follow', 'manual', 'error', undefined] as const) {
      const refused = await failure(egressFetch(here)(`http://127.0.0.1:${port}/`, redirect ? { redirect } : {}))
      expect([refused.code, refused.title]).toEqual(['connection_failed', 'Redirected'])
      expect(refused.detail).toContain('169.254.169.254')
      expect(JSON.stringify(refused)).not.toContain('secret-1')
    }
    expect(asked).toBe(4)
  })

  test('nor is one to the same host, nor one without an address', async () => {
    const port = await serve((request, response) => response.writeHead(302, request.url === '/a' ? { location: '/b' } : {}).end())
    for (const path of ['/a', '/b'])
      expect(await failure(egressFetch(here)(`http://127.0.0.1:${port}${path}`))).toMatchObject({ title: 'Redirected' })
  })
})

describe('an answer', () => {
  const limited = async (listener: RequestListener, limits: CallLimits) => {
    const call = egressFetch(here, {}, limits)
    const port = await serve(listener)
    return failure(call(`http://127.0.0.1:${port}/?key=secret-1`).then((answer) => answer.text()))
  }

  test('that never begins ends in time', async () => {
    const late = await limited(() => undefined, { headersTimeoutMs: 200 })
    expect(late).toMatchObject({ code: 'connection_failed', title: 'No answer' })
    expect(JSON.stringify(late)).not.toContain('secret-1')
  })

  test('that stops in the middle ends in time', async () => {
    const late = await limited((_, response) => void response.write('half'), { stallMs: 200 })
    expect(late).toMatchObject({ code: 'connection_failed', detail: expect.stringContaining('in the middle') as unknown })
    expect(late).toMatchObject({ extras: { hint: expect.stringContaining('Ask it for less at a time') as unknown } })
  })

  test('that is broken off is an error, and not a short answer', async () => {
    const broken = await limited((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half')
      setImmediate(() => response.destroy())
    }, {})
    expect(broken).toMatchObject({ code: 'connection_failed', title: 'Connection lost' })
  })

  test('is bounded in bytes, also in those that it becomes when it is unpacked', async () => {
    const endless = await limited(
      (_, response) => {
        const more = () => void response.write('x'.repeat(10_000))
        response.on('drain', more)
        for (let index = 0; index < 20; index++) more()
      },
      { maxBytes: 100_000 },
    )
    expect(endless).toMatchObject({ code: 'connection_failed', title: 'Answer too large' })
    const bomb = gzipSync(Buffer.alloc(5_000_000))
    expect(bomb.length).toBeLessThan(100_000)
    const unpacked = await limited((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb), {
      maxBytes: 100_000,
    })
    expect(unpacked).toMatchObject({ code: 'connection_failed', title: 'Answer too large' })
  })

  test('that is not HTTP is told as such', async () => {
    const port = await serveSockets((socket) => void socket.end('SSH-2.0-x\r\n'))
    expect(await failure(egressFetch(here)(`http://127.0.0.1:${port}/`))).toMatchObject({ title: 'Not understood' })
  })

  test('is read while it arrives, and the caller’s signal ends it and its connection', async () => {
    const ends = new EventEmitter()
    const closing = once(ends, 'close')
    let send: (text: string) => void = () => undefined
    const port = await serve((_, response) => {
      send = (text) => void response.write(`data: ${text}\n\n`)
      send('one')
      response.on('close', () => ends.emit('close'))
    })
    const stop = new AbortController()
    const answer = await egressFetch(here)(`http://127.0.0.1:${port}/`, { signal: stop.signal })
    const parts = (answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
    expect((await parts.read()).value).toBe('data: one\n\n')
    send('two')
    expect((await parts.read()).value).toBe('data: two\n\n')
    stop.abort(new Error('enough'))
    expect(await failure(parts.read())).toMatchObject({ message: 'enough' })
    await closing
  })

  test('whose reader leaves has its connection closed', async () => {
    const ends = new EventEmitter()
    const closing = once(ends, 'close')
    const port = await serve((_, response) => {
      response.write('one')
      response.on('close', () => ends.emit('close'))
    })
    const answer = await egressFetch(here)(`http://127.0.0.1:${port}/`)
    await answer.body?.cancel()
    await closing
  })
})

test('a signal that was given before the call, or comes during it, ends it with its own reason', async () => {
  const port = await serve(() => undefined)
  const call = egressFetch(here)
  const early = failure(call(`http://127.0.0.1:${port}/`, { signal: AbortSignal.abort(new Error('no')) }))
  expect(await early).toMatchObject({ message: 'no' })
  expect(await failure(call(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(50) }))).toMatchObject({ name: 'TimeoutError' })
})

test('a header that HTTP cannot carry is refused without its value', async () => {
  const refused = await failure(egressFetch(here)('http://127.0.0.1:8080/', { headers: { authorization: 'Bearer secret-1\nx: y' } }))
  expect(refused.code).toBe('wrong_arguments')
  expect(JSON.stringify([refused, refused.detail])).not.toContain('secret-1')
})

test('a port where nothing listens, and one of another protocol, are told with the host and the port', async () => {
  const port = await freePort()
  const detail = `Nothing listens at 127.0.0.1:${port}`
  expect(await failure(egressFetch(here)(`http://127.0.0.1:${port}/`))).toMatchObject({ title: 'Connection refused', detail })
  expect(await failure(egressFetch(here)('http://127.0.0.1:25/'))).toMatchObject({
    code: 'egress_refused',
    detail: '127.0.0.1:25 has a port of another protocol',
  })
})

describe('https', () => {
  const place = temporaryDirectory()
  let port: number
  let ca: string

  beforeAll(async () => {
    const { key, pem } = makeCertificate(place.path, 'DNS:llm.example', 'IP:127.0.0.1')
    ca = pem
    port = await listening(createTlsServer({ key: readFileSync(key), cert: ca }, (request, response) => response.end(request.headers.host)))
  })
  afterAll(() => place.remove())

  const { lookup } = changing('127.0.0.1')

  test('a certificate is for the name or the address of the call', async () => {
    const call = egressFetch(here, { lookup, ca })
    expect(await (await call(`https://llm.example:${port}/`)).text()).toBe(`llm.example:${port}`)
    expect(await (await call(`https://127.0.0.1:${port}/`)).text()).toBe(`127.0.0.1:${port}`)
    expect(await failure(call(`https://other.example:${port}/`))).toMatchObject({ code: 'connection_failed', title: 'TLS failed' })
  })

  test('one of an authority that nobody knows is refused', async () => {
    expect(await failure(egressFetch(here, { lookup })(`https://llm.example:${port}/`))).toMatchObject({ title: 'TLS failed' })
  })

  test('a server that takes the connection and never speaks TLS ends in time', async () => {
    const silent = await serveSockets((socket) => void socket.resume())
    const call = egressFetch(here, { lookup }, { headersTimeoutMs: 200 })
    expect(await failure(call(`https://llm.example:${silent}/`))).toMatchObject({ title: 'No answer' })
  })

  test('a TLS handshake that does not end in the time to connect is told as no connection', async () => {
    const silent = await serveSockets((socket) => void socket.resume())
    const call = egressFetch(here, { lookup, connectTimeoutMs: 200 })
    expect(await failure(call(`https://llm.example:${silent}/`))).toMatchObject({
      ...{ code: 'connection_failed', title: 'No connection' },
      detail: `llm.example:${silent} cannot be reached (ETIMEDOUT)`,
    })
  })
})
