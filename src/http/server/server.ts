import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { ConfigError, type Config } from '../../setup/config.js'
import { limits } from '../../basics/limits.js'
import { OpenConnections, type ConnectionBounds } from './open-connections.js'

export type ServerLimits = {
  connectionsMax: number
  connectionsPerAddressMax: number
  requestHeadersTimeoutMs: number
  requestTimeoutMs: number
  keepAliveTimeoutMs: number
}

type ServerOptions = ServerLimits & {
  /** Whether all the clients of a proxy come from an address; of none unless given. */
  isProxy?: ConnectionBounds['isProxy']
}

/**
 * The HTTP server with its limits. What is beyond them never reaches a route: a connection that waits for its client is closed
 * for a new one, a new one is refused when all are being answered, and Node answers 408 to requests that come too slowly.
 */
export const createHttpServer = (app: RequestListener, { isProxy = () => false, ...bounds }: ServerOptions = limits): Server => {
  const server = createServer({
    headersTimeout: bounds.requestHeadersTimeoutMs,
    requestTimeout: bounds.requestTimeoutMs,
    keepAliveTimeout: bounds.keepAliveTimeoutMs,
    // Timeouts are looked at so often, and no more exact than that.
    connectionsCheckingInterval: Math.min(5_000, bounds.requestHeadersTimeoutMs),
  })
  const connections = new OpenConnections({ ...bounds, isProxy })
  server.on('connection', (socket) => connections.opened(socket))
  server.on('request', (req, res) => {
    if (connections.asked(req, res)) app(req, res)
  })
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

/** `http://127.0.0.1:47334`, of a server that listens. */
export const addressOf = ({ address, port, family }: AddressInfo): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`

/** The address at which programs of this machine reach a server that listens: one that listens everywhere is reached on the loopback. */
export const localAddressOf = ({ address, ...rest }: AddressInfo): string =>
  addressOf({ ...rest, address: address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address })

/** Takes no more requests, and waits for those under way as long as a stop may take. */
export const stopListening = async (server: Server): Promise<void> => {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeIdleConnections()
  const patience = setTimeout(() => server.closeAllConnections(), limits.stopTimeoutMs)
  await closed
  clearTimeout(patience)
}
