import { delayOf, type Delay } from '../harness/delay.js'
import type { Target } from '../harness/harness.js'
import type { Request } from './requests.js'

/** The result of a request, and how long it blocked others. `refusal` is the beginning of an answer that refuses it. */
export type Walked = Delay & { name: string; status: string; sent: number; got: number; tookMs: number; refusal: string }

/** Enough of an answer to tell what it is. */
const readChars = 2_000

/** How a route refuses in an answer with the status 200. */
const refusals: Readonly<Record<string, RegExp>> = {
  '/api/mcp': /"isError":true|"error":\{"code"/,
  '/api/sql/query': /^\{"type":"error"/,
}

/** Whether an answer refuses its request. */
const isRefusal = ({ path }: Request, isOk: boolean, text: string): boolean => !isOk || refusals[path]?.test(text) === true

/**
 * Sends one request with a share of its largest body, reads the whole answer unless that takes too long, and asks the probe in the server
 * how long the event loop was blocked.
 *
 * @example await walk(target, socket, request, { share: 1, patienceMs: 10_000 })
 */
export const walk = async (
  target: Target,
  socket: string,
  request: Request,
  { share, patienceMs }: { share: number; patienceMs: number },
): Promise<Walked> => {
  const { name, method, path, body, headers, signed, refill } = request
  await refill?.(target, share)
  const content = body?.(share)
  const sent = signed && typeof content === 'string' ? { ...headers, ...signed(content) } : headers
  await delayOf(socket)
  const began = performance.now()
  let [status, got, text, refusal] = ['no answer', 0, '', '']
  const signal = AbortSignal.timeout(Math.max(patienceMs, request.patienceMs ?? 0))
  try {
    const response = await fetch(target.url + path, { method, headers: sent, signal, ...(content !== undefined && { body: content }) })
    status = String(response.status)
    for await (const chunk of response.body ?? []) {
      got += (chunk as Uint8Array).length
      if (text.length < readChars) text += Buffer.from(chunk as Uint8Array).toString()
    }
    if (isRefusal(request, response.ok, text)) refusal = text.slice(0, 300)
  } catch (error) {
    if (!signal.aborted) throw error
    status += ', given up'
  }
  const tookMs = performance.now() - began
  return { ...(await delayOf(socket)), name, status, sent: content?.length ?? 0, got, tookMs, refusal }
}
