import { pino } from 'pino'
import { observeRoutes } from '../../../src/http/routes/observe.js'
import { createApp, type AppOptions } from '../../../src/http/server/app.js'
import { addressOf, createHttpServer, listen, stopListening } from '../../../src/http/server/server.js'
import { Metrics } from '../../../src/observe/metrics.js'
import { readiness, type Readiness } from '../../../src/observe/readiness.js'
import type { SqlProcess } from '../../../src/sql-process/sql-process.js'

/** The SQL process of a test, which may be replaced by another one. */
type Observed = { readonly sqlProcess: Pick<SqlProcess, 'status' | 'warning'> }

/** The answer of `GET /ready`. */
export type Ready = { status: number; body: Readiness }

/**
 * Serves `GET /ready` on a free port, of an SQL process alone: the log beside it is well, and ends where the tables end.
 *
 * @example const { ready, stop } = await serveReady(bench); expect((await ready()).status).toBe(200)
 */
export const serveReady = async (of: Observed): Promise<{ ready: () => Promise<Ready>; stop: () => Promise<void> }> => {
  const logger = pino({ level: 'silent' })
  const status = () => of.sqlProcess.status()
  const warnings = () => [of.sqlProcess.warning()].filter((text) => text !== undefined)
  const log = { health: async () => ({ position: status().position, queued: 0, unwritable: undefined }) }
  const routes = observeRoutes({
    ...{ version: '0', instance: 'test', metrics: new Metrics() },
    readiness: () => readiness({ log, sqlProcess: { status }, warnings, readsLocally: false }),
    disk: () => Promise.reject(new TypeError('nobody asks for the disk here')),
  })
  const options = { routes, hosts: { guarded: true, own: '127.0.0.1', allowed: [] }, sessions: undefined, logger }
  const server = createHttpServer(createApp({ ...options, about: {}, ledger: {} } as unknown as AppOptions))
  const url = addressOf(await listen(server, { host: '127.0.0.1', port: 0 }, logger))
  const ready = async (): Promise<Ready> => {
    const response = await fetch(`${url}/ready`)
    return { status: response.status, body: (await response.json()) as Readiness }
  }
  return { ready, stop: () => stopListening(server) }
}
