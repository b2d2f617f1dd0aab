import type { RequestInit as UndiciInit } from 'undici'
import { limits } from '../basics/limits.js'
import { boundedBody, type BodyLimits } from './bounded-body.js'
import { explainCall, noAnswerIn, redirectOf } from './request-errors.js'
import { readRequestUrl } from './request-url.js'
import { HttpPools, type HttpConnectOptions } from './http-pool.js'
import type { EgressPolicy } from './policy.js'

/** The limits of one caller; the default is the service's own limit. */
export type CallLimits = BodyLimits & { headersTimeoutMs?: number }

const withoutBody: ReadonlySet<number> = new Set([204, 205, 304])

/** The platform's `Request` is another class than the library's. */
const asCall = (input: string | URL | Request, init: RequestInit): { text: string; init: RequestInit } => {
  if (!(input instanceof Request)) return { text: String(input), init }
  const { url, method, headers, body, signal } = input
  return { text: url, init: { method, headers, signal, ...(body && { body, duplex: 'half' }), ...init } }
}

/**
 * A `fetch` for calls to other services that the policy allows. For each connection, a host is resolved once, all its addresses are
 * checked, and the connection is made to a checked address; the certificate must be valid for the host. Redirects are refused. Three things
 * have limits (`egress…` in limits.ts): the time to the headers, the time between parts of the body, and the decompressed bytes of the
 * body. Answers are read as they arrive, and the caller's signal stops them at any time. No error contains the path, the query or a header.
 *
 * @example
 * const call = egressFetch(egressOf(config))
 * const answer = await call('https://api.example.com/v1/models', { headers: { authorization: 'Bearer k' }, signal })
 * @throws Problem egress_refused with the entry of EGRESS_ALLOW that allows the call; connection_failed; the reason of the caller's signal
 */
export const egressFetch = (policy: EgressPolicy, connecting: HttpConnectOptions = {}, own: CallLimits = {}): typeof globalThis.fetch => {
  const pools = new HttpPools(policy, connecting)
  const headersTimeoutMs = own.headersTimeoutMs ?? limits.egressHeadersTimeoutMs
  return async (input, given = {}) => {
    const { text, init } = asCall(input, given)
    const { url, where } = readRequestUrl(text)
    const stopped = new AbortController()
    const caller = init.signal ?? undefined
    const isStoppedByCaller = () => caller?.aborted === true && !stopped.signal.aborted
    const late = setTimeout(() => stopped.abort(noAnswerIn(where, headersTimeoutMs)), headersTimeoutMs)
    try {
      const [{ fetch }, dispatcher] = await Promise.all([import('./http-client.js'), pools.of(url)])
      const answer = await fetch(url, {
        ...(init as unknown as UndiciInit),
        redirect: 'manual',
        signal: caller ? AbortSignal.any([caller, stopped.signal]) : stopped.signal,
        dispatcher,
      })
      const { status, statusText, headers } = answer
      const redirect = redirectOf(status, headers.get('location'), { url, where })
      if (redirect) {
        await answer.body?.cancel()
        throw redirect
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
