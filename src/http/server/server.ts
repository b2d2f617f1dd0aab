import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import type { Logger } from '../../basics/logger.js'
import { ConfigError, type Config } from '../../setup/config.js'
import { limits } from '../../basics/limits.js'
import { OpenConnections, type ConnectionBounds } from './connection-limits.js'

export type ServerLimits = {
  connectionsMax: number
  connectionsPerAddressMax: number
  requestHeadersTimeoutMs: number
  requestTimeoutMs: number
  keepAliveTimeoutMs: number
}

type ServerOptions = ServerLimits & {
  /** Whether an address is that of a proxy; by default none is. */
  isProxy?: ConnectionBounds['isProxy']
}

/** The connections of each server. */
const connectionsOf = new WeakMap<Server, OpenConnections>()

/**
 * The HTTP server with its limits on connections. At a limit, a new connection replaces one that waits for its client, or is refused
 * if all are being answered. Node answers 408 to requests that arrive too slowly.
 */
export const createHttpServer = (app: RequestListener, { isProxy = () => false, ...bounds }: ServerOptions = limits): Server => {
  const server = createServer({
    headersTimeout: bounds.requestHeadersTimeoutMs,
    requestTimeout: bounds.requestTimeoutMs,
    keepAliveTimeout: bounds.keepAliveTimeoutMs,
    // Timeouts are checked this often, which is also their precision.
    connectionsCheckingInterval: Math.min(5_000, bounds.requestHeadersTimeoutMs),
  })
  const connections = new OpenConnections({ ...bounds, isProxy })
  connectionsOf.set(server, connections)
  server.on('connection', (socket) => connections.opened(socket))
  server.on('request', (req, res) => {
    if (!connections.asked(req, res)) return
    // Behind another request of its connection it waits for its turn. Until then Node does not tell a response that its client has left.
    if (res.socket) app(req, res)
    else res.once('socket', () => app(req, res))
  })
  return server
}

/**
 * Listens on an address; port 0 means a free port. Later errors, such as a lack of file descriptors, are logged and end nothing.
 * @throws ConfigError when it cannot listen there
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

/** The URL of a listening server: `http://127.0.0.1:47334`. */
export const addressOf = ({ address, port, family }: AddressInfo): string =>
  `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`

/** The URL for clients on this machine: a server that listens on all addresses is reached over the loopback. */
export const localAddressOf = ({ address, ...rest }: AddressInfo): string =>
  addressOf({ ...rest, address: address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address })

/** The URL for other machines: one that listens on all addresses is known by its name. */
export const networkAddressOf = ({ address, ...rest }: AddressInfo): string =>
  address === '0.0.0.0' || address === '::' ? `http://${hostname()}:${rest.port}` : addressOf({ ...rest, address })

/** Accepts no more requests, and waits for those in progress, at most as long as a shutdown may take. */
export const stopListening = async (server: Server): Promise<void> => {
  const closed = new Promise((resolve) => server.close(resolve))
  // Node does not close connections that never sent a request.
  connectionsOf.get(server)?.closeIdle()
  const patience = setTimeout(() => server.closeAllConnections(), limits.stopTimeoutMs)
  await closed
  clearTimeout(patience)
}
