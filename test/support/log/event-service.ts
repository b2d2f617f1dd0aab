import { pino } from 'pino'
import { Ledger } from '../../../src/commands/ledger.js'
import { createApp } from '../../../src/http/server/app.js'
import { Downloads } from '../../../src/http/reads/event-answers.js'
import { EventStreams, type StreamBounds } from '../../../src/http/reads/event-stream.js'
import { eventRoutes } from '../../../src/http/routes/events.js'
import { historyRoutes } from '../../../src/http/routes/resources/history.js'
import { readingOf } from '../../../src/http/reads/read-routes.js'
import { Records } from '../../../src/http/reads/records.js'
import { loginRoutes } from '../../../src/http/routes/login.js'
import { addressOf, createHttpServer, listen, stopListening } from '../../../src/http/server/server.js'
import { Sessions } from '../../../src/http/login/sessions.js'
import { limits } from '../../../src/basics/limits.js'
import { EventFeed } from '../../../src/log/feed/event-feed.js'
import { Histories } from '../../../src/log/read/history.js'
import { logNow } from '../../../src/log/read/time-travel.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { Vault } from '../../../src/vault/vault.js'
import { testKey } from './log.js'

/** `clients` is the number of clients that follow the log. */
export type EventService = {
  url: string
  log: SqliteLog
  ledger: Ledger
  feed: EventFeed
  clients: () => number
  stop: () => Promise<void>
}

type Options = Partial<StreamBounds> & {
  port?: number
  user?: { username: string; password: string }
  /** Whether the node of the service still gets new events. */
  follows?: () => Promise<boolean>
}

/** The part of the service that serves the log, over a real log and server: it starts and stops in milliseconds. */
export const startEventService = async (file: string, { port = 0, user, follows, ...bounds }: Options = {}): Promise<EventService> => {
  const vault = new Vault(testKey)
  const log = new SqliteLog({ file, vault })
  const feed = await EventFeed.of(log)
  const streams = new EventStreams(feed, { ...limits, ...bounds }, follows)
  const about = {
    version: '0',
    authentication: false,
    defaultProject: 'mindsdb',
    headFile: () => undefined,
    exported: () => undefined,
    sqlStopped: () => undefined,
    isTraining: () => false,
    settings: [],
  }
  const logger = pino({ level: 'silent' })
  const noPast = () => {
    throw new TypeError('this part of the service knows no past')
  }
  const present = { ...logNow(log), records: new Records(log, '0') }
  const reading = readingOf({ log, present, past: { resourcesAt: noPast }, version: '0' })
  const ledger = new Ledger(log, vault)
  const sessions = user && new Sessions(user)
  const routes = [
    ...loginRoutes(sessions),
    ...eventRoutes(log, feed, streams, new Downloads()),
    ...historyRoutes(reading, new Histories(log, feed.slices.turns)),
  ]
  const hosts = { guarded: true, own: '127.0.0.1', allowed: [] }
  const server = createHttpServer(createApp({ ledger, log, routes, about, sessions, hosts, logger }))
  const url = addressOf(await listen(server, { host: '127.0.0.1', port }, logger))
  const stop = async () => {
    streams.stop()
    await stopListening(server)
    feed.close()
    await log.close()
  }
  return { url, log, ledger, feed, clients: () => streams.clients, stop }
}
