import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf, plainAddress } from '../protocol/client.js'

export type ConnectionBounds = {
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
export class OpenConnections {
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
