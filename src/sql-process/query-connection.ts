import { connect, type Socket } from 'node:net'
import { Problem } from '../basics/errors.js'
import { decodeFrame, encodeMessage, errorFields, FrameCutter, type QueryQuestion, type LineFrame } from './contract/frames.js'
import type { BlobQuestion, Question, ServerAnswer } from '../sql/contract/connected.js'
import type { SelectRequest } from '../sql/contract/select.js'

export type ConnectionEvents = {
  /** The execution of a query begins. */
  onBegun: (query: number) => void
  /** A query has ended and holds nothing any more. */
  onEnded: (query: number) => void
  /** A query asks about a connected database, a knowledge base, or a blob. */
  onAsked: (question: Question | BlobQuestion, asking: { query: number; request: SelectRequest }) => Promise<ServerAnswer>
  /** The line can take the next query. */
  onIdle: (line: QueryConnection) => void
  /** The other end is gone. It is unknown whether the query of this line has ended. */
  onClosed: (line: QueryConnection, query: number | undefined) => void
}

/** The answer to one query, from its line. The line waits while nobody reads. */
export class Answer {
  readonly #frames: LineFrame[] = []
  #reader: { resolve: (frame: LineFrame) => void; reject: (reason: unknown) => void } | undefined
  #failure: { reason: Error } | undefined

  constructor(
    private readonly flow: { pause: () => void; resume: () => void },
    private readonly cancel: () => void,
  ) {}

  /** The next frame of the answer. @throws the reason when it was stopped, or the line is lost */
  next(): Promise<LineFrame> {
    const frame = this.#frames.shift()
    if (frame) {
      // A line whose answer has come completely is free for the next one.
      if (this.#frames.length === 0 && !this.#failure) this.flow.resume()
      return Promise.resolve(frame)
    }
    if (this.#failure) return Promise.reject(this.#failure.reason)
    return new Promise((resolve, reject) => (this.#reader = { resolve, reject }))
  }

  /** Stops reading, and tells the process to end the query. */
  stop(reason: unknown): void {
    if (this.#failure) return
    this.fail(reason)
    this.#frames.length = 0
    this.flow.resume()
    this.cancel()
  }

  /** Whether nobody reads it any more. */
  get isStopped(): boolean {
    return this.#failure !== undefined
  }

  /** Takes a frame in. */
  give(frame: LineFrame): void {
    if (this.#failure) return
    const reader = this.#reader
    if (reader) {
      this.#reader = undefined
      reader.resolve(frame)
    } else {
      this.#frames.push(frame)
      this.flow.pause()
    }
  }

  /** No more frames will come. Frames that arrived before can still be read. */
  fail(reason: unknown): void {
    if (this.#failure) return
    // A reason may be no Error; it is thrown as it came.
    this.#failure = { reason: reason as Error }
    this.#reader?.reject(reason)
    this.#reader = undefined
  }
}

const stoppedMeanwhile = () => new Problem('query_failed', 'Query cancelled', 'The query was stopped before it asked.')

/** A connection to the SQL process, for one query at a time. It is called a line, because SQL has other connections. */
export class QueryConnection {
  readonly #socket: Socket
  readonly #cutter = new FrameCutter()
  #current: { query: number; request: SelectRequest; answer: Answer } | undefined

  constructor(
    path: string,
    private readonly events: ConnectionEvents,
  ) {
    this.#socket = connect({ path })
    this.#socket.on('data', (chunk) => this.#hear(chunk))
    // A line that fails is closed, too.
    this.#socket.on('error', () => undefined)
    this.#socket.on('close', () => events.onClosed(this, this.#end(new Error('the line to the SQL process was lost'))))
  }

  /** Sends a query; the line must be idle. */
  ask(query: number, request: SelectRequest): Answer {
    const flow = { pause: () => this.#socket.pause(), resume: () => this.#socket.resume() }
    const answer = new Answer(flow, () => {
      if (this.#current?.query === query) this.#socket.write(encodeMessage({ cancel: query }))
    })
    this.#current = { query, request, answer }
    this.#socket.write(encodeMessage({ run: query, request }))
    return answer
  }

  /** Ends the line, even if it waits for its reader. */
  close(): void {
    this.#socket.destroy()
  }

  #hear(chunk: Buffer): void {
    try {
      for (const raw of this.#cutter.push(chunk)) {
        const frame = decodeFrame(raw)
        if ('begun' in frame && this.#current) this.events.onBegun(this.#current.query)
        if ('asks' in frame) void this.#tell(frame)
        else if (!('ended' in frame)) this.#current?.answer.give(frame)
        else {
          const query = this.#end(new TypeError('an answer was cut off'))
          this.#socket.resume()
          if (query !== undefined) this.events.onEnded(query)
          this.events.onIdle(this)
        }
      }
    } catch (error) {
      this.#current?.answer.fail(error)
      this.#socket.destroy()
    }
  }

  /**
   * Answers a question of the line's query, if the line still has this query. A question that was on its way when the query was stopped is
   * refused: the query may begin again, and what it writes in a database must be sent once.
   */
  async #tell({ asks: to, question }: QueryQuestion): Promise<void> {
    const asking = this.#current
    if (!asking) return
    const answer = asking.answer.isStopped ? Promise.reject(stoppedMeanwhile()) : this.events.onAsked(question, asking)
    const said = await answer.then(
      (answer) => ({ to, answer }),
      (error: unknown) => ({ to, refused: errorFields(error) }),
    )
    if (this.#current === asking) this.#socket.write(encodeMessage(said))
  }

  /** Ends the answer to the line's query, and returns the query's number. */
  #end(reason: unknown): number | undefined {
    const ended = this.#current
    this.#current = undefined
    ended?.answer.fail(reason)
    return ended?.query
  }
}
