import { expect, test } from '@jest/globals'
import { Writable } from 'node:stream'
import pino from 'pino'
import type { Route } from '../../../src/http/protocol/route.js'
import { noContent } from '../../../src/http/protocol/reply.js'
import { createApp, type AppOptions } from '../../../src/http/server/app.js'
import { createHttpServer, listen, stopListening } from '../../../src/http/server/server.js'

test('a refusal that fails itself closes its connection, is logged, and ends nothing else', async () => {
  const lines: string[] = []
  const log = new Writable({
    write: (line: Buffer, _, done) => {
      lines.push(line.toString())
      done()
    },
  })
  const fails = () => {
    throw new TypeError('no refusal either')
  }
  const described = { method: 'get', summary: '', ofNode: true, answers: {} } as const
  const routes: Route[] = [
    { ...described, path: '/broken', handle: fails, refusal: fails },
    { ...described, path: '/whole', handle: async () => noContent },
  ]
  const options = { routes, hosts: { guarded: false, own: '127.0.0.1', allowed: [] }, sessions: undefined, logger: pino(log) }
  const server = createHttpServer(createApp({ ...options, about: {}, ledger: {} } as unknown as AppOptions))
  const { port } = await listen(server, { host: '127.0.0.1', port: 0 }, options.logger)
  try {
    await expect(fetch(`http://127.0.0.1:${port}/broken`)).rejects.toThrow('fetch failed')
    expect((await fetch(`http://127.0.0.1:${port}/whole`)).status).toBe(204)
    expect(lines.join('')).toContain('no refusal either')
  } finally {
    await stopListening(server)
  }
})
