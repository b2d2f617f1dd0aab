import { connect as connectSocket, type Socket } from 'node:net'
import { errorCode, Problem } from '../basics/errors.js'
import { unlessAborted } from '../basics/concurrency/bounded-waits.js'
import type { EgressPolicy } from './policy.js'
import { resolveAllowed, type AllowedAddress } from './resolve.js'
import type { NameLookup } from './shared-lookup.js'

/** The idle time of a connection before the system checks that the other end still exists. */
const keepAliveAfterMs = 10_000

export type ConnectOptions = { timeoutMs: number; signal?: AbortSignal; lookup?: NameLookup }

/** A connected socket and its destination. A certificate must be valid for `name`. */
export type ConnectedSocket = { socket: Socket; to: AllowedAddress }

/**
 * The failure of a connection that was not made. The code is that of the system, or empty.
 *
 * @example noConnection('db.example.com', 5432, 'ETIMEDOUT').detail // 'db.example.com:5432 cannot be reached (ETIMEDOUT)'
 */
export const noConnection = (host: string, port: number, code: string): Problem => {
  const where = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  if (code === 'ECONNREFUSED')
    return new Problem('connection_failed', 'Connection refused', `Nothing listens at ${where}`, {
      hint: 'Check the port, and that a server runs there and takes connections from this machine.',
    })
  return new Problem('connection_failed', 'No connection', `${where} cannot be reached (${code || 'no answer'})`, {
    hint: 'Check the host and the port, and that no firewall stands between.',
  })
}

const connectTo = (to: AllowedAddress, signal: AbortSignal): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connectSocket({
      host: to.address,
      port: to.port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: keepAliveAfterMs,
    })
    const stop = () => socket.destroy(new Error('stopped'))
    const settle = () => {
      signal.removeEventListener('abort', stop)
      socket.removeAllListeners()
      // Between two statements an error has no other listener, and must not end the process.
      socket.on('error', () => undefined)
    }
    socket.once('connect', () => {
      settle()
      resolve(socket)
    })
    socket.once('error', (error) => {
      settle()
      reject(error)
    })
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })

/**
 * Opens a connection with keep-alive to a host, if the policy allows it. It connects to a checked address. The addresses of a host are
 * tried one after the other, and share the time that is left.
 *
 * @example const { socket } = await connectAllowed(policy, 'db.example.com', 5432, { timeoutMs: 10_000 })
 * @throws Problem egress_refused, connection_failed
 */
export const connectAllowed = async (
  policy: EgressPolicy,
  host: string,
  port: number,
  { timeoutMs, signal: stopped, lookup }: ConnectOptions,
): Promise<ConnectedSocket> => {
  const ends = performance.now() + timeoutMs
  const deadline = AbortSignal.timeout(timeoutMs)
  const signal = stopped ? AbortSignal.any([deadline, stopped]) : deadline
  // The system's resolver accepts no signal.
  const places = await unlessAborted(resolveAllowed(policy, host, port, lookup), signal, () => noConnection(host, port, 'ETIMEDOUT'))
  let code = ''
  for (const [i, to] of places.entries()) {
    const share = AbortSignal.timeout(Math.max(0, Math.ceil((ends - performance.now()) / (places.length - i))))
    try {
      return { socket: await connectTo(to, AbortSignal.any([signal, share])), to }
    } catch (error) {
      code = deadline.aborted || share.aborted ? 'ETIMEDOUT' : errorCode(error)
      if (signal.aborted) break
    }
  }
  throw noConnection(places[0].name, places[0].port, code)
}
