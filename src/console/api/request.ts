/** Room: the requests of the console to the service. It imports no other room. */

import { signal } from '@preact/signals'
import { isFromProxy, isReachable, setAway, untilIs } from './away.js'
import { chunksOf } from './lines.js'
import { sendForm } from './upload-request.js'
import { apiUrl } from './url.js'
import { ofReading, ofWriting, Vigil } from './vigil.js'

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
  /** The watch over the request, if its answer is watched as well; the caller ends it. By default only the time until the answer begins is. */
  vigil?: Vigil | undefined
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

/** The error of a request that was not waited for any more. One that changes something may have done so. */
export const silentError = (isReading: boolean): ApiError =>
  new ApiError({
    ...{ status: 0, detail: 'no answer came from the service', isOfNetwork: true },
    hint: isReading ? 'Try it again.' : 'It may have been done all the same: look before you send it again.',
  })

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
export const request = async (path: string, ask: RequestOptions = {}): Promise<Response> => {
  if (ask.vigil) return watched(path, ask, ask.vigil)
  const vigil = vigilOf(ask)
  try {
    return await watched(path, ask, vigil)
  } finally {
    vigil.end()
  }
}

const vigilOf = ({ method = 'GET' }: RequestOptions): Vigil => new Vigil(method === 'GET' ? ofReading : ofWriting)

const watched = async (
  path: string,
  { method = 'GET', body, headers = {}, signal: aborted, at, alsoAnswers, isUnkept = false, onSent }: RequestOptions,
  vigil: Vigil,
): Promise<Response> => {
  const url = apiUrl(path)
  if (at !== undefined) url.searchParams.set('as_of', at)
  const isJson = body !== undefined && !(body instanceof FormData)
  let response: Response
  const sent = { Accept: 'application/json', ...(isJson && { 'Content-Type': 'application/json' }), ...headers }
  const signal = aborted ? AbortSignal.any([aborted, vigil.signal]) : vigil.signal
  const told = (share: number): void => {
    vigil.heard()
    onSent?.(share)
  }
  try {
    if (onSent && body instanceof FormData) response = await sendForm(url, { method, headers: sent, body, signal }, told)
    else
      response = await fetch(url, {
        ...{ method, headers: sent, signal },
        ...bodyOf(body),
        ...(isUnkept && { cache: 'no-store' as const }),
      })
  } catch (error) {
    aborted?.throwIfAborted()
    if (vigil.isSilent) throw silentError(method === 'GET')
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

/** Sends a request and reads its answer as text, and its status. @throws as request */
const answered = async (path: string, ask: RequestOptions): Promise<{ text: string; status: number }> => {
  const vigil = vigilOf(ask)
  try {
    const response = await request(path, { ...ask, vigil })
    const decoder = new TextDecoder()
    let text = ''
    if (response.body)
      for await (const chunk of chunksOf(response.body)) {
        vigil.heard()
        text += decoder.decode(chunk, { stream: true })
      }
    return { text: text + decoder.decode(), status: response.status }
  } catch (error) {
    if (vigil.isSilent && ask.signal?.aborted !== true) throw silentError((ask.method ?? 'GET') === 'GET')
    throw error
  } finally {
    vigil.end()
  }
}

/** Sends a request and reads its answer as text. @throws as request */
export const text = async (path: string, ask: RequestOptions = {}): Promise<string> => (await answered(path, ask)).text

/**
 * Sends a request and reads its answer as JSON; null for an answer without a body.
 *
 * @example const projects = await json<{ name: string }[]>('projects')
 * @throws as request
 */
export const json = async <T>(path: string, ask: RequestOptions = {}): Promise<T> => {
  const { text: written, status } = await answered(path, ask)
  try {
    return (written === '' ? null : JSON.parse(written)) as T
  } catch {
    throw new ApiError({
      status,
      detail: 'the answer is no JSON, or only a part of it',
      hint: 'Try it again. A proxy before the service may answer in its place.',
    })
  }
}
