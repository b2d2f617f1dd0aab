import { afterEach, expect, test } from '@jest/globals'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, type Socket } from 'node:net'
import type { Server } from 'node:http'
import { createHttpServer, listen, type ServerLimits } from '../../../src/http/server/server.js'
import { limits } from '../../../src/basics/limits.js'

const open: { close: () => unknown }[] = []
afterEach(() => {
  for (const each of open.splice(0)) each.close()
})

const serving = async (bounds: Partial<ServerLimits>): Promise<Server> => {
  const server = createHttpServer((req, res) => void req.resume().on('end', () => res.end('hello')), { ...limits, ...bounds })
  open.push({ close: () => (server.closeAllConnections(), server.close()) })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}

const client = async (server: Server): Promise<Socket> => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8')
  open.push({ close: () => socket.destroy() })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n'
/** All that the server says until it closes the connection. */
const heard = async (socket: Socket): Promise<string> => {
  let text = ''
  socket.on('data', (chunk: string) => (text += chunk))
  await once(socket, 'close')
  return text
}

test('a connection beyond the limit takes the place of the one that has waited longest; the others go on', async () => {
  const server = await serving({ connectionsMax: 2 })
  const [first, second] = [await client(server), await client(server)]
  const gone = heard(first)
  const third = await client(server)
  expect(await gone).toBe('')
  for (const socket of [second, third]) {
    socket.write(`${request}\r\n`)
    expect(String(await once(socket, 'data'))).toContain('200 OK')
  }
})

test('headers that do not end, and a body that does not, are answered with 408', async () => {
  const server = await serving({ requestHeadersTimeoutMs: 200, requestTimeoutMs: 400 })
  const [headers, body] = [await client(server), await client(server)]
  headers.write(request)
  body.write(`${request}Content-Length: 10\r\n\r\n`.replace('GET', 'POST'))
  for (const answer of await Promise.all([heard(headers), heard(body)])) expect(answer).toMatch(/^HTTP\/1\.1 408 /)
})

test('an idle connection is closed', async () => {
  const server = await serving({ keepAliveTimeoutMs: 100 })
  const socket = await client(server)
  socket.write(`${request}\r\n`)
  expect(await heard(socket)).toContain('200 OK')
})

test('errors of a server that listens are logged, each of them, and end nothing', async () => {
  const server = createHttpServer((_req, res) => res.end('hello'))
  const logged: unknown[] = []
  const { port } = await listen(server, { port: 0, host: '127.0.0.1' }, { error: (fields) => void logged.push(fields) })
  const errors = [new Error('accept EMFILE'), new Error('accept ENFILE')]
  for (const error of errors) server.emit('error', error)
  expect(logged).toEqual(errors.map((err) => ({ err })))
  expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('hello')
  const second = createHttpServer((_req, res) => res.end())
  await expect(listen(second, { port, host: '127.0.0.1' }, { error: () => undefined })).rejects.toThrow('the port is taken')
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})
