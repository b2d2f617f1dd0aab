import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { ConfigError, type Config } from '../config.js'
import { limits } from '../limits.js'

export type ServerLimits = {
  connectionsMax: number
  requestHeadersTimeoutMs: number
  requestTimeoutMs: number
  keepAliveTimeoutMs: number
}

/** The HTTP server with its limits. What is beyond them never reaches a route: Node closes the connection, or answers 408. */
export const createHttpServer = (app: RequestListener, bounds: ServerLimits = limits): Server => {
  const server = createServer(
    {
      headersTimeout: bounds.requestHeadersTimeoutMs,
      requestTimeout: bounds.requestTimeoutMs,
      keepAliveTimeout: bounds.keepAliveTimeoutMs,
      // Timeouts are looked at so often, and no more exact than that.
      connectionsCheckingInterval: Math.min(30_000, bounds.requestHeadersTimeoutMs),
    },
    app,
  )
  server.maxConnections = bounds.connectionsMax
  return server
}

/**
 * Takes connections at an address, port 0 for a free one. What befalls the server later, such as a lack of file descriptors,
 * is logged and ends nothing.
 * @throws ConfigError when the address cannot be had
 */
export const listen = (
  server: Server,
  { port, host }: Pick<Config, 'port' | 'host'>,
  logger: Pick<Logger, 'error'>,
): Promise<AddressInfo> =>
  new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'the port is taken; set PORT to another one' : error.message
      reject(new ConfigError(`cannot listen on ${host}:${port}: ${reason}`))
    }
    server.once('error', refuse)
    server.listen(port, host, () => {
      server.off('error', refuse)
      server.on('error', (err) => logger.error({ err }, 'the server had an error, and goes on'))
      resolve(server.address() as AddressInfo)
    })
  })
