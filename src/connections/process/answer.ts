import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { QueryOutcome } from '../../../events/records/queries.js'
import { isProblem, Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import type { Rows } from '../batch/column-reading.js'
import { batchRows, encodeVectors, Vector } from '../batch/vector.js'
import { encodeBatch, encodeColumns, encodeEnd, encodeError } from '../contract/frames.js'
import { isWriting, type QueryEnd, type Query, type QueryLimits } from '../contract/requests.js'
import { bytesPerValue, type AnswerColumn } from '../contract/types.js'
import type { Cursor, DatabaseSession } from '../engines/contract/engine.js'
import type { HeldBytes, SessionBytes } from './held-bytes.js'
import type { Pool } from './pool.js'
import { tooLong, tooMuchTogether, watchOrCancel, watchStep } from './watch-step.js'

/** The bytes of a step: large enough that round trips cost little, and small enough to hold several steps. */
const stepBytes = 1024 * 1024
const mostRows = 8 * batchRows
const lookEveryMs = 20
const batchMaxBytes = 4 * 1024 * 1024

/** The reader of the answer has left. */
const readerLeft = (): Problem => new Problem('query_limit', 'Cancelled', 'The reader of the answer left')

const beyond = (what: string, most: number, limit: string): Problem =>
  new Problem(
    'query_limit',
    'Too much for one statement',
    `The statement reads more than ${most} ${what} from the connected database (${limit})`,
    {
      hint: 'Ask for less: a condition, fewer columns, or groups. Or let the database do more in its own SQL: SELECT * FROM db (SELECT … LIMIT 100).',
    },
  )

/** The reader keeps room for a whole chunk of each column, whatever the number of rows. */
const refuseTooManyColumns = (columns: readonly AnswerColumn[]): void => {
  const most = limits.connectionAnswerMaxColumns
  if (columns.length <= most) return
  throw new Problem(
    'query_limit',
    'Too many columns for one statement',
    `The answer of the connected database has ${columns.length} columns, and may have ${most} (connectionAnswerMaxColumns)`,
    { hint: 'Name the columns that you need instead of *.' },
  )
}

/** The most rows of a batch of these columns, whose values take place side by side also where they are NULL. */
const rowsOfBatch = (columns: readonly AnswerColumn[]): number => {
  const bytes = columns.reduce((sum, { type }) => sum + bytesPerValue(type), 0)
  return Math.max(1, Math.min(batchRows, Math.floor(batchMaxBytes / Math.max(bytes, 1))))
}

const nextRows = ({ count, bytes }: Rows): number => Math.max(1, Math.min(mostRows, Math.floor((count * stepBytes) / Math.max(bytes, 1))))

/** Closes a cursor. Bytes that still come meanwhile have the limit of a step. @returns whether the session can be used again */
const closed = async (session: DatabaseSession, cursor: Cursor): Promise<boolean> => {
  const from = session.received
  const look = setInterval(() => {
    if (session.received - from > limits.connectionReadMaxBytes) session.destroy()
  }, lookEveryMs)
  try {
    return await cursor.close()
  } finally {
    clearInterval(look)
  }
}

/** A query, its limits, and `onSend`, which gets the text for the record right before the database gets it. */
export type AnswerRequest = { query: Query; limit: QueryLimits; onSend: (statement: string) => void }

/** One answer on its way to its reader. */
export class Answer {
  readonly #reader = new AbortController()
  #rows = 0
  #bytes = 0
  #sent: string | undefined
  #changed = false

  constructor(
    private readonly socket: Socket,
    private readonly pool: Pool,
    private readonly request: AnswerRequest,
    private readonly held: HeldBytes,
  ) {
    socket.once('close', () => this.#reader.abort(readerLeft()))
    socket.on('error', () => undefined)
  }

  /** Sends the answer, at the pace of its reader, and the error that ends it. Resolves when its statement has ended in the database. */
  async send(): Promise<QueryEnd> {
    const begun = performance.now()
    let ending: QueryOutcome = 'complete'
    try {
      await this.#run()
      this.socket.end(encodeEnd({ rows: this.#rows, bytes: this.#bytes }))
    } catch (error) {
      ending = this.#signal.aborted || (isProblem(error) && error.code === 'query_limit') ? 'cut' : 'failed'
      this.socket.end(encodeError(error))
    }
    return {
      rows: this.#rows,
      bytes: this.#bytes,
      durationMs: Math.round(performance.now() - begun),
      sent: this.#sent,
      ending,
      changed: this.#changed,
    }
  }

  /** Resolves when the reader has got everything, or has left. */
  handedOver(): Promise<void> {
    return new Promise((resolve) => {
      if (this.socket.destroyed || this.socket.writableFinished) resolve()
      this.socket.once('finish', () => resolve()).once('close', () => resolve())
    })
  }

  /** Aborts when the reader leaves, or at the time limit of the whole statement. */
  get #signal(): AbortSignal {
    return this.#reader.signal
  }

  async #run(): Promise<void> {
    const { timeMs } = this.request.limit
    const timer = setTimeout(() => this.#reader.abort(tooLong('The statement', timeMs, 'connectionStatementTimeoutMs')), timeMs)
    try {
      const session = await this.pool.acquire(this.#signal)
      // If the reader left before the statement was sent, the session is unchanged.
      let isClean = this.#signal.aborted
      try {
        this.#signal.throwIfAborted()
        const holding = this.held.hold(session)
        isClean = await this.#stream(session, holding).finally(() => holding.end())
      } finally {
        this.pool.release(session, isClean)
      }
    } finally {
      clearTimeout(timer)
    }
  }

  async #stream(session: DatabaseSession, holding: SessionBytes): Promise<boolean> {
    this.#changed = isWriting(this.request.query) && !session.isAtomic
    const cursor = await this.#open(session, holding)
    try {
      refuseTooManyColumns(cursor.columns)
      await this.#write([encodeColumns(cursor.columns, cursor.sent)])
      try {
        await this.#pass(session, holding, cursor)
      } finally {
        this.#changed ||= cursor.hasChanged?.() ?? false
      }
    } catch (error) {
      const isClean = await closed(session, cursor)
      this.#changed ||= cursor.hasChanged?.() ?? false
      if (!isClean) session.destroy()
      throw error
    }
    return closed(session, cursor)
  }

  /** Begins the statement. When that takes too long, or the reader has left, the statement is cancelled in the database. */
  #open(session: DatabaseSession, holding: SessionBytes): Promise<Cursor> {
    const opening = session.open(this.request.query, (statement) => {
      this.#sent = statement
      this.request.onSend(statement)
    })
    const timeoutMs = this.request.limit.firstRowMs
    const [what, limit] = ['The first row of the answer', 'connectionFirstRowTimeoutMs']
    return watchOrCancel(opening, { session, holding, timeoutMs, what, limit, signal: this.#signal })
  }

  async #pass(session: DatabaseSession, holding: SessionBytes, cursor: Cursor): Promise<void> {
    // Bytes that come while the service waits for the reader have a limit, too.
    let mark = session.received
    const look = setInterval(() => {
      if (session.received - mark > 2 * limits.connectionReadMaxBytes) session.destroy()
      else if (holding.isTooMuch) this.#reader.abort(tooMuchTogether())
    }, lookEveryMs)
    try {
      await this.#steps(session, holding, cursor, () => (mark = session.received))
    } finally {
      clearInterval(look)
    }
  }

  async #steps(session: DatabaseSession, holding: SessionBytes, cursor: Cursor, onStep: () => void): Promise<void> {
    const { limit, query } = this.request
    const upTo = 'native' in query && !cursor.mayWrite ? (query.upTo ?? Infinity) : Infinity
    const mostOfBatch = rowsOfBatch(cursor.columns)
    const vectors = cursor.columns.map(({ type }) => new Vector(type, mostOfBatch))
    let most: number = Math.min(batchRows, upTo)
    while (this.#rows < upTo) {
      const timeoutMs = limits.connectionStallTimeoutMs
      const [what, ofStep] = ['A step of the answer', 'connectionStallTimeoutMs']
      const watch = { session, holding, timeoutMs, what, limit: ofStep, signal: this.#signal }
      const rows = await watchStep(cursor.next(most), watch)
      if (!rows) return
      onStep()
      const { received } = session
      this.#rows += rows.count
      this.#bytes += rows.bytes
      if (this.#rows > limit.rows) throw beyond('rows', limit.rows, 'connectionMaxRows')
      if (this.#bytes > limit.bytes) throw beyond('bytes', limit.bytes, 'connectionMaxBytes')
      most = Math.min(nextRows(rows), upTo - this.#rows)
      await this.#passRows(rows, vectors, mostOfBatch)
      holding.taken(received)
    }
  }

  async #passRows(rows: Rows, vectors: readonly Vector[], mostOfBatch: number): Promise<void> {
    const size = Math.min(mostOfBatch, Math.max(1, Math.floor((rows.count * batchMaxBytes) / Math.max(rows.bytes, 1))))
    for (let from = 0; from < rows.count; from += size) {
      const to = Math.min(rows.count, from + size)
      for (const vector of vectors) vector.clear()
      rows.put(vectors, from, to)
      await this.#write(encodeBatch(encodeVectors(vectors, to - from)))
    }
  }

  /** Writes frames, and waits while the reader is too far behind. */
  async #write(frames: readonly Buffer[]): Promise<void> {
    const signal = this.#signal
    signal.throwIfAborted()
    let isTaken = true
    this.socket.cork()
    for (const frame of frames) isTaken = this.socket.write(frame)
    this.socket.uncork()
    if (isTaken) return
    try {
      await once(this.socket, 'drain', { signal })
    } catch (error) {
      signal.throwIfAborted()
      throw error
    }
  }
}
