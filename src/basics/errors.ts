/**
 * Room: parts that every room may need: errors, limits, times, the disk, lines of the service's log, and the end of long work. It imports
 * only events and basics/limits.
 */

import { limits } from './limits.js'

/**
 * All refusals in one place: a stable code, its HTTP status and its meaning. A `Problem` is rendered once, as `application/problem+json`
 * over REST and as `type: error` over SQL.
 */
export const problemCatalogue = {
  not_found: { status: 404, about: 'The resource that the request names does not exist.' },
  erased: { status: 410, about: 'The requested data was erased; the detail names the position of the event that says why.' },
  no_such_path: { status: 404, about: 'This service has no such address.' },
  method_not_allowed: { status: 405, about: 'The address exists, but not with this method.' },
  not_built: { status: 501, about: 'A path of MindsDB that this service does not have; the hint names what to use instead.' },
  already_exists: { status: 409, about: 'The name is taken in its project (names are compared without case).' },
  not_empty: { status: 409, about: 'The resource cannot be deleted while others depend on it.' },
  not_ready: { status: 409, about: 'The model is still being trained, or its training failed.' },
  missing_parameter: { status: 400, about: 'The wrapper object of the body is missing.' },
  missing_field: { status: 400, about: 'A required field of the body is missing.' },
  wrong_arguments: { status: 400, about: 'A value has the wrong type, shape, length or characters; the detail names the field or row.' },
  bad_json: { status: 400, about: 'The body is not well-formed JSON.' },
  bad_file: { status: 400, about: 'The uploaded file cannot be read as a table; the detail names the line and the reason.' },
  bad_statement: { status: 400, about: 'The SQL statement cannot be parsed, or this service does not have such a statement.' },
  refused_statement: { status: 400, about: 'The SQL statement asks for something that is not allowed here.' },
  query_failed: { status: 400, about: 'The query was valid, but failed while it ran, because of its data or types.' },
  query_limit: { status: 400, about: 'The query needed more time, memory or rows than its limit.' },
  answer_limit: { status: 400, about: 'The answer of an agent needed more steps, tokens or characters than its limit.' },
  answer_timeout: { status: 504, about: 'The answer of an agent took longer than its limit.' },
  tokens_spent: {
    status: 429,
    about:
      'The agent, or its project, has too few tokens of the day left. Try again after Retry-After seconds. If there is no Retry-After, the daily limit is too small for this request.',
  },
  connection_failed: {
    status: 502,
    about: 'A connected database or another service cannot be reached, refused the connection, or broke it off; the detail says why.',
  },
  llm_failed: {
    status: 502,
    about: 'A language model cannot be reached, refuses the request, or gives an answer that cannot be read; the detail says why.',
  },
  not_answered: { status: 502, about: 'The agent of a chatbot gave no answer to a message; the detail says why.' },
  egress_refused: { status: 403, about: 'The service may not call this host; the hint names the entry of EGRESS_ALLOW that allows it.' },
  runtime_missing: {
    status: 501,
    about: 'Imported models cannot be run: the optional package onnxruntime-node is not installed; the hint says how.',
  },
  unauthorized: { status: 401, about: 'Log in first: POST /api/login.' },
  bad_signature: { status: 401, about: 'The signature of a request to a webhook is missing, wrong or too old.' },
  foreign_origin: { status: 403, about: 'A web page of another host tried to write; ALLOWED_HOSTS names the hosts whose pages may write.' },
  too_many_attempts: { status: 429, about: 'Too many failed logins from this address; try again after Retry-After seconds.' },
  wrong_host: { status: 421, about: 'The Host header has a name that this service does not accept; ALLOWED_HOSTS adds names.' },
  wrong_media_type: { status: 415, about: 'The endpoint needs another Content-Type.' },
  too_large: { status: 413, about: 'The body, answer, event or file is larger than its limit.' },
  version_mismatch: { status: 412, about: 'The resource does not have the version that the request expects.' },
  idempotency_mismatch: { status: 422, about: 'The idempotency key was used before with another request.' },
  busy: {
    status: 503,
    about:
      'The service cannot do this now: too much is under way, the service is stopping, or an erasure or another change interfered. Send the request again, after Retry-After seconds if the answer names them.',
  },
  behind: {
    status: 503,
    about: 'This node does not have the newest events yet, or cannot find out whether it has; try again after Retry-After seconds.',
  },
  storage_failed: { status: 503, about: 'The log could not be written (a full disk, a failed commit). Nothing was recorded.' },
  outcome_unknown: {
    status: 503,
    about:
      'The storage did not say whether it recorded the request. Send it again with the same Idempotency-Key: then it is recorded once.',
  },
  disk_full: { status: 507, about: 'The disk of the data directory has no room for this. Nothing of it was recorded.' },
  analytics_unavailable: { status: 503, about: 'SQL is not available at the moment. REST is available.' },
  internal: { status: 500, about: 'A fault of this service. The log line with the same request id says more.' },
} as const satisfies Record<string, { status: number; about: string }>

