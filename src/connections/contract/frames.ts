import { fieldsOf, isProblem, Problem, problemOf, type ProblemFields } from '../../basics/errors.js'
import type { AnswerColumn } from './types.js'

/** The frames for a reader, in order: the columns, batches of rows, and the end or an error. */
export type Frame =
  { columns: readonly AnswerColumn[]; sent: string } | { batch: Buffer } | { end: { rows: number; bytes: number } } | { error: Problem }

/** A frame is one byte for its kind, four for its length, three that are unused, and its bytes: rows unchanged, all others as JSON. */
const headerBytes = 8
const batchKind = 0x42
const jsonKind = 0x4a

/** This service never sends a longer frame. */
const frameMaxBytes = 1024 * 1024 * 1024

const header = (kind: number, length: number): Buffer => {
  const bytes = Buffer.alloc(headerBytes)
  bytes.writeUInt8(kind, 0)
  bytes.writeUInt32LE(length, 1)
  return bytes
}

/** The pieces of a frame with rows; write them one after the other. The rows are not copied. */
export const encodeBatch = (batch: Buffer): Buffer[] => [header(batchKind, batch.length), batch]

const encodeJson = (value: unknown): Buffer => {
  const bytes = Buffer.from(JSON.stringify(value))
  return Buffer.concat([header(jsonKind, bytes.length), bytes])
}

/** The first frame of an answer: its columns, and the statement that the database got. */
export const encodeColumns = (columns: readonly AnswerColumn[], sent: string): Buffer => encodeJson({ columns, sent })

/** The last frame of an answer: the number of its rows, and their bytes by the count of `connectionMaxBytes`. */
export const encodeEnd = (end: { rows: number; bytes: number }): Buffer => encodeJson({ end })

/** The fields of an error. An error that is not a problem is a fault of this service, and its text may quote secrets. */
export const errorFields = (error: unknown): ProblemFields =>
  fieldsOf(
    isProblem(error)
      ? error
      : new Problem('internal', 'Connection failed inside the service', 'a fault of this service while it talked to a connected database'),
  )

/** The frame that ends an answer with an error. An error that is not a problem loses its text, which may quote secrets. */
export const encodeError = (error: unknown): Buffer => encodeJson({ error: errorFields(error) })

type JsonFrame = { columns: readonly AnswerColumn[]; sent: string } | { end: { rows: number; bytes: number } } | { error: ProblemFields }

const decode = (kind: number, bytes: Buffer): Frame => {
  if (kind === batchKind) return { batch: bytes }
  const frame = JSON.parse(bytes.toString()) as JsonFrame
  if (!('error' in frame)) return frame
  return { error: problemOf(frame.error) }
}

/** Cuts a stream of bytes into frames. Each has a buffer of its own, which is filled once. */
export class FrameReader {
  readonly #header = Buffer.alloc(headerBytes)
  #inHeader = 0
  #body: Buffer | undefined
  #inBody = 0

  /** The frames that this chunk completes. @throws TypeError for bytes that are not frames */
  push(chunk: Buffer): Frame[] {
    const frames: Frame[] = []
    let at = 0
    while (at < chunk.length || this.#body?.length === 0) {
      if (!this.#body) {
        const taken = chunk.copy(this.#header, this.#inHeader, at, Math.min(chunk.length, at + headerBytes - this.#inHeader))
        at += taken
        this.#inHeader += taken
        if (this.#inHeader < headerBytes) break
        const length = this.#header.readUInt32LE(1)
        if (length > frameMaxBytes) throw new TypeError('a frame is too long')
        // A buffer outside the shared pool: its numbers then begin at a multiple of eight.
        this.#body = Buffer.allocUnsafeSlow(length)
        this.#inBody = 0
      }
      const taken = chunk.copy(this.#body, this.#inBody, at, Math.min(chunk.length, at + this.#body.length - this.#inBody))
      at += taken
      this.#inBody += taken
      if (this.#inBody < this.#body.length) break
      frames.push(decode(this.#header.readUInt8(0), this.#body))
      this.#body = undefined
      this.#inHeader = 0
    }
    return frames
  }
}
