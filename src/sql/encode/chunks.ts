import { DuckDBTypeId, type DuckDBDataChunk, type DuckDBType, type DuckDBVector } from '@duckdb/node-api'
import { rawItems, validityOf, type RawItems } from '../vectors.js'
import { dateText, timestampText } from './times.js'
import { floatText, valueText } from './values.js'

/** The JSON text of a row's cell. */
type Cell = (row: number) => string

const wholes = new Set([
  DuckDBTypeId.TINYINT,
  DuckDBTypeId.SMALLINT,
  DuckDBTypeId.INTEGER,
  DuckDBTypeId.UTINYINT,
  DuckDBTypeId.USMALLINT,
  DuckDBTypeId.UINTEGER,
])

/** 64-bit integers are read as two halves where a JavaScript number holds them, which is three times as fast. */
const bigCell = (items: BigInt64Array | BigUint64Array): Cell => {
  const halves = new Uint32Array(items.buffer, items.byteOffset, items.length * 2)
  const signed = items instanceof BigInt64Array
  return (row) => {
    const high = halves[row * 2 + 1] ?? 0
    const number = (signed ? high | 0 : high) * 4_294_967_296 + (halves[row * 2] ?? 0)
    return Number.isSafeInteger(number) ? String(number) : String(items[row])
  }
}

const finiteCell =
  (items: RawItems, text: (value: number) => string): Cell =>
  (row) => {
    const value = Number(items[row])
    return Number.isFinite(value) ? text(value) : 'null'
  }

/** The kinds of columns that results are made of mostly, read from their storage. */
const fastCell = (typeId: DuckDBTypeId, items: RawItems): Cell | undefined => {
  if (wholes.has(typeId)) return (row) => String(items[row])
  const isBig = items instanceof BigInt64Array || items instanceof BigUint64Array
  if (isBig && (typeId === DuckDBTypeId.BIGINT || typeId === DuckDBTypeId.UBIGINT)) return bigCell(items)
  if (typeId === DuckDBTypeId.DOUBLE) return finiteCell(items, String)
  if (typeId === DuckDBTypeId.FLOAT) return finiteCell(items, floatText)
  if (typeId === DuckDBTypeId.DATE) return (row) => `"${dateText(Number(items[row]))}"`
  if (isBig && typeId === DuckDBTypeId.TIMESTAMP) return (row) => `"${timestampText(items[row] ?? 0n)}"`
  return undefined
}

const cellsOf = (vector: DuckDBVector, type: DuckDBType): Cell => {
  const items = rawItems(vector)
  const fast = items && fastCell(type.typeId, items)
  if (!fast) return (row) => valueText(vector.getItem(row), type)
  const valid = validityOf(vector)
  return (row) => (valid(row) ? fast(row) : 'null')
}

/**
 * The rows of a chunk as JSON arrays with commas between them: no brackets around, no raw newline inside.
 *
 * @example rowsText(chunk, types) // [1,"a"],[2,null]
 */
export const rowsText = (chunk: DuckDBDataChunk, types: readonly DuckDBType[]): string => {
  const cells = types.map((type, column) => cellsOf(chunk.getColumnVector(column), type))
  const [first, ...others] = cells
  if (!first) return ''
  // Each look at the chunk's own count is a call into the binding.
  const rows = chunk.rowCount
  let text = ''
  for (let row = 0; row < rows; row++) {
    text += row === 0 ? `[${first(row)}` : `,[${first(row)}`
    for (const cell of others) text += `,${cell(row)}`
    text += ']'
  }
  return text
}
