import { isIP, type Socket } from 'node:net'
import { connect as connectTls, rootCertificates } from 'node:tls'
import { LRUCache } from 'lru-cache'
import type { buildConnector, Dispatcher, Pool } from 'undici'
import { limits } from '../basics/limits.js'
import { beforeSending, explainCall } from './request-errors.js'
import { connectAllowed, noConnection, type ConnectedSocket } from './tcp-connection.js'
import type { EgressPolicy } from './policy.js'
import type { NameLookup } from './shared-lookup.js'

/**
 * The options of connections for tests and for private certificate authorities: the resolver, additional trusted certificates, the most
 * connections of a caller to one address (`egressConnectionsMax` by default), and the time to connect (`egressConnectTimeoutMs`).
 */
export type HttpConnectOptions = { lookup?: NameLookup; ca?: string; connections?: number; connectTimeoutMs?: number }

/** The time before a dropped pool is closed, so that calls that have just obtained it can still begin. */
const lastCallsMs = 1_000

const secured = ({ socket, to }: ConnectedSocket, ca: string | undefined, signal: AbortSignal): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const tls = connectTls({
      socket,
      host: to.name,
      // TLS accepts a name here, but no address.
      ...(isIP(to.name) === 0 && { servername: to.name }),
      ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: true,
    })
    const settle = (tell: () => void) => {
      signal.removeEventListener('abort', stop)
      tls.off('error', failed).on('error', () => undefined)
      tell()
    }
    const failed = (error: Error) =>
      settle(() => {
        socket.destroy()
        reject(error)
      })
    const stop = () => failed(noConnection(to.name, to.port, 'ETIMEDOUT'))
    tls.once('error', failed)
    tls.once('secureConnect', () => settle(() => resolve(tls)))
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })

const connector =
  (policy: EgressPolicy, { lookup, ca, connectTimeoutMs }: HttpConnectOptions): buildConnector.connector =>
  ({ hostname, port, protocol }, tell) => {
    const isSecure = protocol === 'https:'
    const timeoutMs = connectTimeoutMs ?? limits.egressConnectTimeoutMs
    const signal = AbortSignal.timeout(timeoutMs)
    const open = async () => {
      const connected = await connectAllowed(policy, hostname, Number(port === '' ? (isSecure ? 443 : 80) : port), {
        timeoutMs,
        signal,
        ...(lookup && { lookup }),
      })
      return isSecure ? await secured(connected, ca, signal) : connected.socket
    }
    open().then(
      (socket) => tell(null, socket),
      (error: unknown) => tell(beforeSending(explainCall(error, `${hostname}:${port}`)), null),
    )
  }

/**
 * Connections to HTTP servers. They are made under the policy, and stay open while they are used. For each new connection the host is
 * resolved and checked again.
 */
export class HttpPools {
  private readonly pools = new LRUCache<string, Pool>({
    max: limits.egressOriginsMax,
    dispose: (pool) => void setTimeout(() => void pool.close(), lastCallsMs).unref(),
  })
  private readonly connect: buildConnector.connector

  constructor(
    policy: EgressPolicy,
    private readonly connecting: HttpConnectOptions,
  ) {
    this.connect = connector(policy, connecting)
  }

  /** The connections to one origin. @example await pools.of(new URL('https://api.example.com/v1')) */
  async of({ origin }: URL): Promise<Dispatcher> {
    const { Pool } = await import('./http-client.js')
    const known = this.pools.get(origin)
    if (known) return known
    const pool = new Pool(origin, {
      connect: this.connect,
      connections: this.connecting.connections ?? limits.egressConnectionsMax,
      maxResponseSize: limits.egressAnswerMaxBytes,
      // The caller's own timeouts apply instead; they may be shorter or longer.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    this.pools.set(origin, pool)
    return pool
  }
}
