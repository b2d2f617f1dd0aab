import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { limits } from '../../basics/limits.js'
import { isPassing, patiently } from '../numerics/patience.js'
import type { RowsFile } from './read-rows.js'

/** The rows of a training's query: its columns, and chunks of comma-joined JSON arrays. */
export type Selected = { columns: readonly { name: string; type: string }[]; chunks: AsyncIterable<Buffer> }
/** The query of a training: it reads the log as of a position, on behalf of a user. */
export type RowsQuery = { sql: string; db: string; upTo: number; user?: string }
export type Select = (query: RowsQuery, signal: AbortSignal) => Promise<Selected>

const newline = Buffer.from('\n')

async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    yield chunk
    yield newline
  }
}

/**
 * Writes the rows of a query to a file, from which `readRows` makes a matrix. It waits while there is no SQL process. It reads again when
 * the process is lost in the middle of the rows, but only a few times: the rows themselves may crash it.
 *
 * @example const rows = await writeRows(select, { sql: 'SELECT * FROM homes', db: 'files', upTo: 40 }, 'rows.ndjson', signal)
 * @throws Problem of the query; the signal's reason
 */
export const writeRows = async (select: Select, query: RowsQuery, file: string, signal: AbortSignal): Promise<RowsFile> => {
  for (let losses = 0; ; losses++) {
    const { columns, chunks } = await patiently(() => select(query, signal), signal)
    try {
      await pipeline(lines(chunks), createWriteStream(file), { signal })
      return { file, columns }
    } catch (error) {
      signal.throwIfAborted()
      if (!isPassing(error) || losses >= limits.sqlRetriesMax) throw error
    }
  }
}
