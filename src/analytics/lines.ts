import { isProblem, isProblemCode, Problem } from '../errors.js'
import type { Column, Frame, QueryEnd, Scored } from './query.js'

/** What the two processes say to each other in an answer: one JSON object a line, but for lines of rows, which begin with `[`. */
export type Line =
  | { kind: 'columns'; columns: Column[]; served?: unknown; scored?: Scored[] }
  | { kind: 'rows'; rows: string }
  | { kind: 'end'; end: QueryEnd }
  | { kind: 'error'; problem: Problem }

/** `encodeFrame({ rows: '[1,"a"],[2,"b"]' })` → `[1,"a"],[2,"b"]\n` */
export const encodeFrame = (frame: Frame): string => `${'rows' in frame ? frame.rows : JSON.stringify(frame)}\n`

/** The last line of an answer that failed. An error that is no refusal is a fault of ours. */
export const encodeError = (error: unknown): string => {
  const problem = isProblem(error)
    ? error
    : new Problem('internal', 'Query failed inside the service', 'a fault of this service; its log says more', {
        // For the log only: it may quote data or name paths.
        cause: error instanceof Error ? (error.stack ?? error.message) : String(error),
      })
  return `${JSON.stringify({ error: { code: problem.code, title: problem.title, detail: problem.detail, ...problem.extras } })}\n`
}

type Wire = {
  columns?: Column[]
  served?: unknown
  scored?: Scored[]
  end?: QueryEnd
  error?: { code: string; title: string; detail: string }
}

/** Reads one line of an answer. @throws TypeError when it is none */
export const decodeLine = (line: string): Line => {
  if (line.startsWith('[')) return { kind: 'rows', rows: line }
  const { columns, served, scored, end, error } = JSON.parse(line) as Wire
  if (columns) return { kind: 'columns', columns, ...(served !== undefined && { served }), ...(scored && { scored }) }
  if (end) return { kind: 'end', end }
  if (!error || !isProblemCode(error.code)) throw new TypeError('a line of an answer is neither columns, rows, end nor error')
  const { code, title, detail, ...extras } = error
  return { kind: 'error', problem: new Problem(error.code, title, detail, extras) }
}

const newline = 0x0a

/** Cuts a stream of bytes into lines. What follows the last newline was cut off and is not a line. */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string, void, void> {
  let begun: Buffer[] = []
  for await (const chunk of chunks) {
    let from = 0
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      begun.push(chunk.subarray(from, at))
      yield Buffer.concat(begun).toString('utf8')
      begun = []
      from = at + 1
    }
    if (from < chunk.length) begun.push(chunk.subarray(from))
  }
}
