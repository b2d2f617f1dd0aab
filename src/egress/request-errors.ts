import { errorCode, Problem } from '../basics/errors.js'

/** A refused call, or a failed call. */
export const callFailed = (title: string, detail: string, hint: string): Problem =>
  new Problem('connection_failed', title, detail, { hint })

const neverSent = new WeakSet<Problem>()

/** Marks the failure of a call for which no connection was made, so that nothing of it was sent. */
export const beforeSending = (problem: Problem): Problem => {
  neverSent.add(problem)
  return problem
}

/**
 * Whether a call failed before anything of it was sent. Otherwise nobody knows whether it arrived.
 *
 * @example wasNeverSent(await call(url).catch((error) => error))
 */
export const wasNeverSent = (problem: Problem): boolean => neverSent.has(problem)

/** The connection ended before the answer. */
export class ConnectionLost extends Problem {
  constructor(where: string) {
    super('connection_failed', 'Connection lost', `${where} broke off the connection`, { hint: 'Try again.' })
  }
}

/** The answer has more bytes than the limit. */
export class AnswerTooLarge extends Problem {
  constructor(where: string) {
    super('connection_failed', 'Answer too large', `${where} answers with more bytes than are read`, { hint: 'Ask for less.' })
  }
}

/** An error, its cause, and so on. Errors may come from other realms, where `instanceof` fails, so their members are tested. */
const causes = function* (error: unknown): Generator<object> {
  let [cause, depth] = [error, 0]
  for (; typeof cause === 'object' && cause !== null && depth < 8; depth++) {
    yield cause
    cause = Reflect.get(cause, 'cause')
  }
}

const isTls = (code: string): boolean => /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_|EPROTO$)/.test(code)
const isNotHttp = (code: string): boolean => /^(?:HPE_|UND_ERR_HEADERS_OVERFLOW$)/.test(code)

/**
 * The reason of a failed call. No sentence contains the path, the query or the headers of the call, because they may contain keys.
 *
 * @example explainCall(error, 'api.example.com:443').detail // 'api.example.com:443 broke off the connection'
 */
export const explainCall = (error: unknown, where: string): Problem => {
  const chain = [...causes(error)]
  const problem = chain.find((cause) => cause instanceof Problem)
  if (problem) return problem
  const code = chain.map(errorCode).findLast((found) => found !== '') ?? ''
  if (isTls(code))
    return callFailed(
      'TLS failed',
      `${where} cannot be trusted (${code})`,
      'Name the host that its certificate is for; NODE_EXTRA_CA_CERTS adds authorities.',
    )
  if (isNotHttp(code)) return callFailed('Not understood', `${where} does not answer in HTTP`, 'Check the protocol, the host and the port.')
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return new AnswerTooLarge(where)
  if (code !== '' || chain.length > 1) return new ConnectionLost(where)
  return new Problem('wrong_arguments', 'Wrong arguments', 'The call cannot be sent: HTTP cannot carry its method, a header or its body', {
    hint: 'Headers hold single lines of Latin characters.',
  })
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** The refusal of a redirect; undefined for any other answer. */
export const redirectOf = (status: number, location: string | null, { url, where }: { url: URL; where: string }): Problem | undefined => {
  if (!redirects.has(status)) return undefined
  const to = location !== null && URL.canParse(location, url.href) ? ` to ${new URL(location, url.href).host}` : ''
  return callFailed(
    'Redirected',
    `${where} answers with a redirect${to}, and redirects are not followed`,
    'Name the address that answers itself; https instead of http is a common reason.',
  )
}

/** The error of a call whose headers did not arrive in time. */
export const noAnswerIn = (where: string, ms: number): Problem =>
  callFailed('No answer', `${where} did not answer within ${ms} ms`, 'Try again later.')

/** The error of a call whose body stopped arriving. */
export const stoppedInTheMiddle = (where: string, stallMs: number): Problem =>
  callFailed(
    'No answer',
    `${where} stopped in the middle of its answer`,
    `It had ${stallMs} ms for the next part. Ask it for less at a time, or look there whether it is overloaded.`,
  )
