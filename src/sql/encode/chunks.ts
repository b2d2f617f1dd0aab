/** Room: values as text, in the styles of clients. It imports only events. */

import {
  DuckDBArrayType,
  DuckDBArrayVector,
  DuckDBListType,
  DuckDBListVector,
  DuckDBMapType,
  DuckDBStructType,
  DuckDBStructVector,
  DuckDBTypeId,
  DuckDBUnionType,
  type DuckDBDataChunk,
  type DuckDBType,
  type DuckDBVector,
} from '@duckdb/node-api'
import { csvStyle, jsonStyle, type Style } from './styles.js'
import { TextBytes } from './text-bytes.js'
import { always, rawItems, validityOf } from './vectors.js'
import { plainCell, type Cell } from './plain.js'

/** The internal columns of a MAP and a UNION, which the binding does not show. */
const within = (vector: DuckDBVector, name: 'listVector' | 'structVector' | 'childData'): unknown => Reflect.get(vector, name)

const arrayCell = (child: Cell, range: (row: number) => [from: number, to: number], out: TextBytes): Cell => {
  return (row) => {
    const [from, to] = range(row)
    out.ascii('[')
    for (let i = from; i < to; i++) {
      if (i > from) out.ascii(',')
      child(i)
    }
    out.ascii(']')
  }
}

const rangeOf =
  (list: DuckDBListVector) =>
  (row: number): [number, number] => {
    const from = list.getEntryOffset(row)
    return [from, from + list.getEntryLength(row)]
  }

/** A STRUCT whose entries have no names becomes an array: an object would keep only the last entry. */
const structCell = (struct: DuckDBStructVector, { entryNames, entryTypes }: DuckDBStructType, out: TextBytes): Cell => {
  const isNamed = entryNames.every((name) => name !== '')
  const [open, close] = isNamed ? '{}' : '[]'
  const entries = entryTypes.map((type, i) => {
    const before = `${i === 0 ? '' : ','}${isNamed ? `${JSON.stringify(entryNames[i])}:` : ''}`
    return { before: Buffer.from(before), cell: jsonCell(struct.entryVectorAt(i), type, out) }
  })
  return (row) => {
    out.ascii(open ?? '')
    for (const { before, cell } of entries) {
      out.bytes(before, 0, before.length)
      cell(row)
    }
    out.ascii(close ?? '')
  }
}

/** An object. Its keys become texts, because JSON has no other keys. */
const mapCell = (list: DuckDBListVector, { keyType, valueType }: DuckDBMapType, out: TextBytes): Cell => {
  const entries = list.childVector
  if (!(entries instanceof DuckDBStructVector)) throw new TypeError('a MAP is a list of keys and values')
  const key = new TextBytes()
  const writeKey = jsonCell(entries.entryVectorAt(0), keyType, key)
  const writeValue = jsonCell(entries.entryVectorAt(1), valueType, out)
  const quote = jsonStyle.mark.charCodeAt(0)
  const range = rangeOf(list)
  return (row) => {
    const [from, to] = range(row)
    out.ascii('{')
    for (let i = from; i < to; i++) {
      if (i > from) out.ascii(',')
      key.clear()
      writeKey(i)
      const written = key.written()
      if (written[0] === quote) out.bytes(written, 0, written.length)
      else jsonStyle.text(out, written, 0, written.length)
      out.ascii(':')
      writeValue(i)
    }
    out.ascii('}')
  }
}

/** A UNION is written as the value that it holds. */
const unionCell = (struct: DuckDBStructVector, { memberTypes }: DuckDBUnionType, out: TextBytes): Cell => {
  const tags = rawItems(struct.entryVectorAt(0))
  const members = memberTypes.map((type, i) => jsonCell(struct.entryVectorAt(i + 1), type, out))
  return (row) => members[Number(tags?.[row])]?.(row)
}

const nestedCell = (vector: DuckDBVector, type: DuckDBType, out: TextBytes): Cell | undefined => {
  if (type instanceof DuckDBListType && vector instanceof DuckDBListVector)
    return arrayCell(jsonCell(vector.childVector, type.valueType, out), rangeOf(vector), out)
  if (type instanceof DuckDBArrayType && vector instanceof DuckDBArrayVector) {
    const child = within(vector, 'childData')
    const { length, valueType } = type
    return arrayCell(jsonCell(child as DuckDBVector, valueType, out), (row) => [row * length, (row + 1) * length], out)
  }
  if (type instanceof DuckDBStructType && vector instanceof DuckDBStructVector) return structCell(vector, type, out)
  const [list, struct] = [within(vector, 'listVector'), within(vector, 'structVector')]
  if (type instanceof DuckDBMapType && list instanceof DuckDBListVector) return mapCell(list, type, out)
  if (type instanceof DuckDBUnionType && struct instanceof DuckDBStructVector) return unionCell(struct, type, out)
  return undefined
}

const validRows = (vector: DuckDBVector, type: DuckDBType): ((row: number) => boolean) => {
  const [list, struct] = [within(vector, 'listVector'), within(vector, 'structVector')]
  if (list instanceof DuckDBListVector) return validityOf(list)
  if (struct instanceof DuckDBStructVector) return validityOf(type.typeId === DuckDBTypeId.UNION ? struct.entryVectorAt(0) : struct)
  return validityOf(vector)
}

const orNothing = (cell: Cell, vector: DuckDBVector, type: DuckDBType, out: TextBytes, nothing: string): Cell => {
  const valid = validRows(vector, type)
  return valid === always ? cell : (row) => (valid(row) ? cell(row) : out.ascii(nothing))
}

const jsonCell = (vector: DuckDBVector, type: DuckDBType, out: TextBytes): Cell => {
  const cell = nestedCell(vector, type, out) ?? plainCell(vector, type, out, jsonStyle)
  return orNothing(cell, vector, type, out, jsonStyle.nothing)
}

/** A value that contains other values is written as JSON, in every format of an answer. */
const asText = (vector: DuckDBVector, type: DuckDBType, out: TextBytes, style: Style): Cell | undefined => {
  const json = new TextBytes()
  const cell = nestedCell(vector, type, json)
  if (!cell) return undefined
  return (row) => {
    json.clear()
    cell(row)
    const written = json.written()
    style.text(out, written, 0, written.length)
  }
}

/** The writer of a column: writes the value of a row, or NULL. */
const cellOf = (vector: DuckDBVector, type: DuckDBType, out: TextBytes, style: Style): Cell => {
  if (style === jsonStyle) return jsonCell(vector, type, out)
  const cell = asText(vector, type, out, style) ?? plainCell(vector, type, out, style)
  return orNothing(cell, vector, type, out, style.nothing)
}

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
