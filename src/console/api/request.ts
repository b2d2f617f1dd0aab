/** Room: the requests of the console to the service. It imports no other room. */

import { signal } from '@preact/signals'
import { isFromProxy, isReachable, setAway, untilIs } from './away.js'
import { joined } from './joined.js'
import { chunksOf } from './lines.js'
import { sendForm } from './upload-request.js'
import { apiUrl } from './url.js'
import { ofReading, ofWriting, SilenceTimer } from './silence-timer.js'

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

/** What to do without a whole answer. A request that changes something may have done so. */
const hintWithoutAnswer = (isReading: boolean): string =>
  isReading ? 'Try it again.' : 'It may have been done all the same: look before you send it again.'

export const brokenOffError = (isReading = true): ApiError =>
  new ApiError({
    ...{ status: 0, detail: 'the connection to the service broke off before the answer was whole', isOfNetwork: true },
    hint: hintWithoutAnswer(isReading),
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
  /** Whether the request changes nothing, such as a dry run; by default a GET. Without an answer it may be sent again. */
  isReading?: boolean
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

/** The error of a request that was not waited for any more. */
export const silentError = (isReading: boolean): ApiError =>
  new ApiError({
    ...{ status: 0, detail: 'no answer came from the service', isOfNetwork: true },
    hint: hintWithoutAnswer(isReading),
  })

/** What a proxy says if it does not reach the service. It also says 504 while a heavy statement runs, which is not sent by GET. */
const unreached = (method: string): readonly number[] => (method === 'GET' ? [502, 503, 504] : [502, 503])

const bodyOf = (body: unknown): Pick<RequestInit, 'body'> =>
  body === undefined ? {} : { body: body instanceof FormData || typeof body === 'string' ? body : JSON.stringify(body) }

const doesRead = ({ method = 'GET', isReading = method === 'GET' }: RequestOptions): boolean => isReading

const silenceTimerOf = (ask: RequestOptions): SilenceTimer => new SilenceTimer(doesRead(ask) ? ofReading : ofWriting)

/**
 * Sends a request to the service. What its caller reads of the answer must be watched as well, so the caller has the watch and ends it.
 * `json`, `text` and `bytes` do this for a whole answer.
 *
 * @example const response = await request('events/stream', { silence })
 * @throws ApiError when the service refuses, or cannot be reached; the reason of the signal when that was aborted
 */
export const request = async (path: string, { silence, ...ask }: RequestOptions & { silence: SilenceTimer }): Promise<Response> => {
  const { method = 'GET', body, headers = {}, signal: aborted, at, alsoAnswers, isUnkept = false, onSent } = ask
  const url = apiUrl(path)
  if (at !== undefined) url.searchParams.set('as_of', at)
  const isJson = body !== undefined && !(body instanceof FormData)
  let response: Response
  const sent = { Accept: 'application/json', ...(isJson && { 'Content-Type': 'application/json' }), ...headers }
  const signal = aborted ? AbortSignal.any([aborted, silence.signal]) : silence.signal
  const told = (share: number): void => {
    silence.begin()
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
    if (silence.isSilent) throw silentError(doesRead(ask))
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

/** A whole answer. */
type Whole = { bytes: Uint8Array<ArrayBuffer>; status: number; headers: Headers }

/** Sends a request and reads its whole answer, which is watched to its end. @throws as request */
const whole = async (path: string, ask: RequestOptions): Promise<Whole> => {
  const silence = silenceTimerOf(ask)
  try {
    const { body, status, headers } = await request(path, { ...ask, silence })
    const parts: Uint8Array[] = []
    if (body) for await (const part of chunksOf(body, () => silence.heard())) parts.push(part)
    return { bytes: joined(parts), status, headers }
  } catch (error) {
    if (silence.isSilent && ask.signal?.aborted !== true) throw silentError(doesRead(ask))
    throw isBrokenOff(error) ? brokenOffError(doesRead(ask)) : error
  } finally {
    silence.end()
  }
}

/** Sends a request and reads its answer as it is. @throws as request */
export const bytes = async (path: string, ask: RequestOptions = {}): Promise<Uint8Array<ArrayBuffer>> => (await whole(path, ask)).bytes

/** Sends a request and reads its answer as text. @throws as request */
export const text = async (path: string, ask: RequestOptions = {}): Promise<string> => new TextDecoder().decode(await bytes(path, ask))

type JsonAnswer<T> = { value: T; headers: Headers }

/**
 * Sends a request and reads its answer as JSON, and the headers of the answer.
 *
 * @example const { value, headers } = await jsonWithHeaders<Skill>('projects/shop/skills/rents')
 * @throws as request
 */
export const jsonWithHeaders = async <T>(path: string, ask: RequestOptions = {}): Promise<JsonAnswer<T>> => {
  const { bytes: written, status, headers } = await whole(path, ask)
  try {
    return { value: (written.length === 0 ? null : JSON.parse(new TextDecoder().decode(written))) as T, headers }
  } catch {
    throw new ApiError({
      status,
      detail: 'the answer is no JSON, or only a part of it',
      hint: 'Try it again. A proxy before the service may answer in its place.',
    })
  }
}

/**
 * Sends a request and reads its answer as JSON; null for an answer without a body.
 *
 * @example const projects = await json<{ name: string }[]>('projects')
 * @throws as request
 */
export const json = async <T>(path: string, ask: RequestOptions = {}): Promise<T> => (await jsonWithHeaders<T>(path, ask)).value
