/** Room: the program that desktop clients start: it carries their messages to the service. It imports only events, basics and egress. */

import { isObject } from '../../../events/common.js'
import type { Transport } from '../../basics/fetch-from.js'
import { limits } from '../../basics/limits.js'
import { EventData } from '../../egress/event-data.js'
import { messageHeaders } from './message-headers.js'

/** Returns a connection to the service; called again after a failure. @throws Error with the reason if there is no connection */
type Connector = () => Promise<{ fetch: Transport }>

type Id = string | number

const idOf = (message: unknown): Id | undefined => {
  const id: unknown = isObject(message) ? message['id'] : undefined
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}

const methodOf = (message: unknown): unknown => (isObject(message) ? message['method'] : undefined)

const failure = (code: number, message: string, id: Id | undefined): string =>
  JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: id ?? null })

const [parseError, ownError] = [-32_700, -32_000]

const parsed = (text: string): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

const unauthorized = 401

/** Whether a request has not reached the service, because nothing answers at its address. */
const isUnsent = (error: unknown): boolean => {
  const cause: unknown = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && Reflect.get(cause, 'code') === 'ECONNREFUSED'
}

/**
 * Relays messages between a client on standard input and output and the service's address for MCP. It keeps the state of one client: the
 * agreed revision, and its session. The answer to a message reports any failure of that message.
 */
export class Relay {
  readonly #running = new Map<Id, AbortController>()
  readonly #ending = new Set<Promise<void>>()
  #server: Promise<{ fetch: Transport }> | undefined
  #agreed: Record<string, string> = {}

  constructor(
    private readonly connect: Connector,
    private readonly write: (line: string) => void,
  ) {}

  /** Takes a line from the client. Writes its answer when it arrives. */
  take(line: string): void {
    if (line === '') return
    const message = parsed(line)
    if (!message) this.write(failure(parseError, 'the line is not JSON', undefined))
    // In every revision, closing a request tells the service that its call is cancelled.
    else if (methodOf(message.value) === 'notifications/cancelled') this.#cancel(message.value)
    else if (this.#ending.size < limits.mcpRelayMaxRequests) this.#begin(line, message.value)
    else this.write(failure(ownError, `${limits.mcpRelayMaxRequests} messages are being answered; send fewer at once`, idOf(message.value)))
  }

  #begin(line: string, message: unknown): void {
    const ended = this.#relay(line, message).finally(() => this.#ending.delete(ended))
    this.#ending.add(ended)
  }

  refuseLong(): void {
    this.write(failure(parseError, `a line has more than ${limits.bodyMaxBytes} bytes`, undefined))
  }

  /** Resolves when every message has its answer. */
  async done(): Promise<void> {
    while (this.#ending.size > 0) await Promise.all(this.#ending)
  }

  #cancel(message: unknown): void {
    const params: unknown = isObject(message) ? message['params'] : undefined
    const id = idOf({ id: isObject(params) ? params['requestId'] : undefined })
    if (id !== undefined) this.#running.get(id)?.abort()
  }

  async #relay(line: string, message: unknown): Promise<void> {
    const id = idOf(message)
    const leave = new AbortController()
    if (id !== undefined) this.#running.set(id, leave)
    try {
      const response = await this.#post(line, message, leave.signal)
      await this.#tell(response, message)
    } catch (error) {
      // A cancelled call needs no answer.
      if (leave.signal.aborted || methodOf(message) === undefined) return
      const reason = error instanceof Error ? error.message : String(error)
      if (id !== undefined) this.write(failure(ownError, `the service did not answer: ${reason}`, id))
    } finally {
      if (id !== undefined && this.#running.get(id) === leave) this.#running.delete(id)
    }
  }

  async #post(body: string, message: unknown, signal: AbortSignal): Promise<Response> {
    const own = messageHeaders(message)
    const headers = {
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      ...(Object.keys(own).length > 0 ? own : this.#agreed),
    }
    const init = { method: 'POST', headers, body, signal }
    const send = async () => (await this.#connected()).fetch('/mcp', init)
    try {
      const response = await send()
      if (response.status !== unauthorized) return response
      // The service was restarted, and no longer knows the login.
      await response.body?.cancel()
    } catch (error) {
      // A message that may have arrived is not sent again: the service could execute it twice.
      if (signal.aborted || !isUnsent(error)) throw error
    }
    // The service may have another address by now.
    this.#server = undefined
    return send()
  }

  #connected(): Promise<{ fetch: Transport }> {
    const server = (this.#server ??= this.connect())
    server.catch(() => {
      if (this.#server === server) this.#server = undefined
    })
    return server
  }

  async #tell(response: Response, message: unknown): Promise<void> {
    const type = response.headers.get('content-type') ?? ''
    if (response.ok && type.startsWith('text/event-stream') && response.body) {
      const events = new EventData()
      const body: AsyncIterable<Uint8Array> = response.body
      for await (const piece of body) for (const data of events.read(piece)) this.#say(data, response, message)
      return
    }
    const text = await response.text()
    const id = idOf(message)
    if (response.ok) {
      if (text !== '') this.#say(text, response, message)
    } else if (id !== undefined) this.write(JSON.stringify(refused(text, response.status, id)))
  }

  /** Writes an answer. The answer to `initialize` contains values that later messages of the client must repeat. */
  #say(text: string, response: Response, message: unknown): void {
    const answer = parsed(text)?.value
    if (answer === undefined) return
    if (methodOf(message) === 'initialize') this.#agree(answer, response)
    this.write(JSON.stringify(answer))
  }

  #agree(answer: unknown, response: Response): void {
    const result: unknown = isObject(answer) ? answer['result'] : undefined
    const version: unknown = isObject(result) ? result['protocolVersion'] : undefined
    const session = response.headers.get('mcp-session-id')
    this.#agreed = {
      ...(typeof version === 'string' && { 'mcp-protocol-version': version }),
      ...(session !== null && { 'mcp-session-id': session }),
    }
  }
}

/** A refusal of the service, as the answer to the message; it may be a problem in the form of REST. */
const refused = (text: string, status: number, id: Id): object => {
  const body = parsed(text)?.value
  const error: unknown = isObject(body) ? body['error'] : undefined
  if (isObject(error)) return { jsonrpc: '2.0', error, id }
  const [title, detail, hint] = ['title', 'detail', 'hint'].map((name) => (isObject(body) ? body[name] : undefined))
  const said = [title, detail, hint].filter((part) => typeof part === 'string').join(': ')
  return { jsonrpc: '2.0', error: { code: ownError, message: said === '' ? `the service answered with status ${status}` : said }, id }
}
