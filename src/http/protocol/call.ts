import type { Request, Response } from 'express'
import { v7 as uuidv7 } from 'uuid'
import { unfitJson } from '../../../events/common.js'
import type { Source } from '../../../events/stored/envelope.js'
import { wrong, type Problem } from '../../basics/errors.js'
import type { Execution } from '../../commands/ledger.js'
import type { Precondition } from '../../log/contract/precondition.js'
import type { Origin, Outcome } from '../../log/contract/log.js'
import { type Caller, clientAddress, networkOf, nobody } from './client.js'
import { expectsOf } from './conditional-requests.js'
import { positionHeader, prefersDryRun, readTraceparent } from './request-headers.js'
import type { QueryString } from './parameters.js'
import { entityTag, type Headers, type Reply } from './reply.js'

const printable = /^[\x21-\x7e]{1,200}$/

const isPrintable = (value: string | undefined): value is string => value !== undefined && printable.test(value)

/** Makes the abort signal of a call on demand: many calls never need it. */
const aborted = (response: Response): AbortSignal => {
  const left = new AbortController()
  const leave = () => {
    if (!response.writableFinished) left.abort()
  }
  if (response.closed) leave()
  else response.once('close', leave)
  return left.signal
}

/** Writes a refusal in a special form. */
export type Refusal = (problem: Problem, call: Call) => Reply

/** One request in progress: its content, its sender and its results so far. It writes no answer: the route returns the reply. */
export class Call {
  /** The client's `X-Request-Id`, or a new one. */
  readonly id: string
  /** Headers of every answer to this request, including a refusal. */
  readonly answerHeaders: Record<string, string> = { 'X-Content-Type-Options': 'nosniff' }
  /** The sender, once it is known. */
  caller: Caller = nobody
  /** The template of the matched route, such as `/projects/:project`. */
  route: string | undefined
  /** The name of the limit because of which it was refused. */
  limitHit: string | undefined
  /** The names of the parameters in the query string that the matched route takes. */
  parameters: readonly string[] = []
  /** The form of refusals of the matched route, if it is special. */
  refusal: Refusal | undefined
  /** The JSON value of the body; undefined without a body. */
  json: unknown
  /** The media type of its answer, once it is known. */
  answerType: string | undefined
  /** The outcome that its command would have, in a dry run. */
  planned: Outcome | undefined
  #positions: readonly number[] | undefined
  readonly #traceparent: string | undefined
  #resource: Outcome['resource'] = null
  #idempotency: Execution | undefined
  #gone: AbortSignal | undefined
  #query: QueryString | undefined
  #isDryRun: boolean | undefined
  #expects: { versions: Precondition | undefined } | undefined

