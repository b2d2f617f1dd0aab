import { ByteReader, ByteWriter, type NumberArray } from '../numerics/bytes.js'
import type { Matrix, MatrixColumn, NumberColumn } from './matrix.js'

const magic = 'MLMATRIX'
const version = 1

const types = ['text', 'number', 'integer', 'boolean', 'date', 'timestamp'] as const
const storages = [Int8Array, Int16Array, Int32Array, Float32Array, Float64Array] as const

/** In the integer storages the smallest value means missing. */
const missingIn = (storage: number): number => [-0x80, -0x8000, -0x80000000][storage]!

const smallestStorage = (numbers: ArrayLike<number>): number => {
  let whole = true
  let single = true
  let largest = 0
  for (let row = 0; row < numbers.length; row++) {
    const value = numbers[row]!
    if (Number.isNaN(value)) continue
    whole &&= Number.isInteger(value)
    single &&= Math.fround(value) === value
    largest = Math.max(largest, Math.abs(value))
  }
  if (whole && largest < 0x80000000) return largest < 0x80 ? 0 : largest < 0x8000 ? 1 : 2
  return single ? 3 : 4
}

const writeNumbers = (writer: ByteWriter, numbers: ArrayLike<number>): void => {
  const storage = smallestStorage(numbers)
  const missing = storage < 3 ? missingIn(storage) : NaN
  writer.u8(storage)
  const stored: NumberArray = new storages[storage]!(numbers.length)
  for (let row = 0; row < stored.length; row++) stored[row] = Number.isNaN(numbers[row]) ? missing : numbers[row]!
  writer.array(stored)
}

const readNumbers = (reader: ByteReader, rows: number): Float64Array => {
  const storage = reader.u8()
  if (storage >= storages.length) throw reader.damaged(`it has an unknown storage ${storage}`)
  const missing = storage < 3 ? missingIn(storage) : NaN
  const stored: NumberArray = reader.array<NumberArray>(storages[storage]!, rows)
  const numbers = new Float64Array(rows)
  for (let row = 0; row < rows; row++) numbers[row] = stored[row] === missing ? NaN : stored[row]!
  return numbers
}

const writeColumn = (writer: ByteWriter, column: MatrixColumn): void => {
  writer.text(column.name)
  writer.u8(types.indexOf(column.type))
  if (column.type !== 'text') {
    writeNumbers(writer, column.numbers)
    return
  }
  writer.u32(column.dictionary.length)
  for (const text of column.dictionary) writer.text(text)
  writeNumbers(writer, column.codes)
}

const readColumn = (reader: ByteReader, rows: number): MatrixColumn => {
  const name = reader.text()
  const type = types[reader.u8()]
  if (type === undefined) throw reader.damaged('it has an unknown column type')
  if (type !== 'text') return { name, type, numbers: readNumbers(reader, rows) } satisfies NumberColumn
  const dictionary = Array.from({ length: reader.u32() }, () => reader.text())
  return { name, type, dictionary, codes: Int32Array.from(readNumbers(reader, rows)) }
}

/**
 * Encodes the matrix: magic `MLMATRIX`, version (u16), rows, columns and seed (u32 each), then per column its name, type, dictionary (text
 * only) and numbers in the smallest storage that holds them exactly. Little endian. The SHA-256 of these bytes identifies the training
 * data.
 *
 * @example const identity = createHash('sha256').update(encodeMatrix(matrix)).digest('hex')
 */
export const encodeMatrix = (matrix: Matrix): Uint8Array => {
  const writer = new ByteWriter()
  writer.raw(new TextEncoder().encode(magic))
  writer.u16(version)
  writer.u32(matrix.rows)
  writer.u32(matrix.columns.length)
  writer.u32(matrix.seed)
  for (const column of matrix.columns) writeColumn(writer, column)
  return writer.finish()
}

/** Decodes what `encodeMatrix` wrote; other bytes are an `internal` problem that says why. */
export const decodeMatrix = (bytes: Uint8Array): Matrix => {
  const reader = new ByteReader(bytes, 'training matrix')
  reader.expect(magic, version)
  const rows = reader.u32()
  const count = reader.u32()
  const seed = reader.u32()
  const columns = Array.from({ length: count }, () => readColumn(reader, rows))
  reader.end()
  return { rows, seed, columns }
}
