import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Asked = { path: string; headers: IncomingMessage['headers']; body: Record<string, unknown> }
export type Answering = (response: ServerResponse, asked: Asked, count: number) => unknown

/** A server whose answers, right or wrong, a test chooses. */
export class RawServer {
  readonly asked: Asked[] = []
  readonly #open = new Set<ServerResponse>()
  answer: Answering = (response) => response.end()
  readonly #server = createServer((request, response) => {
    this.#open.add(response.once('close', () => this.#open.delete(response)))
    this.#take(request, response).catch(() => undefined)
  })

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const asked = {
      path: request.url ?? '',
      headers: request.headers,
      body: JSON.parse(text === '' ? '{}' : text) as Record<string, unknown>,
    }
    this.asked.push(asked)
    response.on('error', () => undefined)
    await this.answer(response, asked, this.asked.length)
  }

  async start(): Promise<void> {
    // It would close an idle connection over which a request may just be on its way, and the request would come twice.
    this.#server.keepAliveTimeout = 0
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Waits until no connection has an unfinished answer. */
  async isLeft(): Promise<void> {
    await Promise.all([...this.#open].map((response) => once(response, 'close')))
  }

  reset(): void {
    this.asked.length = 0
    this.answer = (response) => response.end()
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

/** Begins a stream of events. */
export const stream = (response: ServerResponse): ServerResponse => response.writeHead(200, { 'content-type': 'text/event-stream' })

/** One event of such a stream. */
export const event = (data: unknown): string => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

/** A chunk of a chat completion. */
export const chunk = (delta: object, more: object = {}): string =>
  event({ id: 'x', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...more }] })

/** The end of a chat completion. */
export const last = (finish = 'stop', more: object = {}): string =>
  event({ id: 'x', model: 'm', choices: [{ index: 0, delta: {}, finish_reason: finish }], ...more }) + event('[DONE]')
