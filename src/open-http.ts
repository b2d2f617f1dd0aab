import { randomUUID } from 'node:crypto'
import { limits } from './basics/limits.js'
import { opened } from './basics/undo.js'
import { isTrustedProxy } from './http/protocol/client.js'
import { EventStreams } from './http/reads/event-stream.js'
import { followsLog } from './http/reads/follows-log.js'
import { addressOf, createHttpServer, listen, localAddressOf, networkAddressOf, stopListening } from './http/server/server.js'
import { EventFeed } from './log/feed/event-feed.js'
import type { Parts } from './route-parts.js'
import { appOf } from './routes.js'
import { noteServerAddress } from './setup/server-address.js'

/** Serves every route. @throws ConfigError when it cannot listen on the address */
export const openHttp = (parts: Omit<Parts, 'instance' | 'feed' | 'streams'>) =>
  opened(async (undo) => {
    const { config, logger, storage } = parts
    const feed = await EventFeed.of(storage.log)
    undo(() => feed.close())
    const streams = new EventStreams(feed, limits, followsLog(storage.log, config))
    const instance = randomUUID()
    const app = appOf({ ...parts, instance, feed, streams })
    const server = createHttpServer(app, { ...limits, isProxy: (address) => isTrustedProxy(app, address) })
    const address = await listen(server, config, logger)
    undo(() => stopListening(server))
    // Streams are stopped first, because the server waits for all its answers.
    undo(() => streams.stop())
    await storage.nodes?.serveAt(networkAddressOf(address))
    try {
      undo(noteServerAddress(storage.paths, { url: localAddressOf(address), instance }))
    } catch (err) {
      logger.warn({ err }, 'the address could not be written into the data directory: commands need --url to find this server')
    }
    return { url: addressOf(address) }
  })
