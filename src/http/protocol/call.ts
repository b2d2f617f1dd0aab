import type { Request, Response } from 'express'
import { v7 as uuidv7 } from 'uuid'
import { unfitJson } from '../../../events/common.js'
import type { Source } from '../../../events/stored/envelope.js'
import { wrong } from '../../basics/errors.js'
import type { Execution } from '../../commands/ledger.js'
import type { Origin, Outcome } from '../../log/contract/log.js'
import { type Caller, clientAddress, networkOf, nobody } from './client.js'
import { expectsOf, prefersDryRun, readTraceparent } from './command-headers.js'
import type { QueryString } from './parameters.js'
import { entityTag, type Headers } from './reply.js'

const printable = /^[\x21-\x7e]{1,200}$/

const isPrintable = (value: string | undefined): value is string => value !== undefined && printable.test(value)

/** The signal of each call that was asked for it; many calls never are. */
const aborted = (response: Response): AbortSignal => {
  const left = new AbortController()
  const leave = () => {
    if (!response.writableFinished) left.abort()
  }
  if (response.closed) leave()
  else response.once('close', leave)
  return left.signal
}

/**
 * One request under way: what it says, who sends it, and what it has come to so far. It writes nothing: what is answered is the
 * reply that its route returns.
 */
export class Call {
  /** The client's `X-Request-Id`, or a new one. */
  readonly id: string
  /** Headers of the answer, whatever it turns out to be: a refusal has them, too. */
  readonly answerHeaders: Record<string, string> = { 'X-Content-Type-Options': 'nosniff' }
  /** Who sends it, once that is known. */
  caller: Caller = nobody
  /** The template of the route that it met, such as `/projects/:project`. */
  route: string | undefined
  /** The JSON value that came as its body; undefined when none did. */
  json: unknown
  /** Where the events stand that it produced. */
  positions: readonly number[] | undefined
  /** What its command would come to, of a dry run. */
  planned: Outcome | undefined
  readonly #traceparent: string | undefined
  #resource: Outcome['resource'] = null
  #idempotency: Execution | undefined
  #gone: AbortSignal | undefined
  #query: QueryString | undefined

  /** `incoming` has the body of an upload, as it comes. */
  constructor(
    readonly incoming: Request,
    private readonly response: Response,
  ) {
    const given = this.header('x-request-id')
    this.id = isPrintable(given) ? given : uuidv7()
    this.#traceparent = readTraceparent(this.header('traceparent'))
    const correlation = this.header('x-correlation-id')
    this.answerHeaders['X-Request-Id'] = this.id
    // What the client says of where the request belongs is told back.
    if (isPrintable(correlation)) this.answerHeaders['X-Correlation-Id'] = correlation
    if (this.#traceparent !== undefined) this.answerHeaders['traceparent'] = this.#traceparent
  }

  get method(): string {
    return this.incoming.method
  }

  /** The path without its prefix: `/projects/shop`. */
  get path(): string {
    return this.incoming.path
  }

  /** Its query string, parsed once. */
  get query(): QueryString {
    return (this.#query ??= this.incoming.query)
  }

  /** The address as it was sent, with its prefix and query string, in the form in which a header can have it. */
  get address(): URL {
    return new URL(this.incoming.originalUrl, 'http://localhost')
  }

  header(name: string): string | undefined {
    return this.incoming.get(name)
  }

  /** The first of these media types that the client takes; false when it takes none. */
  accepts(types: readonly string[]): string | false {
    return this.incoming.accepts([...types])
  }

  /**
   * Who sends it, for bounds that are each client's own: a login, since many may share an address; without one the address.
   *
   * @example call.client // 'address 203.0.113.7'
   */
  get client(): string {
    const { login } = this.caller
    return login === undefined ? `address ${networkOf(this.remoteAddress)}` : `login ${login}`
  }

  get remoteAddress(): string {
    return clientAddress(this.incoming)
  }

  /** Aborts when the client leaves before it has its answer. */
  get gone(): AbortSignal {
    return (this.#gone ??= aborted(this.response))
  }

  /** Whether this is how a call ends whose client has left. */
  left(error: unknown): boolean {
    return this.#gone?.aborted === true && error === this.#gone.reason
  }

  get isDryRun(): boolean {
    return prefersDryRun(this.header('prefer'))
  }

  /** Who asks, for the log. @throws Problem 400 when a header that belongs to it is ill-formed */
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
   * How its command is to be carried out: once for its key, only if things are as it expects, or for show. `body` stands for a
   * body that is not JSON.
   */
  execution(body?: unknown): Execution {
    const expects = expectsOf(this)
    return { ...this.idempotency(body), ...(expects && { expects }), ...(this.isDryRun && { dryRun: true }) }
  }

  /** Its `Idempotency-Key`, with what tells whether the same key comes with another request. */
  idempotency(body?: unknown): Execution {
    if (body !== undefined) return this.#readIdempotency(body)
    // It takes a while when the body is large, and is asked for several times.
    return (this.#idempotency ??= this.#readIdempotency(this.json ?? null))
  }

  /** Notes what it produced: for its log line, for the `ETag` of its answer, and in a dry run for the answer itself. */
  note(outcome: Outcome): Outcome {
    if (outcome.planned) {
      this.planned = outcome
      return outcome
    }
    if (outcome.resource) this.#resource = outcome.resource
    this.positions = [...(this.positions ?? []), ...outcome.positions]
    return outcome
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

  #readIdempotency(body: unknown): Execution {
    const key = this.#checked('idempotency-key')
    if (key === null) return {}
    // Also of what no schema asks for: a body nested deeply enough has no text.
    const unfit = unfitJson(body)
    if (unfit) throw wrong(`body: ${unfit[0]} ${unfit[1]}`)
    return { idempotency: { key, request: JSON.stringify([this.method, this.path, body]) } }
  }
}
