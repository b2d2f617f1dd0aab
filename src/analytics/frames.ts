import { isProblem, isProblemCode, Problem } from '../errors.js'
import type { Column, Frame, QueryEnd, Scored } from './query.js'

/** What the two processes say to each other in an answer. */
export type Received =
  | { kind: 'columns'; columns: Column[]; served?: unknown; scored?: Scored[] }
  | { kind: 'rows'; rows: Buffer }
  | { kind: 'end'; end: QueryEnd }
  | { kind: 'error'; problem: Problem }

/** A frame is a byte that tells its kind, its length in four bytes, and its bytes: rows as they are, anything else as JSON. */
type Raw = { kind: number; bytes: Buffer }

const rowsKind = 0x52
const jsonKind = 0x4a
const headerBytes = 5

const header = (kind: number, length: number): Buffer => {
  const bytes = Buffer.alloc(headerBytes)
  bytes.writeUInt8(kind, 0)
  bytes.writeUInt32LE(length, 1)
  return bytes
}

const json = (value: unknown): Buffer[] => {
  const bytes = Buffer.from(JSON.stringify(value))
  return [header(jsonKind, bytes.length), bytes]
}

/** The pieces of a frame, to be written one after the other. */
export const encodeFrame = (frame: Frame): Buffer[] => ('rows' in frame ? [header(rowsKind, frame.rows.length), frame.rows] : json(frame))

/** The last frame of an answer that failed. An error that is no refusal is a fault of ours. */
export const encodeError = (error: unknown): Buffer[] => {
  const problem = isProblem(error)
    ? error
    : new Problem('internal', 'Query failed inside the service', 'a fault of this service; its log says more', {
        // For the log only: it may quote data or name paths.
        cause: error instanceof Error ? (error.stack ?? error.message) : String(error),
      })
  return json({ error: { code: problem.code, title: problem.title, detail: problem.detail, ...problem.extras } })
}

type Wire = {
  columns?: Column[]
  served?: unknown
  scored?: Scored[]
  end?: QueryEnd
  error?: { code: string; title: string; detail: string }
}

/** Reads one frame of an answer. @throws TypeError when it is none */
export const decodeFrame = ({ kind, bytes }: Raw): Received => {
  if (kind === rowsKind) return { kind: 'rows', rows: bytes }
  const { columns, served, scored, end, error } = JSON.parse(bytes.toString()) as Wire
  if (columns) return { kind: 'columns', columns, ...(served !== undefined && { served }), ...(scored && { scored }) }
  if (end) return { kind: 'end', end }
  if (!error || !isProblemCode(error.code)) throw new TypeError('a frame of an answer is neither columns, rows, end nor error')
  const { code, title, detail, ...extras } = error
  return { kind: 'error', problem: new Problem(error.code, title, detail, extras) }
}

/** Cuts a stream of bytes into frames. What was cut off at the end is not a frame. */
export async function* framesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Raw, void, void> {
  let begun: Buffer[] = []
  let [have, wanted] = [0, headerBytes]
  for await (const chunk of chunks) {
    begun.push(chunk)
    have += chunk.length
    if (have < wanted) continue
    let bytes = begun.length === 1 ? chunk : Buffer.concat(begun)
    for (;;) {
      wanted = bytes.length < headerBytes ? headerBytes : headerBytes + bytes.readUInt32LE(1)
      if (bytes.length < wanted) break
      yield { kind: bytes.readUInt8(0), bytes: bytes.subarray(headerBytes, wanted) }
      bytes = bytes.subarray(wanted)
    }
    begun = bytes.length > 0 ? [bytes] : []
    have = bytes.length
  }
}
