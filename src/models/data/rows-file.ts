import { createReadStream, createWriteStream, readFileSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { ConnectionRead } from '../../../events/model.js'
import type { TrainedVersion } from '../../../events/records/queries.js'
import { limits } from '../../basics/limits.js'
import { isPassing, retryWhileUnavailable } from '../../sql/contract/retry-while-unavailable.js'
import type { ErasableReads } from '../../sql/contract/answer.js'
import type { Nondeterminism } from '../../sql/contract/select.js'
import { joinedColumns, type Base, type FineTuningRows } from './fine-tuning.js'
import { decodeMatrix } from './matrix-format.js'
import { MatrixBuilder, type Matrix } from './matrix.js'
import type { Exclusion } from './task.js'
import { columnTypeOf } from './values.js'

/** The rows of a training's query: its columns, and chunks of comma-joined JSON arrays. */
export type SelectedRows = {
  columns: readonly { name: string; type: string }[]
  chunks: AsyncIterable<Buffer>
  /** The parts of the query whose rows may differ in another run. */
  nondeterminism?: readonly Nondeterminism[]
  /** The data in the rows that may be erased later; anything may be, if it is missing. */
  erasable?: ErasableReads
  /** The connected databases that rows come from. */
  connections?: readonly ConnectionRead[]
}
/**
 * The query of a training: it reads the log at a position, on behalf of a user, for a version of a model. With `repeats`, its rows are
 * compared with those of an earlier run. Connected databases refuse such a query, because they only have their current rows.
 */
export type RowsQuery = { sql: string; db: string; upTo: number; user?: string; training?: TrainedVersion; repeats?: true }
export type RowSource = (query: RowsQuery, signal: AbortSignal) => Promise<SelectedRows>

/** A query's result in a file: each line holds rows as comma-joined JSON arrays. */
export type RowsFile = { file: string } & Pick<SelectedRows, 'columns' | 'connections' | 'nondeterminism'>

const newline = Buffer.from('\n')

async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    yield chunk
    yield newline
  }
}

/**
 * Writes the rows of a query to a file, from which `readRows` makes a matrix. It waits while there is no SQL process. If the process ends
 * before the last row, it reads again, but only a few times, because the rows themselves may crash the process.
 *
 * @example const rows = await writeRows(select, { sql: 'SELECT * FROM homes', db: 'files', upTo: 40 }, 'rows.ndjson', signal)
 * @throws Problem of the query; the signal's reason
 */
export const writeRows = async (select: RowSource, query: RowsQuery, file: string, signal: AbortSignal): Promise<RowsFile> => {
  for (let losses = 0; ; losses++) {
    const { columns, chunks, nondeterminism = [], connections = [] } = await retryWhileUnavailable(() => select(query, signal), signal)
    try {
      await pipeline(lines(chunks), createWriteStream(file), { signal })
      return { file, columns, nondeterminism, ...(connections.length > 0 && { connections }) }
    } catch (error) {
      signal.throwIfAborted()
      if (!isPassing(error) || losses >= limits.sqlRetriesMax) throw error
    }
  }
}

/** The chunks in a file of rows. Only a newline ends one: readline would split at U+2028 as well, which texts of JSON contain as it is. */
async function* chunksIn(file: string): AsyncGenerator<string> {
  let parts: Buffer[] = []
  for await (const bytes of createReadStream(file) as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, from)) {
      yield Buffer.concat([...parts, bytes.subarray(from, end)]).toString()
      parts = []
      from = end + 1
    }
    parts.push(bytes.subarray(from))
  }
}

/** `fineTuned` has the numbers of kept and new rows, if there were kept rows. */
export type ReadRows = { matrix: Matrix; excluded: Exclusion[]; fineTuned?: FineTuningRows }

/**
 * Reads a query's rows into a canonical matrix, after the kept rows of a base version. Columns of types that cannot be learned from (lists,
 * blobs …) are left out and reported.
 *
 * @example const { matrix, excluded } = await readRows({ file: 'rows.ndjson', columns }, seed)
 */
export const readRows = async ({ file, columns }: RowsFile, seed: number, base?: Base): Promise<ReadRows> => {
  const before = base && decodeMatrix(readFileSync(base.matrixFile))
  const typed = columns.map(({ name, type }, index) => ({ name, index, sqlType: type, type: columnTypeOf(type) }))
  const found = typed.flatMap(({ name, index, type }) => (type === undefined ? [] : [{ name, index, type }]))
  const kept = base && before ? joinedColumns(before, found, base.version) : found
  const builder = new MatrixBuilder(kept.map(({ name, type }) => ({ name, type })))
  if (before) builder.addMatrix(before)
  const whole = !before && kept.length === columns.length
  for await (const chunk of chunksIn(file)) {
    const rows = JSON.parse(`[${chunk}]`) as unknown[][]
    for (const row of rows) builder.addRow(whole ? row : kept.map(({ index }) => row[index]))
  }
  const excluded = typed.flatMap(({ name, type, sqlType }) =>
    type === undefined ? [{ name, type: 'text' as const, reason: `nothing can be learned from the type ${sqlType}` }] : [],
  )
  const matrix = builder.build(seed)
  if (!base || !before) return { matrix, excluded }
  return { matrix, excluded, fineTuned: { base_version: base.version, rows_kept: before.rows, rows_new: matrix.rows - before.rows } }
}
