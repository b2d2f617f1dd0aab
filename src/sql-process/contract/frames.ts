/** Room: the messages between the server and the SQL process. It imports only basics, setup, sql/contract and files. */

import { fieldsOf, isProblem, Problem, problemOf, type ProblemFields } from '../../basics/errors.js'
import type { BlobQuestion, Question, ServerAnswer } from '../../sql/contract/connected.js'
import type { Frame, SelectRequest } from '../../sql/contract/select.js'

/**
 * A message of the parent on a line: a query to run, with its number; the number of a query that nobody waits for any more; or the answer
 * to a question of the query.
 */
export type LineMessage =
  | { run: number; request: SelectRequest }
  | { cancel: number }
  | { to: number; answer: ServerAnswer }
  | { to: number; refused: ProblemFields }

/** A question of the query, with its number. */
export type QueryQuestion = { asks: number; question: Question | BlobQuestion }

/**
 * A message that comes back: the execution has begun; a question; a frame of the answer, or an error; the query has ended and released
 * everything.
 */
export type LineFrame = Frame | QueryQuestion | { begun: true } | { ended: true } | { error: Problem }

/** A frame is one byte for its kind, four bytes for its length, and then its bytes: rows unchanged, all others as JSON. */
type RawFrame = { kind: number; bytes: Buffer }

const rowsKind = 0x52
const jsonKind = 0x4a
const headerBytes = 5

const headerOf = (bytes: Buffer, kind: number, length: number): Buffer => {
  bytes.writeUInt8(kind, 0)
  bytes.writeUInt32LE(length, 1)
  return bytes
}

const json = (value: unknown): Buffer => {
  const text = JSON.stringify(value)
  const length = Buffer.byteLength(text)
  const bytes = headerOf(Buffer.allocUnsafe(headerBytes + length), jsonKind, length)
  bytes.write(text, headerBytes)
  return bytes
}

/** One frame with a message of the server, ready for the SQL process. */
export const encodeMessage = (said: LineMessage): Buffer => json(said)

/** One frame with a question of a query, ready for the server. */
export const encodeQuestion = (asked: QueryQuestion): Buffer => json(asked)

/** The pieces of one part of an answer; write them one after the other. */
export const encodeFrame = (frame: Frame): Buffer[] =>
  'rows' in frame ? [headerOf(Buffer.allocUnsafe(headerBytes), rowsKind, frame.rows.length), frame.rows] : [json(frame)]

/** The frame that says that a query runs now. */
export const begunFrame = json({ begun: true })
/** The last frame of a query: the query has released everything, and the line is free. */
export const endedFrame = json({ ended: true })

/** The fields of an error. An error that is not a Problem is a fault of this service. */
export const errorFields = (error: unknown): ProblemFields =>
  fieldsOf(
    isProblem(error)
      ? error
      : new Problem('internal', 'Query failed inside the service', 'a fault of this service; its log says more', {
          // For the log only: it may quote data or name paths.
          cause: error instanceof Error ? (error.stack ?? error.message) : String(error),
        }),
  )

/** The last frame of an answer that failed. */
export const encodeError = (error: unknown): Buffer => json({ error: errorFields(error) })

/** A frame in JSON: an error has the fields of its problem. */
type JsonFrame = Exclude<LineFrame, { rows: Buffer } | { error: Problem }> | { error: ProblemFields }

/** Reads a message of the parent. The parent has the same release, and nobody else can write to a line. */
export const decodeMessage = ({ bytes }: RawFrame): LineMessage => JSON.parse(bytes.toString()) as LineMessage

/** Reads one frame of an answer from a process of the same release. @throws TypeError when it is not a frame */
export const decodeFrame = ({ kind, bytes }: RawFrame): LineFrame => {
  if (kind === rowsKind) return { rows: bytes }
  const frame = JSON.parse(bytes.toString()) as JsonFrame
  if ('columns' in frame || 'end' in frame || 'begun' in frame || 'ended' in frame || 'asks' in frame) return frame
  if (!('error' in frame)) throw new TypeError('a frame is no part of an answer')
  return { error: problemOf(frame.error) }
}

/** Cuts a stream of bytes into frames. */
export class FrameCutter {
  #begun: Buffer[] = []
  #have = 0
  #wanted = headerBytes

  /** The frames that this chunk completes. */
  push(chunk: Buffer): RawFrame[] {
    this.#begun.push(chunk)
    this.#have += chunk.length
    if (this.#have < this.#wanted) return []
    const frames: RawFrame[] = []
    let bytes = this.#begun.length === 1 ? chunk : Buffer.concat(this.#begun)
    for (;;) {
      this.#wanted = bytes.length < headerBytes ? headerBytes : headerBytes + bytes.readUInt32LE(1)
      if (bytes.length < this.#wanted) break
      frames.push({ kind: bytes.readUInt8(0), bytes: bytes.subarray(headerBytes, this.#wanted) })
      bytes = bytes.subarray(this.#wanted)
    }
    this.#begun = bytes.length > 0 ? [bytes] : []
    this.#have = bytes.length
    return frames
  }
}
