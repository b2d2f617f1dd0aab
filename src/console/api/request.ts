/** Room: the requests of the console to the service. It imports no other room. */

import { signal } from '@preact/signals'
import { isFromProxy, isReachable, setAway, untilIs } from './away.js'
import { sendForm } from './upload-request.js'
import { apiUrl } from './url.js'

type RefusalText = { status: number; detail: string; hint?: string | undefined; code?: string | undefined }

/** A refusal of the service in its own form: RFC 9457 with a hint. `status` is 0 when no answer came, or only a part of it. */
export class ApiError extends Error {
  readonly status: number
  readonly hint: string | undefined
  readonly code: string | undefined
  /** Whether the network is the reason: the service was not reached, or its answer broke off. */
  readonly isOfNetwork: boolean

  constructor({ status, detail, hint, code, isOfNetwork = false }: RefusalText & { isOfNetwork?: boolean }) {
    super(detail)
    this.name = 'ApiError'
    this.status = status
    this.hint = hint
    this.code = code
    this.isOfNetwork = isOfNetwork
  }
}

/** The messages of browsers for a connection that ended in the middle of an answer. */
const brokenOff = /^(?:network ?error|failed to fetch|load failed|error in (?:input|body) stream)/i

/** Whether an error comes from the network. Browsers report such errors as a TypeError. */
export const isBrokenOff = (error: unknown): error is TypeError => error instanceof TypeError && brokenOff.test(error.message)

export const brokenOffError = (): ApiError =>
  new ApiError({
    ...{ status: 0, detail: 'the connection to the service broke off before the answer was whole', hint: 'Try it again.' },
    isOfNetwork: true,
  })

/** Whether the service requires a login. The frame then shows the login page. */
export const loginNeeded = signal(false)

/** Resolves when no login is required any more, or when the signal is aborted. */
export const untilLoggedIn = (aborted: AbortSignal): Promise<void> => untilIs(loginNeeded, false, aborted)

export type RequestOptions = {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'
  /** An object is sent as JSON. */
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  /** A position or time to read at; none by default. */
  at?: string | undefined
  /** A status besides the successful ones that is an answer and not a refusal; a problem is always a refusal. */
  alsoAnswers?: number
  /** Whether the answer must be the service's own of now, and not one that the browser kept. */
  isUnkept?: boolean
  /** Gets the share of a form that is sent, from 0 to 1. */
  onSent?: ((share: number) => void) | undefined
}

/** The refusal in a response. */
export const refusalOf = async (response: Response): Promise<ApiError> => {
  const text = await response.text().catch(() => '')
  try {
    const said = JSON.parse(text) as { detail?: unknown; title?: unknown; hint?: unknown; code?: unknown }
    const detail = said.detail ?? said.title
    return new ApiError({
      status: response.status,
      detail: typeof detail === 'string' ? detail : `the service answered ${response.status}`,
      hint: typeof said.hint === 'string' ? said.hint : undefined,
      code: typeof said.code === 'string' ? said.code : undefined,
    })
  } catch {
    return new ApiError({ status: response.status, detail: `the service answered ${response.status} ${response.statusText}` })
  }
}

const awayError = (hint: string | undefined): ApiError =>
  new ApiError({ status: 0, detail: 'the service cannot be reached', hint, isOfNetwork: true })

/** What a proxy says if it does not reach the service. It also says 504 while a heavy statement runs, which is not sent by GET. */
const unreached = (method: string): readonly number[] => (method === 'GET' ? [502, 503, 504] : [502, 503])

const bodyOf = (body: unknown): Pick<RequestInit, 'body'> =>
  body === undefined ? {} : { body: body instanceof FormData || typeof body === 'string' ? body : JSON.stringify(body) }

/**
 * Sends a request to the service.
 *
 * @example const response = await request('projects', { at: '42' })
 * @throws ApiError when the service refuses, or cannot be reached; the reason of the signal when that was aborted
 */
export const request = async (
  path: string,
  { method = 'GET', body, headers = {}, signal: aborted, at, alsoAnswers, isUnkept = false, onSent }: RequestOptions = {},
): Promise<Response> => {
  const url = apiUrl(path)
  if (at !== undefined) url.searchParams.set('as_of', at)
  const isJson = body !== undefined && !(body instanceof FormData)
  let response: Response
  const sent = { Accept: 'application/json', ...(isJson && { 'Content-Type': 'application/json' }), ...headers }
  try {
    if (onSent && body instanceof FormData) response = await sendForm(url, { method, headers: sent, body, signal: aborted }, onSent)
    else
      response = await fetch(url, {
        method,
        headers: sent,
        ...bodyOf(body),
        ...(isUnkept && { cache: 'no-store' as const }),
        ...(aborted && { signal: aborted }),
      })
  } catch (error) {
    aborted?.throwIfAborted()
    setAway()
    throw awayError(error instanceof Error ? error.message : undefined)
  }
  const isOfProxy = isFromProxy(response)
  if (isOfProxy && unreached(method).includes(response.status)) {
    setAway()
    throw awayError(`A proxy answered ${response.status} in its place.`)
  }
  if (!isOfProxy) isReachable.value = true
  const isAnswer = response.status === alsoAnswers && response.headers.get('content-type')?.startsWith('application/json') === true
  if (response.ok || isAnswer) return response
  if (response.status === 401) loginNeeded.value = true
  throw await refusalOf(response)
}

/**
 * Sends a request and reads its answer as JSON; null for an answer without a body.
 *
 * @example const projects = await json<{ name: string }[]>('projects')
 * @throws as request
 */
export const json = async <T>(path: string, ask: RequestOptions = {}): Promise<T> => {
  const response = await request(path, ask)
  const text = await response.text()
  try {
    return (text === '' ? null : JSON.parse(text)) as T
  } catch {
    throw new ApiError({
      status: response.status,
      detail: 'the answer is no JSON, or only a part of it',
      hint: 'Try it again. A proxy before the service may answer in its place.',
    })
  }
}
