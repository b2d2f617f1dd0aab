import { diskFull, isDiskFull, isProblem, Problem, shortDetail, shortened, type ProblemCode } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { errorMessage } from '../../sql/contract/answer.js'
import { text, type Reply } from '../protocol/reply.js'
import type { Logger } from '../../basics/logger.js'

const fromBodyParser = (error: unknown): Problem | undefined => {
  if (!(error instanceof Error)) return undefined
  switch ('type' in error ? error.type : undefined) {
    case 'entity.too.large':
      return new Problem(
        'too_large',
        'Too large',
        `the body has more than ${'limit' in error ? String(error.limit) : limits.bodyMaxBytes} bytes`,
      )
    case 'encoding.unsupported':
      return new Problem('wrong_media_type', 'Unsupported media type', error.message, { hint: 'Send UTF-8 JSON.' })
    case 'request.aborted':
    case 'request.size.invalid':
      return new Problem('wrong_arguments', 'Bad Request', error.message)
    default:
      // An error without a type comes from decompressing the body.
      return 'status' in error && error.status === 400
        ? new Problem('wrong_arguments', 'Bad Request', 'the body does not fit its Content-Encoding')
        : undefined
  }
}

/** The problems that the operator must know. */
const faults: ReadonlySet<ProblemCode> = new Set(['internal', 'storage_failed', 'disk_full', 'analytics_unavailable'])

/** Converts an error to a Problem: the caller's faults unchanged, our own as `internal` without details. */
export const asProblem = (error: unknown): Problem => {
  if (isProblem(error)) return error
  if (isDiskFull(error)) return diskFull(error)
  if (error instanceof URIError) return new Problem('wrong_arguments', 'Bad Request', 'the path is not well-formed (a broken % escape)')
  const known = fromBodyParser(error)
  if (known) return known
  return new Problem('internal', 'Internal error', 'a fault of this service; nothing is known to be wrong with the request')
}

/** The JSON form of every error. */
const problemBody = (problem: Problem, request: string) => {
  const { cause: _, retryAfterSeconds: __, hint, ...extras } = problem.extras
  return {
    type: `urn:mindledger:problem:${problem.code}`,
    title: problem.title,
    status: problem.status,
    detail: shortDetail(problem.detail),
    code: problem.code,
    ...(hint !== undefined && { hint: shortened(hint) }),
    ...extras,
    request,
    timestamp: new Date().toISOString().replace('T', ' ').replace('Z', '000'),
  }
}

/**
 * The answer to a client that reads server-sent events: the problem as events, with its own status. Clients that ignore the status
 * would take a body without events for an empty answer. The last event is not JSON, so that clients that skip the first one stop there.
 */
export const problemAsEvents = (problem: Problem, request: string): Reply => {
  const body = problemBody(problem, request)
  const events = [JSON.stringify({ error: errorMessage(problem), ...body }), `${problem.title}: ${shortDetail(problem.detail)}`]
  return text('text/event-stream', events.map((data) => `event: error\ndata: ${data}\n\n`).join(''), { status: problem.status })
}

/** The answer to a request that was refused. */
export const problemReply = (problem: Problem, request: string): Reply => {
  const { retryAfterSeconds } = problem.extras
  return text('application/problem+json', JSON.stringify(problemBody(problem, request)), {
    status: problem.status,
    headers: retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) },
  })
}

/** Logs the problems that the operator must know, with their stack. */
export const logFault = (logger: Logger, error: unknown, problem: Problem, request: string): void => {
  if (faults.has(problem.code)) logger.error({ request, code: problem.code, err: error, cause: problem.extras['cause'] }, problem.title)
}
