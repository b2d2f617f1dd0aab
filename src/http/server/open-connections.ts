import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf, plainAddress } from '../protocol/client.js'

export type ConnectionBounds = {
  connectionsMax: number
  connectionsPerAddressMax: number
  /** Whether all the clients of a proxy come from this address, so that its connections are not those of one client. */
  isProxy: (address: string | undefined) => boolean
}

/** A connection, with the request that it has under way. */
type Connection = { readonly socket: Socket; request: IncomingMessage | undefined }

/** Nothing of a request has come, or not all of its headers. */
const isIdle = ({ request }: Connection): boolean => request === undefined
/** The client has not sent all of its request. */
const isReceiving = ({ request }: Connection): boolean => request?.complete === false

/** A connection that is closed before its client has read why it was refused would lose the reason. */
const refusedMs = 100

const refusal = (reason: string): string => {
  const body = JSON.stringify({ title: 'Too many connections', status: 503, detail: reason, code: 'busy' })
  const head = ['HTTP/1.1 503 Service Unavailable', 'Connection: close', 'Retry-After: 1', 'Content-Type: application/problem+json']
  return `${[...head, `Content-Length: ${Buffer.byteLength(body)}`].join('\r\n')}\r\n\r\n${body}`
}

/**
 * Bounds the open connections, in all and of each address. A new one is let in at the cost of one that waits for its client:
 * first one without a request, then one whose request has not come whole, each time the one that has waited longest, of the
 * address that has the most. Only when all of them are being answered the new one is refused. So nobody is shut out by
 * connections that do nothing.
 *
 * @example server.on('connection', (socket) => connections.opened(socket)); server.on('request', (req, res) => connections.asked(req, res))
 */
export class OpenConnections {
  /** Of each address, the one first that has waited longest. */
  readonly #byAddress = new Map<string, Map<Socket, Connection>>()
  #count = 0

  constructor(private readonly bounds: ConnectionBounds) {}

  /** Takes a connection in, or refuses it. */
  opened(socket: Socket): void {
    const remote = plainAddress(socket.remoteAddress ?? '')
    const address = networkOf(remote)
    const ofAddress = this.#byAddress.get(address) ?? new Map<Socket, Connection>()
    this.#byAddress.set(address, ofAddress)
    ofAddress.set(socket, { socket, request: undefined })
    this.#count += 1
    const forget = () => {
      if (ofAddress.delete(socket)) this.#count -= 1
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

  /** Notes that a request has begun on its connection, until it is answered. Tells whether it may be: on a refused one it must not. */
  asked(request: IncomingMessage, response: ServerResponse): boolean {
    const { socket } = request
    const ofAddress = this.#byAddress.get(networkOf(plainAddress(socket.remoteAddress ?? '')))
    const connection = ofAddress?.get(socket)
    if (!ofAddress || !connection) return false
    connection.request = request
    response.once('close', () => {
      if (connection.request !== request) return
      connection.request = undefined
      // It waits from now on, behind those that have waited before.
      if (ofAddress.delete(socket)) ofAddress.set(socket, connection)
    })
    return true
  }

  #largest(): Map<Socket, Connection> {
    return [...this.#byAddress.values()].reduce((most, each) => (each.size > most.size ? each : most))
  }

  #makeRoom(among: Map<Socket, Connection>, newcomer: Socket, forget: () => void, reason: string): void {
    const others = [...among.values()].filter(({ socket }) => socket !== newcomer && !socket.destroyed)
    const given = others.find(isIdle) ?? others.find(isReceiving)
    if (given) {
      given.socket.destroy()
      return
    }
    // While it ends, a refused connection does not count: the next newcomer would take its place and be one too many.
    forget()
    newcomer.end(refusal(reason))
    setTimeout(() => newcomer.destroy(), refusedMs).unref()
  }
}
