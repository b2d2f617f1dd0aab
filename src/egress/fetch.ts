import { fetch as undiciFetch, type RequestInit as UndiciInit } from 'undici'
import { Problem } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { boundedBody, type BodyLimits } from './bounded-body.js'
import { callFailed, explainCall } from './called-over-http.js'
import { HttpPools, type HttpConnecting } from './http-pool.js'
import { readHost, readPort, type EgressPolicy } from './policy.js'

/** Limits of one caller; those that it does not name are the service's. */
export type CallLimits = BodyLimits & { headersTimeoutMs?: number }

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304])

const refused = (detail: string, hint: string): Problem => new Problem('egress_refused', 'Not allowed to call', detail, { hint })

const readAddress = (text: string): { url: URL; where: string } => {
  if (!URL.canParse(text)) throw refused('The address of the call is none', 'Write it as https://host/path.')
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw refused(`The protocol ${url.protocol.slice(0, 20)} is not called`, 'Write an address that begins with https:// or http://.')
  if (url.username !== '' || url.password !== '')
    throw refused('The address of the call holds a user or a password', 'Send them in a header.')
  const { name } = readHost(url.hostname)
  const port = readPort(url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port)
  return { url, where: `${name}:${port}` }
}

/** Requests of the platform are another class than those of the library. */
const asCall = (input: string | URL | Request, init: RequestInit): { text: string; init: RequestInit } => {
  if (!(input instanceof Request)) return { text: String(input), init }
  const { url, method, headers, body, signal } = input
  return { text: url, init: { method, headers, signal, ...(body && { body, duplex: 'half' }), ...init } }
}

const notFollowed = (where: string, location: string | null, base: URL): Problem => {
  const to = location !== null && URL.canParse(location, base.href) ? ` to ${new URL(location, base.href).host}` : ''
  return callFailed(
    'Redirected',
    `${where} answers with a redirect${to}, and redirects are not followed`,
    'Name the address that answers itself; https instead of http is a common reason.',
  )
}

/**
 * A `fetch` for calls to other services that goes only where the policy allows. A host is resolved once for each connection, all its
 * addresses are checked, and the connection is made to the checked one; TLS asks for a certificate of the host. Redirects are refused.
 * Time to the headers, time between parts of the body and bytes of the body, unpacked, have limits (`egress…` in limits.ts). Answers are
 * read as they arrive, and the caller's signal stops them at any time. No error repeats the path, the query or a header.
 *
 * @example
 * const call = egressFetch(egressOf(config))
 * const answer = await call('https://api.example.com/v1/models', { headers: { authorization: 'Bearer k' }, signal })
 * @throws Problem egress_refused with the entry of EGRESS_ALLOW that allows the call; connection_failed; what the caller's signal says
 */
export const egressFetch = (policy: EgressPolicy, connecting: HttpConnecting = {}, own: CallLimits = {}): typeof globalThis.fetch => {
  const pools = new HttpPools(policy, connecting)
  const headersTimeoutMs = own.headersTimeoutMs ?? limits.egressHeadersTimeoutMs
  return async (input, given = {}) => {
    const { text, init } = asCall(input, given)
    const { url, where } = readAddress(text)
    const stopped = new AbortController()
    const caller = init.signal ?? undefined
    const isStoppedByCaller = () => caller?.aborted === true && !stopped.signal.aborted
    const late = setTimeout(
      () => stopped.abort(callFailed('No answer', `${where} did not answer within ${headersTimeoutMs} ms`, 'Try again later.')),
      headersTimeoutMs,
    )
    try {
      const answer = await undiciFetch(url, {
        ...(init as unknown as UndiciInit),
        redirect: 'manual',
        signal: caller ? AbortSignal.any([caller, stopped.signal]) : stopped.signal,
        dispatcher: pools.of(url),
      })
      const { status, statusText, headers } = answer
      if (redirects.has(status)) {
        await answer.body?.cancel()
        throw notFollowed(where, headers.get('location'), url)
      }
      const stop = (reason: Error) => stopped.abort(reason)
      const body = answer.body && boundedBody(answer.body as ReadableStream<Uint8Array>, { where, stop, isStoppedByCaller }, own)
      return new Response(withoutBody.has(status) ? null : body, { status, statusText, headers: [...headers] })
    } catch (error) {
      throw isStoppedByCaller() ? error : explainCall(error, where)
    } finally {
      clearTimeout(late)
    }
  }
}
