import { once } from 'node:events'
import { request, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, jest, test } from '@jest/globals'
import { createHttpServer, stopListening } from '../../../../src/http/server/server.js'
import { limits } from '../../../../src/basics/limits.js'
import { until } from '../../../support/until.js'

const opened: Socket[] = []
const closers: (() => void)[] = []
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy()
  for (const close of closers.splice(0)) close()
})

/** A server that answers at once, or never to `/hang`; a POST when its body is there. `asked` waits until it has so many requests. */
const listening = async (bounds: { connectionsMax: number; connectionsPerAddressMax: number; isProxy?: () => boolean }) => {
  let requests = 0
  const answer = (req: IncomingMessage, res: ServerResponse) => {
    requests += 1
    if (req.url !== '/hang') req.resume().on('end', () => res.end('well'))
  }
  const server = createHttpServer(answer, { ...limits, ...bounds })
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { port: (server.address() as AddressInfo).port, asked: (count: number) => until(() => requests === count) }
}

/** A connection from one of this machine's addresses that has sent this much. */
const open = async (port: number, said = '', localAddress = '127.0.0.1'): Promise<Socket> => {
  const socket = connect({ port, host: '127.0.0.1', localAddress })
  opened.push(socket)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  if (said !== '') await new Promise((resolve) => socket.write(said, resolve))
  return socket
}

const get = async (port: number, localAddress = '127.0.0.1'): Promise<{ status: number | undefined; body: string }> => {
  const asked = request({ port, host: '127.0.0.1', localAddress, agent: false })
  asked.end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  return { status: response.statusCode, body: await text(response) }
}

/** The same for a connection that is refused. It stays open for a moment only, in which a busy machine may not read the reason. */
const refused = async (port: number): ReturnType<typeof get> => {
  const answer = await get(port).catch(() => undefined)
  return answer ?? refused(port)
}

const slowHeaders = 'GET / HTTP/1.1\r\nHost: localhost\r\nX-A: '
const slowBody = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{'
const hanging = 'GET /hang HTTP/1.1\r\nHost: localhost\r\n\r\n'

test.each([
  ['say nothing', ''],
  ['send headers slowly', slowHeaders],
  ['send a body slowly', slowBody],
])('connections that %s are given up for new ones of their address, the oldest first', async (_, said) => {
  const { port, asked } = await listening({ connectionsMax: 100, connectionsPerAddressMax: 4 })
  const slow: Socket[] = []
  for (let n = 0; n < 4; n++) slow.push(await open(port, said))
  await asked(said === slowBody ? 4 : 0)
  const isGone = once(slow[0] as Socket, 'close')
  expect(await get(port)).toEqual({ status: 200, body: 'well' })
  await isGone
  expect(slow.slice(1).map(({ closed }) => closed)).toEqual([false, false, false])
})

test('a request that is being answered is not given up: the new connection is refused with a reason, those of others are not', async () => {
  const { port, asked } = await listening({ connectionsMax: 100, connectionsPerAddressMax: 3 })
  for (let n = 0; n < 3; n++) await open(port, hanging)
  await asked(3)
  const { status, body } = await refused(port)
  expect(status).toBe(503)
  expect(JSON.parse(body)).toMatchObject({ code: 'busy', detail: expect.stringContaining('connectionsPerAddressMax') })
  expect(await get(port, '127.0.0.2')).toEqual({ status: 200, body: 'well' })
})

test('a refused connection that has not ended yet gives its place to nobody', async () => {
  const { port, asked } = await listening({ connectionsMax: 100, connectionsPerAddressMax: 3 })
  for (let n = 0; n < 3; n++) await open(port, hanging)
  await asked(3)
  const answers = await Promise.all(Array.from({ length: 10 }, () => refused(port)))
  expect(answers.map(({ status }) => status)).toEqual(Array<number>(10).fill(503))
})

test('where there are too many in all, the address that has the most gives one up', async () => {
  const { port } = await listening({ connectionsMax: 5, connectionsPerAddressMax: 4 })
  const greedy: Socket[] = []
  for (let n = 0; n < 3; n++) greedy.push(await open(port, slowHeaders))
  const others = [await open(port, '', '127.0.0.2'), await open(port, '', '127.0.0.2')]
  const isGone = once(greedy[0] as Socket, 'close')
  expect(await get(port, '127.0.0.3')).toEqual({ status: 200, body: 'well' })
  await isGone
  expect(others.map(({ closed }) => closed)).toEqual([false, false])
})

test('the address of a trusted proxy has no bound of its own', async () => {
  const { port, asked } = await listening({ connectionsMax: 100, connectionsPerAddressMax: 2, isProxy: () => true })
  for (let n = 0; n < 5; n++) await open(port, hanging)
  await asked(5)
  expect(await get(port)).toEqual({ status: 200, body: 'well' })
})

test('a server that stops does not wait until the client closes a connection that was answered', async () => {
  const server = createHttpServer((_, res) => {
    setTimeout(() => res.end('well'), 300)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true })
  opened.push(client)
  let answer = ''
  client.on('data', (bytes) => (answer += bytes.toString()))
  client.write('GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(server, 'request')
  const cutting = jest.spyOn(server, 'closeAllConnections')
  await stopListening(server)
  expect(cutting).not.toHaveBeenCalled()
  await until(() => answer.endsWith('well'))
})

test('a server that stops does not wait for connections on which nothing is asked, or nothing more', async () => {
  const server = createHttpServer((_, res) => {
    setTimeout(() => res.end('well'), 300)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const silent = await open(port)
  const partly = await open(port, slowHeaders)
  const asking = await open(port, 'GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const answer = text(asking)
  await once(server, 'request')
  const gone = [silent, partly].map((socket) => once(socket.resume(), 'close'))
  const cutting = jest.spyOn(server, 'closeAllConnections')
  await stopListening(server)
  expect(cutting).not.toHaveBeenCalled()
  expect(await answer).toContain('well')
  await Promise.all(gone)
})
