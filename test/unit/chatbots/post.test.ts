import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterAll, expect, test } from '@jest/globals'
import { judgedByStatus, judgedForChat, post, waitAfter } from '../../../src/chatbots/channels/post.js'
import { egressFetch } from '../../../src/egress/fetch.js'
import type { HttpConnectOptions } from '../../../src/egress/http-pool.js'
import { parseEgress } from '../../../src/egress/policy.js'
import { sharedLookup } from '../../../src/egress/shared-lookup.js'

const servers: Server[] = []
afterAll(() => servers.forEach((server) => server.close()))

/** The port of a server that does this with each connection. */
const serving = async (take: (socket: Socket) => void): Promise<number> => {
  const server = createServer((socket) => take(socket.on('error', () => undefined))).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** The end of one try to post to an address. */
const posted = (url: string, connecting: HttpConnectOptions = {}, headers: Record<string, string> = {}) => {
  const call = egressFetch(parseEgress('', { loopback: true }), connecting)
  return post(call, url, { method: 'POST', headers, body: '{}' }, new AbortController().signal, judgedForChat)
}

test('what was certainly not sent is sent later: TLS that does not end or breaks off, and a name that is not looked up', async () => {
  const silent = await serving((socket) => void socket.resume())
  expect(await posted(`https://127.0.0.1:${silent}/`, { connectTimeoutMs: 200 })).toEqual({
    end: 'later',
    error: `No connection: 127.0.0.1:${silent} cannot be reached (ETIMEDOUT)`,
  })
  const closing = await serving((socket) => void socket.destroy())
  expect(await posted(`https://127.0.0.1:${closing}/`)).toMatchObject({ end: 'later' })
  const lookup = sharedLookup(() => Promise.resolve(['127.0.0.1']), { most: 0 })
  expect(await posted('http://chat.example/', { lookup })).toMatchObject({
    end: 'later',
    error: expect.stringMatching(/^Too many lookups: /) as unknown,
  })
})

test('a post that breaks off once it was sent is unknown, and one that HTTP cannot carry is refused', async () => {
  const cutting = await serving((socket) => void socket.once('data', () => socket.destroy()))
  expect(await posted(`http://127.0.0.1:${cutting}/`)).toMatchObject({ end: 'unknown' })
  const port = await serving((socket) => void socket.resume())
  expect(await posted(`http://127.0.0.1:${port}/`, {}, { authorization: 'Bearer a\nb' })).toMatchObject({ end: 'refused' })
})

test('a wait grows up to a minute, and one that a chat service names is kept up to an hour', () => {
  expect([1, 2, 3, 4, 5].map((tries) => waitAfter(tries))).toEqual([1_000, 4_000, 16_000, 60_000, 60_000])
  expect([0, 234_000, 1_386_000, 3_600_000, 7_200_000].map((afterMs) => waitAfter(1, afterMs))).toEqual([
    0, 234_000, 1_386_000, 3_600_000, 3_600_000,
  ])
})

test.each([
  [200, undefined, 'sent', 'sent'],
  [429, undefined, 'later', 'later'],
  [503, 1_000, 'later', 'later'],
  [503, undefined, 'later', 'unknown'],
  [500, 1_000, 'later', 'unknown'],
  [502, undefined, 'later', 'unknown'],
  [504, undefined, 'later', 'unknown'],
  [408, undefined, 'later', 'unknown'],
  [400, undefined, 'refused', 'refused'],
])('the status %d, with a wait of %s, is %s to a program and %s in a chat', (status, afterMs, program, chat) => {
  const said = { status, afterMs, body: undefined }
  expect([judgedByStatus(said).end, judgedForChat(said).end]).toEqual([program, chat])
})
