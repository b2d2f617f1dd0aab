import { pipeline, type Readable } from 'node:stream'
import { constants, createBrotliDecompress, createUnzip } from 'node:zlib'
import { limits } from '../basics/limits.js'
import { AnswerTooLarge, callFailed, explainCall, noAnswerIn, redirectOf, stoppedInTheMiddle } from './request-errors.js'
import { readRequestUrl } from './request-url.js'
import type { CallLimits } from './fetch.js'
import { HttpPools, type HttpConnectOptions } from './http-pool.js'
import type { EgressPolicy } from './policy.js'

/** One request, with a text as its body. */
export type PostRequest = { headers: Readonly<Record<string, string>>; body: string; signal: AbortSignal }

/** An answer as it arrives. If the caller stops reading the body, the connection is closed. */
export type PostAnswer = {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: AsyncGenerator<Buffer, void, void>
}

type Bounds = { where: string; stop: (reason: Error) => void; isStoppedByCaller: () => boolean; onEnd: () => void }

const firstOf = (header: string | string[] | undefined): string | null => (Array.isArray(header) ? header[0] : header) ?? null

/** The bytes of a body, decompressed. */
const unpacked = (body: Readable, encoding: string | null, where: string): Readable => {
  const soon = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH }
  switch (encoding) {
    case null:
    case '':
    case 'identity':
      return body
    case 'gzip':
    case 'x-gzip':
    case 'deflate':
      return pipeline(body, createUnzip(soon), () => undefined)
    case 'br':
      return pipeline(body, createBrotliDecompress(), () => undefined)
    default:
      body.destroy()
      throw callFailed(
        'Not understood',
        `${where} answers in an encoding that was not asked for`,
        'Have it answer without Content-Encoding.',
      )
  }
}

/** The parts of a body. Their bytes, and the time without any bytes, have limits. Failures are problems. */
async function* bounded(
  body: Readable,
  { where, stop, isStoppedByCaller, onEnd }: Bounds,
  { maxBytes = limits.egressAnswerMaxBytes, stallMs = limits.egressStallTimeoutMs }: CallLimits,
): AsyncGenerator<Buffer, void, void> {
  let bytes = 0
  let isWaiting = true
  // The timer only runs while it waits for the server: a slow reader does not count as a slow server.
  const timer = setTimeout(() => {
    if (isWaiting) stop(stoppedInTheMiddle(where, stallMs))
  }, stallMs)
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      bytes += part.length
      if (bytes > maxBytes) throw new AnswerTooLarge(where)
      isWaiting = false
      yield part
      isWaiting = true
      timer.refresh()
    }
  } catch (error) {
    throw isStoppedByCaller() ? error : explainCall(error, where)
  } finally {
    clearTimeout(timer)
    onEnd()
  }
}

/**
 * POST to other services under the rules of `egressFetch`, for answers of many small parts. It does not use web streams, which need several
 * times as long for each part.
 *
 * @example
 * const post = egressPost(egressOf(config))
 * const { status, body } = await post('https://api.example.com/v1/chat/completions', { headers, body: text, signal })
 * for await (const bytes of body) …
 * @throws Problem egress_refused with the entry of EGRESS_ALLOW that allows the call; connection_failed; the reason of the caller's signal
 */
export const egressPost = (policy: EgressPolicy, connecting: HttpConnectOptions = {}, own: CallLimits = {}) => {
  const pools = new HttpPools(policy, connecting)
  const headersTimeoutMs = own.headersTimeoutMs ?? limits.egressHeadersTimeoutMs
  return async (address: string, { headers, body, signal }: PostRequest): Promise<PostAnswer> => {
    const { url, where } = readRequestUrl(address)
    signal.throwIfAborted()
    const stopped = new AbortController()
    const stop = (reason: unknown) => stopped.abort(reason)
    const leave = () => stop(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    const onEnd = () => signal.removeEventListener('abort', leave)
    const isStoppedByCaller = () => signal.aborted && stopped.signal.reason === signal.reason
    const late = setTimeout(() => stop(noAnswerIn(where, headersTimeoutMs)), headersTimeoutMs)
    try {
      const pool = await pools.of(url)
      const answer = await pool.request({
        ...{ origin: url.origin, path: url.pathname + url.search, method: 'POST', headers, body },
        signal: stopped.signal,
      })
      // The reader of the body gets its errors. If nobody reads it, an error event without a listener would end this process.
      answer.body.on('error', () => undefined)
      const redirect = redirectOf(answer.statusCode, firstOf(answer.headers['location']), { url, where })
      if (redirect) {
        answer.body.destroy()
        throw redirect
      }
      const whole = unpacked(answer.body, firstOf(answer.headers['content-encoding']), where)
      return {
        status: answer.statusCode,
        headers: answer.headers,
        body: bounded(whole, { where, stop, isStoppedByCaller, onEnd }, own),
      }
    } catch (error) {
      onEnd()
      throw isStoppedByCaller() ? error : explainCall(error, where)
    } finally {
      clearTimeout(late)
    }
  }
}
