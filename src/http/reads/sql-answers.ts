import type { Response } from 'express'
import { once } from 'node:events'
import { isProblem, type Problem } from '../../basics/errors.js'
import { errorMessage, type Column, type SqlAnswer } from '../../sql/contract/answer.js'
import { csvHeader, csvOfJson } from '../../sql/encode/csv.js'

/** What a client may name as its `response_format`. Without one it gets JSON. */
export const formats = ['jsonlines', 'sse', 'csv'] as const
export type Format = (typeof formats)[number] | 'json'

type Piece = string | Buffer
type Table = Extract<SqlAnswer, { type: 'table' }>

/** An answer without rows: it names its columns, too, as every answer does, and there are none. */
const withoutRows = (answer: object): string => JSON.stringify({ ...answer, column_names: [] })

type ErrorBody = { type: 'error'; error_code: 0; error_message: string; context: object }

/** How a table is written: what stands before its rows, around each chunk of them, and behind. */
type Shape = {
  type: string
  head: (columns: readonly Column[], context: object) => string
  rows: (chunk: Buffer, first: boolean) => Piece[]
  end: (context: object) => string
  /** How an answer ends whose rows cannot go on; undefined where nothing can say so, and the connection is cut instead. */
  failed: ((error: ErrorBody) => string) | undefined
  /** An answer that is one JSON text. */
  whole: (text: string) => string
}

const headOf = (columns: readonly Column[]) => ({
  type: 'table',
  column_names: columns.map(({ name }) => name),
  column_types: columns.map(({ type }) => type),
})

const lines = (type: string, before: string, after: string): Shape => {
  const line = (text: string) => `${before}${text}${after}`
  return {
    type,
    head: (columns, context) => line(JSON.stringify({ ...headOf(columns), context })),
    rows: (chunk) => [`${before}[`, chunk, `]${after}`],
    end: () => '',
    failed: (error) => line(withoutRows(error)),
    whole: line,
  }
}

const shapes: Record<Format, Shape> = {
  json: {
    type: 'application/json',
    head: (columns) => `${JSON.stringify(headOf(columns)).slice(0, -1)},"data":[`,
    rows: (chunk, first) => (first ? [chunk] : [',', chunk]),
    end: (context) => `],"context":${JSON.stringify(context)}}`,
    // The head with its columns is gone. Of two members with one name readers take the last, so this says "error" to all of them.
    failed: (error) => `],${JSON.stringify(error).slice(1)}`,
    whole: (text) => text,
  },
  jsonlines: lines('application/jsonlines', '', '\n'),
  sse: lines('text/event-stream', 'data: ', '\n\n'),
  csv: {
    type: 'text/csv; charset=utf-8; header=present',
    head: csvHeader,
    rows: (chunk) => [chunk],
    end: () => '',
    failed: undefined,
    whole: (text) => text,
  },
}

/** The media types that an answer may have in the place of JSON. */
export const otherTypes: readonly string[] = formats.map((format) => shapes[format].type.replace(/;.*/, ''))

const errorBody = (problem: Problem, context: object): ErrorBody => ({
  type: 'error',
  error_code: 0,
  error_message: errorMessage(problem),
  context,
})

/** So many bytes are sent at once; fewer wait for what follows in the same turn. */
const gatherBytes = 16_384

/** Writes an answer as the client takes it: a short one, which is there in one turn, in one piece with its length. */
class Pieces {
  #held: Buffer[] = []
  #bytes = 0
  #soon: NodeJS.Immediate | undefined

  constructor(
    private readonly res: Response,
    private readonly signal: AbortSignal,
  ) {}

  /** Resolves when the client has taken enough of what was written. */
  async write(pieces: readonly Piece[]): Promise<void> {
    for (const piece of pieces) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
      this.#held.push(bytes)
      this.#bytes += bytes.length
    }
    if (this.#bytes >= gatherBytes) this.#flush()
    else this.#soon ??= setImmediate(() => this.#flush())
    if (this.res.writableNeedDrain) await once(this.res, 'drain', { signal: this.signal })
  }

  end(pieces: readonly Piece[]): void {
    clearImmediate(this.#soon)
    this.res.end(Buffer.concat([...this.#held, ...pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))]))
  }

  /** Forgets what has not been sent. */
  drop(): void {
    clearImmediate(this.#soon)
    this.#held = []
  }

  #flush(): void {
    clearImmediate(this.#soon)
    this.#soon = undefined
    this.res.cork()
    for (const bytes of this.#held) this.res.write(bytes)
    this.res.uncork()
    this.#held = []
    this.#bytes = 0
  }
}

/** Answers of a few rows are JSON whatever was asked for. */
async function* rowsFor({ rows, format }: Table, wanted: Format): AsyncGenerator<Buffer, void, void> {
  for await (const chunk of rows) yield wanted === 'csv' && format === 'json' ? csvOfJson(chunk) : chunk
}

const sendTable = async (res: Response, answer: Table, format: Format, signal: AbortSignal): Promise<void> => {
  const shape = shapes[format]
  res.status(200).type(shape.type)
  const pieces = new Pieces(res, signal)
  let head: Piece[] = [shape.head(answer.columns, answer.context)]
  try {
    let first = true
    for await (const chunk of rowsFor(answer, format)) {
      if (chunk.length === 0) continue
      await pieces.write([...head, ...shape.rows(chunk, first)])
      head = []
      first = false
    }
    pieces.end([...head, shape.end(answer.context)])
  } catch (error) {
    if (!signal.aborted && isProblem(error) && shape.failed) {
      pieces.end([...head, shape.failed(errorBody(error, answer.context))])
      return
    }
    pieces.drop()
    // Without a way to say it, the client must at least not take the answer for whole.
    if (!signal.aborted) throw error
  }
}

/**
 * Sends the answer to a statement as the client takes it.
 * @throws Problem of an answer in CSV, which has no place for an error
 */
export const sendAnswer = async (res: Response, answer: SqlAnswer, format: Format, signal: AbortSignal): Promise<void> => {
  if (answer.type === 'table') {
    await sendTable(res, answer, format, signal)
    return
  }
  if (answer.type === 'error' && format === 'csv') throw answer.problem
  const { type, context } = answer
  const text = withoutRows(type === 'error' ? errorBody(answer.problem, context) : { type, affected_rows: answer.affected_rows, context })
  const shape = shapes[format === 'csv' ? 'json' : format]
  res.status(200).type(shape.type)
  res.send(shape.whole(text))
}