export type ProblemCode = keyof typeof problemCatalogue

export type ProblemExtras = { hint?: string; retryAfterSeconds?: number; [member: string]: unknown }

/**
 * A refusal with a hint for the caller.
 *
 * @example throw new Problem('missing_field', 'Missing field', 'Missing "name" field for skill')
 */
export class Problem extends Error {
  readonly status: number

  constructor(
    readonly code: ProblemCode,
    readonly title: string,
    readonly detail: string,
    readonly extras: ProblemExtras = {},
  ) {
    super(detail)
    this.name = 'Problem'
    this.status = problemCatalogue[code].status
  }
}

/** A problem in the form for messages between processes. */
export type ProblemFields = { code: string; title: string; detail: string; [member: string]: unknown }

/** The fields of a problem, including its extra fields. */
export const fieldsOf = ({ code, title, detail, extras }: Problem): ProblemFields => ({ code, title, detail, ...extras })

/** The problem that has these fields. @example problemOf(fieldsOf(problem)) */
export const problemOf = ({ code, title, detail, ...extras }: ProblemFields): Problem =>
  new Problem(isProblemCode(code) ? code : 'internal', title, detail, extras)

/** Whether an error is a problem of the catalogue, whose texts are written for the client. */
export const isProblem = (error: unknown): error is Problem => error instanceof Problem

/** The codes of refusals that any limit may cause. */
const ofLimits: ReadonlySet<string> = new Set<ProblemCode>([
  ...(['query_limit', 'answer_limit', 'answer_timeout', 'tokens_spent', 'too_large', 'too_many_attempts', 'busy'] as const),
])

/**
 * The limit behind a refusal: its name if the problem has it, else the problem's code; undefined if no limit was the reason.
 *
 * @example limitOf(new Problem('bad_statement', 'Too long', 'at most 5 names are taken (dropMaxNames)')) // 'dropMaxNames'
 */
export const limitOf = ({ code, detail, extras: { limit } }: Problem): string | undefined => {
  const named = typeof limit === 'string' ? limit : /\((\w+)\)/.exec(detail)?.[1]
  if (named !== undefined && Object.hasOwn(limits, named)) return named
  return ofLimits.has(code) ? code : undefined
}

/** Whether a text, for example from another process, is the code of a problem. */
export const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(problemCatalogue, code)

const cut = (text: string, max: number): string => {
  if (text.length <= max) return text
  const kept = Math.floor(max * 0.8)
  return `${text.slice(0, kept).toWellFormed()} … ${text.slice(kept - max).toWellFormed()}`
}

/**
 * The reported text of an error. It may repeat text of a client, such as a name. Of a long line, or of many lines, it keeps only the
 * beginning and the end.
 */
