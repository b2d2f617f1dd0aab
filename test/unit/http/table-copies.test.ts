import { writeFileSync } from 'node:fs'
import { expect, jest, test } from '@jest/globals'
import pino from 'pino'
import { limits } from '../../../src/basics/limits.js'
import type { Log } from '../../../src/log/contract/log.js'
import { tableCopyRoutes } from '../../../src/http/routes/table-copies.js'
import { createApp, type AppOptions } from '../../../src/http/server/app.js'
import { createHttpServer, listen, stopListening } from '../../../src/http/server/server.js'
import { temporaryDirectory } from '../../support/service.js'
import { until } from '../../support/until.js'

const copyBytes = 32 * 2 ** 20

test('a client that stops in the middle of the tables is disconnected, so that others get them', async () => {
  const directory = temporaryDirectory()
  const lowered = jest.replaceProperty(limits, 'eventReaderStallMs', 200 as never)
  const copy = async (into: string) => {
    writeFileSync(into, Buffer.alloc(copyBytes))
    return 1
  }
  const log = { head: async () => ({ position: 1 }) } as unknown as Log
  const routes = tableCopyRoutes(log, { copy }, directory.path).map((route) => ({ ...route, ofNode: true }))
  const logger = pino({ level: 'silent' })
  const options = { routes, hosts: { guarded: false, own: '127.0.0.1', allowed: [] }, sessions: undefined, logger }
  const server = createHttpServer(createApp({ ...options, about: {}, ledger: {} } as unknown as AppOptions))
  const { port } = await listen(server, { host: '127.0.0.1', port: 0 }, logger)
  const ask = () => fetch(`http://127.0.0.1:${port}/api/log/tables`)
  try {
    const stopped = await ask()
    expect(stopped.status).toBe(200)
    await until(async () => {
      const next = await ask()
      await next.body?.cancel()
      return next.ok
    })
    await expect(stopped.arrayBuffer()).rejects.toThrow()
  } finally {
    await stopListening(server)
    lowered.restore()
    directory.remove()
  }
})
