import type { Dispatcher, RequestInit as UndiciInit } from 'undici'

let patient: Dispatcher | undefined

/**
 * A `fetch` that waits as long as the service works. The service ends each request itself, and some take longer than the five minutes
 * after which Node's own `fetch` gives up: reruns of many answers, or an erasure for which all nodes have to remove the data.
 *
 * @example await patientFetch('http://127.0.0.1:47334/api/status', {})
 */
export const patientFetch = async (url: string, init: RequestInit): Promise<Response> => {
  const { Agent, fetch } = await import('../../egress/http-client.js')
  patient ??= new Agent({ headersTimeout: 0, bodyTimeout: 0 })
  const answer = await fetch(url, { ...(init as unknown as UndiciInit), dispatcher: patient })
  const { body, status, statusText, headers } = answer
  return new Response(body as ReadableStream<Uint8Array> | null, { status, statusText, headers: [...headers] })
}
