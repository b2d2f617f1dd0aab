/** Room: values as text, in the styles of clients. It imports only events. */

import type { DuckDBDataChunk, DuckDBType } from '@duckdb/node-api'
import { cellOf } from './cells.js'
import { csvStyle, jsonStyle } from './styles.js'
import { TextBytes } from './text-bytes.js'

/** The format of rows: JSON arrays with commas between them, or lines of CSV. */
export type RowFormat = 'json' | 'csv'

const forms = {
  json: { style: jsonStyle, open: '[', close: ']', between: ',' },
  csv: { style: csvStyle, open: '', close: '\r\n', between: '' },
} as const

/** Most rows have fewer bytes, so the buffer seldom has to grow. */
const guessedBytesPerCell = 16

/**
 * The rows of a chunk in UTF-8. JSON has no brackets around all rows, and no raw newline inside.
 *
 * @example rowsOf(chunk, types, 'json') // [1,"a"],[2,null]
 */
export const rowsOf = (chunk: DuckDBDataChunk, types: readonly DuckDBType[], format: RowFormat): Buffer => {
  const { style, open, close, between } = forms[format]
  // Every access to the chunk's own count is a call of the binding.
  const rows = chunk.rowCount
  const out = new TextBytes(rows * types.length * guessedBytesPerCell)
  const cells = types.map((type, column) => cellOf(chunk.getColumnVector(column), type, out, style))
  const [first, ...others] = cells
  if (!first) return out.written()
  for (let row = 0; row < rows; row++) {
    out.ascii(row === 0 ? open : `${between}${open}`)
    first(row)
    for (const cell of others) {
      out.ascii(',')
      cell(row)
    }
    out.ascii(close)
  }
  return out.written()
}
