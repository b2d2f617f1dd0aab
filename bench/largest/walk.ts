import { delayOf, type Delay } from '../harness/delay.js'
import type { Target } from '../harness/harness.js'
import type { Request } from './requests.js'

/** The result of a request, and how long it blocked others. */
export type Walked = Delay & { name: string; status: string; sent: number; got: number; tookMs: number; refusal: string }

/**
 * Sends one request with a share of its largest body, reads the whole answer unless that takes too long, and asks the probe in the server
 * how long the event loop was blocked.
 *
 * @example await walk(target, socket, request, { share: 1, patienceMs: 10_000 })
 */
export const walk = async (
  target: Target,
  socket: string,
  { name, method, path, body, headers, signed }: Request,
  { share, patienceMs }: { share: number; patienceMs: number },
): Promise<Walked> => {
  const text = body?.(share)
  const sent = signed && text !== undefined ? { ...headers, ...signed(text) } : headers
  await delayOf(socket)
  const began = performance.now()
  let [status, got, refusal] = ['no answer', 0, '']
  const signal = AbortSignal.timeout(patienceMs)
  try {
    const response = await fetch(target.url + path, { method, headers: sent, signal, ...(text !== undefined && { body: text }) })
    status = String(response.status)
    for await (const chunk of response.body ?? []) {
      got += (chunk as Uint8Array).length
      if (!response.ok && refusal === '')
        refusal = Buffer.from(chunk as Uint8Array)
          .toString()
          .slice(0, 300)
    }
  } catch (error) {
    if (!signal.aborted) throw error
    status += ', given up'
  }
  const tookMs = performance.now() - began
  return { ...(await delayOf(socket)), name, status, sent: text?.length ?? 0, got, tookMs, refusal }
}
