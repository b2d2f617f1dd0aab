import type { Response } from 'express'
import { once } from 'node:events'
import { isProblem, type Problem } from '../errors.js'
import { errorMessage, type Column, type SqlAnswer } from '../sql/answer.js'
import { csvHeader, csvOfJson } from '../sql/encode/csv.js'

/** What a client may name as its `response_format`. Without one it gets JSON. */
export const formats = ['jsonlines', 'sse', 'csv'] as const
export type Format = (typeof formats)[number] | 'json'

type Piece = string | Buffer
type Table = Extract<SqlAnswer, { type: 'table' }>

/** How a table is written: what stands before its rows, around each chunk of them, and behind. */
type Shape = {
  type: string
  head: (columns: readonly Column[]) => string
  rows: (chunk: Buffer, first: boolean) => Piece[]
  end: (context: object) => string
  /** How an answer ends whose rows cannot go on; undefined where nothing can say so, and the connection is cut instead. */
  failed: ((error: string) => string) | undefined
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
    head: (columns) => line(JSON.stringify(headOf(columns))),
    rows: (chunk) => [`${before}[`, chunk, `]${after}`],
    end: () => '',
    failed: line,
  }
}

const shapes: Record<Format, Shape> = {
  json: {
    type: 'application/json',
    head: (columns) => `${JSON.stringify(headOf(columns)).slice(0, -1)},"data":[`,
    rows: (chunk, first) => (first ? [chunk] : [',', chunk]),
    end: (context) => `],"context":${JSON.stringify(context)}}`,
    // The head is gone. Of two members with one name readers take the last, so this says "error" to all of them.
    failed: (error) => `],${error.slice(1)}`,
  },
  jsonlines: lines('application/jsonlines', '', '\n'),
  sse: lines('text/event-stream', 'data: ', '\n\n'),
  csv: {
    type: 'text/csv; charset=utf-8; header=present',
    head: csvHeader,
    rows: (chunk) => [chunk],
    end: () => '',
    failed: undefined,
  },
}

const errorBody = (problem: Problem, context: unknown): string =>
  JSON.stringify({ type: 'error', error_code: 0, error_message: errorMessage(problem), context })

/** Writes pieces in one go, with what follows at once, and waits until the client has taken enough of what was written. */
const write = async (res: Response, pieces: readonly Piece[], signal: AbortSignal): Promise<void> => {
  res.cork()
  let hasRoom = true
  for (const piece of pieces) hasRoom = res.write(piece)
  setImmediate(() => res.uncork())
  if (!hasRoom) await once(res, 'drain', { signal })
}

/** Answers of a few rows are JSON whatever was asked for. */
async function* rowsFor({ rows, format }: Table, wanted: Format): AsyncGenerator<Buffer, void, void> {
  for await (const chunk of rows) yield wanted === 'csv' && format === 'json' ? csvOfJson(chunk) : chunk
}

const sendTable = async (res: Response, answer: Table, format: Format, signal: AbortSignal): Promise<void> => {
  const shape = shapes[format]
  res.status(200).type(shape.type)
  let before: Piece[] = [shape.head(answer.columns)]
  try {
    let first = true
    for await (const chunk of rowsFor(answer, format)) {
      if (chunk.length === 0) continue
      await write(res, [...before, ...shape.rows(chunk, first)], signal)
      before = []
      first = false
    }
    for (const piece of before) res.write(piece)
    res.end(shape.end(answer.context))
  } catch (error) {
    if (signal.aborted) return
    // Without a way to say it, the client must at least not take the answer for whole.
    if (!isProblem(error) || !shape.failed) throw error
    for (const piece of before) res.write(piece)
    res.end(shape.failed(errorBody(error, answer.context)))
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
  const text =
    answer.type === 'error'
      ? errorBody(answer.problem, answer.context)
      : JSON.stringify({ type: 'ok', affected_rows: answer.affected_rows, context: answer.context })
  const shape = shapes[format === 'csv' ? 'json' : format]
  res.status(200).type(shape.type)
  res.send(format === 'json' || format === 'csv' ? text : shape.failed?.(text))
}
