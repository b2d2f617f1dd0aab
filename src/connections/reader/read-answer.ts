/** Room: answers of connected databases as chunks of DuckDB. It imports only basics, dialect and connections/contract. */

import { connect, type Socket } from 'node:net'
import type { DuckDBAppender, DuckDBDataChunk } from '@duckdb/node-api'
import { quoteName } from '../../dialect/strings.js'
import { errorCode, isProblem, Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { FrameReader, type Frame } from '../contract/frames.js'
import type { AnswerAddress } from '../contract/requests.js'
import { sqlType, type AnswerColumn } from '../contract/types.js'
import { fillChunk, newChunk } from './chunk.js'

const cutOff = (): Problem =>
  new Problem('connection_failed', 'Cut off', 'The answer of the connected database was cut off', {
    hint: 'Try again. A statement over a file also ends in this way when it takes too much memory or time: then ask for less.',
  })

/** The frames of an answer, at the pace of the reader. */
async function* framesOf(socket: Socket): AsyncGenerator<Frame> {
  const frames = new FrameReader()
  for await (const chunk of socket) yield* frames.push(chunk as Buffer)
}

/** An answer of a connected database while it is read. Close it even if it was not read to its end. */
export class AnswerReader {
  /** The bytes of the rows that were read so far. */
  bytes = 0

  private constructor(
    readonly columns: readonly AnswerColumn[],
    /** The text that the database got. */
    readonly sent: string,
    private readonly socket: Socket,
    private readonly frames: AsyncGenerator<Frame>,
  ) {}

  /**
   * Opens an answer, and waits for its columns.
   *
   * @example
   * const answer = await AnswerReader.open(place, signal)
   * try { for await (const chunk of answer.chunks()) appender.appendDataChunk(chunk) } finally { answer.close() }
   * @throws Problem of the database, the reason of the signal
   */
  static async open({ socket: path, ticket }: AnswerAddress, signal?: AbortSignal): Promise<AnswerReader> {
    signal?.throwIfAborted()
    const socket = connect({ path })
    const stop = () => socket.destroy(signal?.reason as Error)
    signal?.addEventListener('abort', stop, { once: true })
    socket.once('close', () => signal?.removeEventListener('abort', stop))
    socket.write(`${ticket}\n`)
    const frames = framesOf(socket)
    try {
      const { value: first } = (await frames.next()) as { value: Frame | undefined }
      if (first && 'error' in first) throw first.error
      if (!first || !('columns' in first)) throw cutOff()
      return new AnswerReader(first.columns, first.sent, socket, frames)
    } catch (error) {
      socket.destroy()
      throw told(error, signal)
    }
  }

  /** The rows in chunks of DuckDB. @param reuses gives the same chunk each time; the caller must finish with it before it takes the next */
  async *chunks(reuses = false): AsyncGenerator<DuckDBDataChunk, { rows: number; bytes: number }> {
    const types = this.columns.map(({ type }) => type)
    let kept: DuckDBDataChunk | undefined
    try {
      for await (const frame of this.frames) {
        if ('error' in frame) throw frame.error
        if ('end' in frame) return frame.end
        if ('columns' in frame) throw new TypeError('an answer has its columns once')
        if (reuses) kept?.reset()
        const chunk: DuckDBDataChunk = (reuses ? kept : undefined) ?? newChunk(types)
        kept = chunk
        this.bytes += frame.batch.length
        yield fillChunk(chunk, types, frame.batch)
      }
      throw cutOff()
    } catch (error) {
      throw told(error, undefined)
    } finally {
      this.close()
    }
  }

  /** Ends the answer; the driver process ends its statement in the database. */
  close(): void {
    this.socket.destroy()
  }
}

/** If the socket fails, the answer was cut off. */
const told = (error: unknown, signal: AbortSignal | undefined): unknown => {
  if (signal?.aborted) return signal.reason
  return isProblem(error) || errorCode(error) === '' ? error : cutOff()
}

/** The columns of a table that takes an answer, as CREATE TABLE has them. */
export const columnList = (columns: readonly AnswerColumn[]): string =>
  columns.map(({ name, type }) => `${quoteName(name)} ${sqlType(type)}`).join(', ')

/**
 * Appends the rest of an answer to a table with its columns. Rows wait in the appender, outside of DuckDB's limit of memory, and DuckDB only
 * counts them. So wide rows are put into the table earlier, where the limit applies.
 *
 * @returns how many rows and bytes it had
 * @example await appendAnswer(answer, await connection.createAppender('homes')) // { rows: 200, bytes: 9_400 }
 */
export const appendAnswer = async (answer: AnswerReader, appender: DuckDBAppender): Promise<{ rows: number; bytes: number }> => {
  const chunks = answer.chunks(true)
  let flushed = answer.bytes
  for (;;) {
    const next = await chunks.next()
    if (next.done) {
      appender.flushSync()
      return next.value
    }
    appender.appendDataChunk(next.value)
    if (answer.bytes - flushed < limits.connectionAppendMaxBytes) continue
    appender.flushSync()
    flushed = answer.bytes
  }
}
