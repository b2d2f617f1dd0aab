import { isProblem, type Problem } from '../../basics/errors.js'
import { errorMessage, type Column, type SqlAnswer } from '../../sql/contract/answer.js'
import { csvHeader, csvOfJson } from '../../sql/encode/csv.js'
import { fileOnce } from '../protocol/file-once.js'
import { stream, text, type Piece, type Reply } from '../protocol/reply.js'

/** The values of `response_format`. The default is JSON. */
export const formats = ['jsonlines', 'sse', 'csv', 'parquet'] as const
export type Format = (typeof formats)[number] | 'json'

/** A format whose pieces are written as the rows come. */
type StreamedFormat = Exclude<Format, 'parquet'>

export const parquetType = 'application/vnd.apache.parquet'

type Table = Extract<SqlAnswer, { type: 'table' }>

/** An answer without rows. Like every answer it has `column_names`, here an empty list. */
const withoutRows = (answer: object): string => JSON.stringify({ ...answer, column_names: [] })

type ErrorBody = { type: 'error'; error_code: 0; error_message: string; context: object }

/** How a table is serialised: the text before its rows, around each chunk, and at the end. */
type Shape = {
  type: string
  head: (columns: readonly Column[], context: object) => string
  rows: (chunk: Buffer, first: boolean) => Piece[]
  end: (context: object) => string
  /** The bytes of rows that are read before the first of them is sent: if they fail, the answer is only an error. */
  readAhead: number
  /** The end of an answer whose rows fail midway; undefined if the format cannot express an error, so that the connection is cut. */
  failed: ((error: ErrorBody) => string) | undefined
  /** Wraps an answer that is a single JSON text. */
  whole: (text: string) => string
}

const columnsOf = (columns: readonly Column[]) => ({
  column_names: columns.map(({ name }) => name),
  column_types: columns.map(({ type }) => type),
})

const lines = (type: string, before: string, after: string): Shape => {
  const line = (text: string) => `${before}${text}${after}`
  return {
    type,
    head: (columns, context) => line(JSON.stringify({ type: 'table', ...columnsOf(columns), context })),
    rows: (chunk) => [`${before}[`, chunk, `]${after}`],
    end: () => '',
    readAhead: 0,
    failed: (error) => line(withoutRows(error)),
    whole: line,
  }
}

const shapes: Record<StreamedFormat, Shape> = {
  json: {
    type: 'application/json; charset=utf-8',
    head: (columns) => `${JSON.stringify(columnsOf(columns)).slice(0, -1)},"data":[`,
    rows: (chunk, first) => (first ? [chunk] : [',', chunk]),
    // The type comes last, because it is only known after the last row.
    end: (context) => `],"type":"table","context":${JSON.stringify(context)}}`,
    readAhead: 256 * 1024,
    failed: (error) => `],${JSON.stringify(error).slice(1)}`,
    whole: (text) => text,
  },
  jsonlines: lines('application/jsonlines', '', '\n'),
  sse: lines('text/event-stream; charset=utf-8', 'data: ', '\n\n'),
  csv: {
    type: 'text/csv; charset=utf-8; header=present',
    head: csvHeader,
    rows: (chunk) => [chunk],
    end: () => '',
    readAhead: 0,
    failed: undefined,
    whole: (text) => text,
  },
}

/** The media types that an answer may have instead of JSON. */
export const otherTypes: readonly string[] = formats.map((format) =>
  format === 'parquet' ? parquetType : shapes[format].type.replace(/;.*/, ''),
)

const errorBody = (problem: Problem, context: object): ErrorBody => ({
  type: 'error',
  error_code: 0,
  error_message: errorMessage(problem),
  context,
})

/** Converts chunks to CSV if needed: short answers come as JSON even if CSV was requested. */
async function* rowsFor({ rows, format }: Table, wanted: StreamedFormat): AsyncGenerator<Buffer, void, void> {
  for await (const chunk of rows) yield wanted === 'csv' && format === 'json' ? csvOfJson(chunk) : chunk
}

/** The pieces of a table; `onFailed` is called before they tell of an error. @throws Problem in CSV, which cannot express an error */
async function* piecesOf(
  answer: Table,
  format: StreamedFormat,
  gone: AbortSignal,
  onFailed: () => void,
): AsyncGenerator<Piece, void, void> {
  const shape = shapes[format]
  let held: Piece[] | undefined = [shape.head(answer.columns, answer.context)]
  let bytes = 0
  try {
    for await (const chunk of rowsFor(answer, format)) {
      if (chunk.length === 0) continue
      const pieces = shape.rows(chunk, bytes === 0)
      bytes += chunk.length
      held?.push(...pieces)
      if (held && bytes <= shape.readAhead) continue
      yield* held ?? pieces
      held = undefined
    }
    yield* held ?? []
    yield shape.end(answer.context)
  } catch (error) {
    if (gone.aborted || !isProblem(error) || !shape.failed) throw error
    onFailed()
    const said = errorBody(error, answer.context)
    yield held ? shape.whole(withoutRows(said)) : shape.failed(said)
  }
}

/** The file of an answer in Parquet. */
export const parquetReply = async (path: string, rows: AsyncIterable<Buffer>): Promise<Reply> => {
  // They describe the file, which is complete when they end.
  for await (const _ of rows);
  return fileOnce(parquetType, path)
}

/**
 * Makes the reply from the answer to a statement, streamed as the client reads it. `gone` aborts when the client disconnects.
 * @throws Problem in CSV and Parquet, which cannot express an error
 */
export const replyOf = (answer: SqlAnswer, asked: Format, gone: AbortSignal): Reply => {
  if (answer.type === 'error' && asked === 'parquet') throw answer.problem
  // Statements that are no SELECT have few rows, and no file.
  const format = asked === 'parquet' ? 'json' : asked
  if (answer.type === 'table') {
    let hasFailed = false
    const pieces = piecesOf(answer, format, gone, () => (hasFailed = true))
    // The query that reads the rows has a timeout of its own, so a slow client delays only itself.
    return stream(shapes[format].type, { pieces, endsInError: () => hasFailed, stallMs: null })
  }
  if (answer.type === 'error' && format === 'csv') throw answer.problem
  const { type, context } = answer
  const said = withoutRows(type === 'error' ? errorBody(answer.problem, context) : { type, affected_rows: answer.affected_rows, context })
  const shape = shapes[format === 'csv' ? 'json' : format]
  return text(shape.type, shape.whole(said))
}
