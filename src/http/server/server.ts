import { createServer, type RequestListener, type Server, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { hostname } from 'node:os'
import type { Logger } from '../../basics/logger.js'
import { ConfigError, type Config } from '../../setup/config.js'
import { limits } from '../../basics/limits.js'
import { networkOf, plainAddress } from '../protocol/client.js'

type ConnectionBounds = {
  connectionsMax: number
  connectionsPerAddressMax: number
  /** Whether this is the address of a proxy, whose connections belong to many clients. */
  isProxy: (address: string | undefined) => boolean
}

/** A connection with its current request, among the connections of its address. */
type Connection = { readonly socket: Socket; readonly ofAddress: Connections; request: IncomingMessage | undefined }
type Connections = Map<Socket, Connection>

/** No request has arrived, or not all of its headers. */
const isIdle = ({ request }: Connection): boolean => request === undefined
/** The client has not sent all of its request. */
const isReceiving = ({ request }: Connection): boolean => request?.complete === false

/** A refused connection stays open this long, so that its client can read the reason. */
const refusedMs = 100

const refusal = (reason: string): string => {
  const body = JSON.stringify({ title: 'Too many connections', status: 503, detail: reason, code: 'busy' })
  const head = ['HTTP/1.1 503 Service Unavailable', 'Connection: close', 'Retry-After: 1', 'Content-Type: application/problem+json']
  return `${[...head, `Content-Length: ${Buffer.byteLength(body)}`].join('\r\n')}\r\n\r\n${body}`
}

/**
 * Limits the open connections, in total and per address. At a limit, a new connection replaces one that waits for its client: first
 * one without a request, then one whose request is incomplete; each time the one that has waited longest. At the total limit it is
 * one of the address with the most connections. Only if all of them are being answered, the new one is refused. So connections that
 * do nothing block nobody.
 *
 * @example server.on('connection', (socket) => connections.opened(socket)); server.on('request', (req, res) => connections.asked(req, res))
 */
class OpenConnections {
  /** The connections of each address; the one that has waited longest comes first. */
  readonly #byAddress = new Map<string, Connections>()
  readonly #open = new WeakMap<Socket, Connection>()
  #count = 0
  #isStopping = false

  constructor(private readonly bounds: ConnectionBounds) {}

  /** Accepts a connection or refuses it. */
  opened(socket: Socket): void {
    const remote = plainAddress(socket.remoteAddress ?? '')
    const address = networkOf(remote)
    const ofAddress: Connections = this.#byAddress.get(address) ?? new Map<Socket, Connection>()
    const connection: Connection = { socket, ofAddress, request: undefined }
    this.#byAddress.set(address, ofAddress)
    ofAddress.set(socket, connection)
    this.#open.set(socket, connection)
    this.#count += 1
    const forget = () => {
      if (ofAddress.delete(socket)) this.#count -= 1
      this.#open.delete(socket)
      if (ofAddress.size === 0 && this.#byAddress.get(address) === ofAddress) this.#byAddress.delete(address)
    }
    socket.once('close', forget)
    const { connectionsMax, connectionsPerAddressMax, isProxy } = this.bounds
    if (ofAddress.size > connectionsPerAddressMax && !isProxy(remote))
      this.#makeRoom(
        ofAddress,
        socket,
        forget,
        `${connectionsPerAddressMax} connections of this address are being answered (connectionsPerAddressMax)`,
      )
    else if (this.#count > connectionsMax)
      this.#makeRoom(this.#largest(), socket, forget, `${connectionsMax} connections are being answered (connectionsMax)`)
  }

  /** Notes that a connection has a request, until it is answered. Returns false on a refused connection, whose request is ignored. */
  asked(request: IncomingMessage, response: ServerResponse): boolean {
    const { socket } = request
    const connection = this.#open.get(socket)
    if (!connection) return false
    const { ofAddress } = connection
    connection.request = request
    response.once('close', () => {
      if (connection.request !== request) return
      connection.request = undefined
      // Node would wait until it has been idle for long enough, and a browser may leave its own side open.
      if (this.#isStopping) socket.destroySoon()
      // It waits again, behind the connections that were already waiting.
      if (ofAddress.delete(socket)) ofAddress.set(socket, connection)
    })
    return true
  }

  /** Closes connections without a request, including those that never had one: nothing is lost. The others close after their answers. */
  closeIdle(): void {
    this.#isStopping = true
    for (const ofAddress of this.#byAddress.values())
      for (const connection of ofAddress.values()) if (isIdle(connection)) connection.socket.destroy()
  }

  #largest(): Connections {
    return [...this.#byAddress.values()].reduce((most, each) => (each.size > most.size ? each : most))
  }

  #makeRoom(among: Connections, newcomer: Socket, forget: () => void, reason: string): void {
    const others = [...among.values()].filter(({ socket }) => socket !== newcomer && !socket.destroyed)
    const given = others.find(isIdle) ?? others.find(isReceiving)
    if (given) {
      given.socket.destroy()
      return
    }
    // A refused connection no longer counts while it closes; otherwise the next one could replace it and exceed the limit.
    forget()
    newcomer.end(refusal(reason))
    setTimeout(() => newcomer.destroy(), refusedMs).unref()
  }
}

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