export const shortened = (text: string): string =>
  text.length <= limits.errorLineMaxChars
    ? text
    : cut(
        text
          .split('\n')
          .map((line) => cut(line, limits.errorLineMaxChars))
          .join('\n'),
        limits.errorMaxChars,
      )

/**
 * The reported detail of a problem. All before the shown place of the statement counts as one line, because its line breaks may come from
 * a name or a value of the request.
 *
 * @example shortDetail('no such name (line 1, column 8)\n>SELECT nope\n--------^')
 */
export const shortDetail = (detail: string): string => {
  const place = detail.search(/\n>[^\n]*\n-+\^/)
  if (place === -1) return cut(detail, limits.errorLineMaxChars)
  return shortened(cut(detail.slice(0, place), limits.errorLineMaxChars) + detail.slice(place))
}

/** The name of a kind at the start of a sentence: `capital('knowledge_base')` → 'Knowledge base'. */
const capital = (kind: string) => (kind.charAt(0).toUpperCase() + kind.slice(1)).replaceAll('_', ' ')

/** `notFound('skill', 'sales')` → 404 "Skill not found"; with a position of the log, it says that the resource did not exist there. */
export const notFound = (kind: string, name: string | number, position?: number): Problem => {
  const absent = position === undefined ? 'does not exist' : `did not exist at position ${position} of the log`
  return new Problem('not_found', `${capital(kind)} not found`, `${capital(kind)} with name ${name} ${absent}`)
}

const conflictTitles: Record<string, string> = { view: 'Name conflict', database: 'Name conflict' }

/** The refusal for erased data: `erased('The content of files.homes', { position: 12, reason: null }, 'Upload it again.')` */
export const erased = (what: string, { position, reason }: { position: number; reason: string | null }, hint: string): Problem =>
  new Problem('erased', 'Erased', `${what} was erased (position ${position} of the log${reason === null ? '' : `: ${reason}`})`, {
    hint,
    erased_at: position,
  })

/** `conflict('agent', 'helper')` → 409 "Agent already exists". */
export const conflict = (kind: string, name: string, hint = 'Names are compared without case. Choose another one.'): Problem =>
  new Problem(
    'already_exists',
    conflictTitles[kind] ?? `${capital(kind)} already exists`,
    `${capital(kind)} with name ${name} already exists`,
    { hint },
  )

/** `missingField('type', 'skill')` → 400 "Missing field". */
export const missingField = (field: string, kind: string): Problem =>
  new Problem('missing_field', 'Missing field', `Missing "${field}" field for ${kind}`)

/** A value that is not valid: names the field or row, and what was expected. */
export const wrong = (detail: string, hint?: string): Problem =>
  new Problem('wrong_arguments', 'Wrong arguments', detail, hint === undefined ? {} : { hint })

/** The refusal of work that arrives while the service stops. */
export const stopping = (): Problem => new Problem('busy', 'Stopping', 'the service is stopping', { retryAfterSeconds: 5 })

const fullCodes: readonly string[] = ['ENOSPC', 'EDQUOT']

/**
 * The code of anything that was thrown, as the system, databases and libraries give one; '' without a code. It is recognized by its shape,
 * because errors may come from another realm.
 *
 * @example errorCode(error) // 'ENOENT'
 */
export const errorCode = (error: unknown): string => {
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' ? code : ''
}

/** The message of anything that was thrown. @example errorText(new Error('no room')) // 'no room' */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Whether an error says that a disk is full: a system error by its code, an error of DuckDB by its text. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && (fullCodes.includes(errorCode(error)) || /no space left on device|disk quota exceeded/i.test(error.message))

/** The disk has no room for a file: 507. */
export const diskFull = (cause: unknown): Problem =>
  new Problem('disk_full', 'No room on the disk', 'the disk of the data directory has no room for this; nothing of it was recorded', {
    hint: 'Free disk space, then try again. GET /api/log/storage shows what uses the space.',
    cause: errorText(cause),
  })