  /** `incoming` is also the stream of an upload's body. */
  constructor(
    readonly incoming: Request,
    private readonly response: Response,
  ) {
    const given = this.header('x-request-id')
    this.id = isPrintable(given) ? given : uuidv7()
    this.#traceparent = readTraceparent(this.header('traceparent'))
    const correlation = this.header('x-correlation-id')
    this.answerHeaders['X-Request-Id'] = this.id
    // The answer repeats the client's correlation id and traceparent.
    if (isPrintable(correlation)) this.answerHeaders['X-Correlation-Id'] = correlation
    if (this.#traceparent !== undefined) this.answerHeaders['traceparent'] = this.#traceparent
  }

  get method(): string {
    return this.incoming.method
  }

  /** The path without its prefix: `/projects/shop`. */
  get path(): string {
    const { url } = this.incoming
    const end = url.search(/[?#]/)
    return end < 0 ? url : url.slice(0, end)
  }

  /** Its query string, parsed once. */
  get query(): QueryString {
    return (this.#query ??= this.incoming.url.includes('?') ? this.incoming.query : {})
  }

  /** The URL as it was sent, with prefix and query string, encoded so that it fits in a header. */
  get address(): URL {
    return new URL(this.incoming.originalUrl, 'http://localhost')
  }

  /** A header of the request, its name in any case; undefined when it was not sent. */
  header(name: string): string | undefined {
    const value = this.incoming.headers[name.toLowerCase()]
    return typeof value === 'string' ? value : undefined
  }

  /** The media type that the client prefers among these; false when it accepts none. */
  accepts(types: readonly string[]): string | false {
    return this.incoming.accepts([...types])
  }

  /**
   * The client, for limits per client: the login, because many users may share an address; without a login, the address.
   *
   * @example call.client // 'address 203.0.113.7'
   */
  get client(): string {
    const { login } = this.caller
    return login === undefined ? `address ${this.network}` : `login ${login}`
  }

  /** Its address for limits per address: a whole network of IPv6. */
  get network(): string {
    return networkOf(clientAddress(this.incoming))
  }

  /** Aborts when the client disconnects before its answer is complete. */
  get gone(): AbortSignal {
    return (this.#gone ??= aborted(this.response))
  }

  /** Whether this error only says that the client disconnected. */
  left(error: unknown): boolean {
    return this.#gone?.aborted === true && error === this.#gone.reason
  }

  /** Whether the client wants a dry run, read once. @throws Problem 400 when the preference is ill-formed */
  get isDryRun(): boolean {
    return (this.#isDryRun ??= prefersDryRun(this.header('prefer')))
  }

  /** The versions that the client expects of the resource, read once. @throws Problem 400 when the header is ill-formed */
  expects(): Precondition | undefined {
    return (this.#expects ??= { versions: expectsOf(this) }).versions
  }

  /** The origin of its events, for the log. @throws Problem 400 when one of its headers is ill-formed */
  origin(source: Source = 'rest'): Origin {
    return {
      actor: this.caller.actor ?? 'anonymous',
      source,
      request: this.id,
      correlation: this.#checked('x-correlation-id'),
      causation: this.#checked('x-causation-id'),
      ...(this.#traceparent !== undefined && { traceparent: this.#traceparent }),
    }
  }

  /**
   * How to execute its command: its idempotency key, its expected versions, or a dry run. `body` stands for a body that is not JSON, and
   * for the parameters in the query string.
   */
  execution(body?: unknown): Execution {
    const expects = this.expects()
    return { ...this.idempotency(body), ...(expects && { expects }), ...(this.isDryRun && { dryRun: true }) }
  }

  /** Its `Idempotency-Key`, with the request's text: the same key with another request is refused. */
  idempotency(body?: unknown): Execution {
    if (body !== undefined) return this.#readIdempotency(body)
    // Kept, because a large body takes a while and several callers need the result.
    return (this.#idempotency ??= this.#readIdempotency(this.json ?? null, this.#sentParameters()))
  }

  /** Notes the outcome: for the log line, for the `ETag` of the answer, and in a dry run for the answer itself. */
  note(outcome: Outcome): Outcome {
    if (outcome.planned) {
      this.planned = outcome
      return outcome
    }
    if (outcome.resource) this.#resource = outcome.resource
    this.positions = [...(this.#positions ?? []), ...outcome.positions]
    return outcome
  }

  /** The positions of the events that it produced: the log line has them all, and a header of the answer the newest. */
  get positions(): readonly number[] | undefined {
    return this.#positions
  }

  set positions(positions: readonly number[] | undefined) {
    this.#positions = positions
    const newest = positions?.at(-1)
    if (newest !== undefined) this.answerHeaders[positionHeader] = String(newest)
  }

  /** Forbids caches to store the answer, even a refusal, because it may contain a token. */
  forbidCaches(): void {
    this.answerHeaders['Cache-Control'] = 'no-store'
  }

  /** The `ETag` of the resource that it wrote. */
  get tag(): Headers {
    return this.#resource ? entityTag(this.#resource) : {}
  }

  #checked(name: string): string | null {
    const value = this.header(name)
    if (value === undefined) return null
    if (!printable.test(value)) throw wrong(`the header ${name} must be 1 to 200 printable ASCII characters without spaces`)
    return value
  }

  /** The parameters that the route takes, in its order. */
  #sentParameters(): [string, unknown][] {
    return this.parameters.flatMap((name): [string, unknown][] => (this.query[name] === undefined ? [] : [[name, this.query[name]]]))
  }

  #readIdempotency(body: unknown, parameters: readonly [string, unknown][] = []): Execution {
    const key = this.#checked('idempotency-key')
    if (key === null) return {}
    // This also checks members without a schema: JSON.stringify fails on a body that is nested too deeply.
    const unfit = unfitJson(body)
    if (unfit) throw wrong(`body: ${unfit[0]} ${unfit[1]}`)
    // Without parameters the text stays as it was in earlier releases, whose keys may still be known.
    const request = [this.method, this.path, body, ...(parameters.length > 0 ? [parameters] : [])]
    return { idempotency: { key, request: JSON.stringify(request) } }
  }
}
