import { get, type IncomingMessage } from 'node:http'

export type Message = { id: string; event: string; data: string }

/**
 * Reads an event stream by the rules of the HTML standard (9.2.6): lines end with CR LF, LF or CR; an empty line dispatches a message; a
 * message without data only changes the last id; a message without a final empty line is dropped.
 */
export class EventStreamParser {
  lastEventId = ''
  retry: number | undefined
  comments = 0
  readonly messages: Message[] = []
  readonly #decoder = new TextDecoder('utf-8') // it removes a byte order mark
  #line = ''
  #afterCr = false
  #data = ''
  #event = ''
  #id: string

  constructor(lastEventId = '') {
    this.lastEventId = this.#id = lastEventId
  }

  /** Whether a message or line has begun and is not complete. */
  get isWithin(): boolean {
    return this.#line !== '' || this.#data !== ''
  }

  push(bytes: Uint8Array): void {
    for (const char of this.#decoder.decode(bytes, { stream: true })) {
      if (this.#afterCr && char === '\n') {
        this.#afterCr = false
        continue
      }
      this.#afterCr = char === '\r'
      if (char !== '\r' && char !== '\n') this.#line += char
      else {
        this.#process(this.#line)
        this.#line = ''
      }
    }
  }

  #process(line: string): void {
    if (line === '') {
      this.#dispatch()
      return
    }
    const colon = line.indexOf(':')
    if (colon === 0) {
      this.comments += 1
      return
    }
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') this.#event = value
    else if (field === 'data') this.#data += `${value}\n`
    else if (field === 'id') {
      if (!value.includes('\0')) this.#id = value
    } else if (field === 'retry') {
      if (/^\d+$/.test(value)) this.retry = Number(value)
    } else throw new Error(`a field that the standard does not have: ${field}`)
  }

  #dispatch(): void {
    this.lastEventId = this.#id
    if (this.#data !== '')
      this.messages.push({ id: this.#id, event: this.#event === '' ? 'message' : this.#event, data: this.#data.slice(0, -1) })
    this.#data = ''
    this.#event = ''
  }
}

export type Connection = { status: number; response: IncomingMessage; parser: EventStreamParser; cut: () => void; ended: Promise<void> }

/** Opens a stream; the parser receives its messages until the stream is cut. */
export const connect = (url: string, { lastEventId = '', headers = {} }: { lastEventId?: string; headers?: Record<string, string> } = {}) =>
  new Promise<Connection>((resolve, reject) => {
    const request = get(url, {
      agent: false,
      headers: { accept: 'text/event-stream', ...(lastEventId !== '' && { 'last-event-id': lastEventId }), ...headers },
    })
    request.once('error', reject)
    request.once('response', (response) => {
      request.on('error', () => undefined)
      const parser = new EventStreamParser(lastEventId)
      response.on('data', (bytes: Buffer) => parser.push(bytes))
      const ended = new Promise<void>((done) => {
        response.on('error', () => undefined)
        response.once('close', () => done())
      })
      resolve({ status: response.statusCode ?? 0, response, parser, cut: () => request.destroy(), ended })
    })
  })
