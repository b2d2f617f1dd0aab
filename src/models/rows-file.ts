import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { RowsFile } from './read-rows.js'

/** The rows of a training's query: its columns, and chunks of comma-joined JSON arrays. */
export type Selected = { columns: readonly { name: string; type: string }[]; chunks: AsyncIterable<Buffer> }
/** A query as a training asks it: as the log was at a position, in the name of a user. */
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
 * Writes the rows of a query to a file, from which `readRows` makes a matrix.
 *
 * @example const rows = await writeRows(select, { sql: 'SELECT * FROM homes', db: 'files', upTo: 40 }, 'rows.ndjson', signal)
 */
export const writeRows = async (select: Select, query: RowsQuery, file: string, signal: AbortSignal): Promise<RowsFile> => {
  const { columns, chunks } = await select(query, signal)
  await pipeline(lines(chunks), createWriteStream(file), { signal })
  return { file, columns }
}
