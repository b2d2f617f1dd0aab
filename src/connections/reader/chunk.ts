import duckdb from '@duckdb/node-bindings'
import {
  BIGINT,
  BLOB,
  BOOLEAN,
  DATE,
  DECIMAL,
  DOUBLE,
  DuckDBDataChunk,
  FLOAT,
  HUGEINT,
  INTEGER,
  INTERVAL,
  LIST,
  SMALLINT,
  TIME,
  TIMESTAMP,
  TIMESTAMP_NS,
  TIMESTAMPTZ,
  TIMETZ,
  TINYINT,
  UBIGINT,
  UINTEGER,
  USMALLINT,
  UTINYINT,
  UUID,
  VARCHAR,
  type DuckDBType,
} from '@duckdb/node-api'
import { bytesPerValue, isText, type ColumnType, type PlainType } from '../contract/types.js'

const plainTypes: Readonly<Record<PlainType, DuckDBType>> = {
  BOOLEAN,
  TINYINT,
  SMALLINT,
  INTEGER,
  BIGINT,
  UTINYINT,
  USMALLINT,
  UINTEGER,
  UBIGINT,
  HUGEINT,
  FLOAT,
  DOUBLE,
  DATE,
  TIME,
  'TIME WITH TIME ZONE': TIMETZ,
  TIMESTAMP,
  TIMESTAMP_NS,
  'TIMESTAMP WITH TIME ZONE': TIMESTAMPTZ,
  INTERVAL,
  UUID,
  VARCHAR,
  BLOB,
  // In a chunk JSON is text; a column of the type JSON takes it.
  JSON: VARCHAR,
}

/** The type of a vector of DuckDB. */
const duckType = (type: ColumnType): DuckDBType => {
  if (type.type === 'LIST') return LIST(duckType(type.of))
  return type.type === 'DECIMAL' ? DECIMAL(type.width, type.scale) : plainTypes[type.type]
}

const padded = (bytes: number): number => Math.ceil(bytes / 8) * 8

const damaged = (): TypeError => new TypeError('a batch of rows is damaged')

/** Reads one batch. Every length is checked against the batch, because the copy into DuckDB's memory checks nothing. */
class BatchReader {
  readonly #view: DataView
  #at = 8

  constructor(private readonly bytes: Buffer) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get rows(): number {
    return this.#view.getUint32(0, true)
  }

  fill(vector: duckdb.Vector, type: ColumnType, rows: number): void {
    const hasNulls = this.#number(8) === 1
    if (hasNulls) {
      const bytes = Math.ceil(rows / 64) * 8
      duckdb.vector_ensure_validity_writable(vector)
      duckdb.copy_data_to_vector_validity(vector, 0, this.#buffer, this.#take(bytes), bytes)
    }
    const data = this.#take(padded(rows * bytesPerValue(type)))
    if (isText(type)) this.#checkTexts(data, rows)
    if (type.type === 'LIST') this.#fillChild(vector, type.of, data, rows)
    if (rows > 0) duckdb.copy_data_to_vector(vector, 0, this.#buffer, data, rows * bytesPerValue(type))
    if (isText(type)) this.#fillLong(vector, rows)
  }

  /** The memory of the batch. */
  get #buffer(): ArrayBuffer {
    return this.bytes.buffer as ArrayBuffer
  }

  /** Moves on by this many bytes, and returns their offset in the memory. */
  #take(bytes: number): number {
    const at = this.#at
    this.#at += bytes
    if (this.#at > this.bytes.length) throw damaged()
    return this.bytes.byteOffset + at
  }

  /** The number at the place, which takes `bytes`. */
  #number(bytes: number): number {
    return this.#view.getUint32(this.#take(bytes) - this.bytes.byteOffset, true)
  }

  /** Refuses longer texts: DuckDB would read them from the address in their place. */
  #checkTexts(data: number, rows: number): void {
    const from = data - this.bytes.byteOffset
    for (let row = 0; row < rows; row++) if (this.#view.getUint32(from + row * 16, true) > 12) throw damaged()
  }

  #fillLong(vector: duckdb.Vector, rows: number): void {
    const [count, heapBytes] = [this.#number(4), this.#number(4)]
    const pairs = this.#take(count * 8) - this.bytes.byteOffset
    let at = this.#take(padded(heapBytes)) - this.bytes.byteOffset
    const end = at + heapBytes
    for (let index = 0; index < count; index++) {
      const [row, length] = [this.#view.getUint32(pairs + index * 8, true), this.#view.getUint32(pairs + index * 8 + 4, true)]
      if (row >= rows || at + length > end) throw damaged()
      duckdb.vector_assign_string_element_len(vector, row, this.bytes.subarray(at, at + length))
      at += length
    }
  }

  /** The values of lists come behind the list's own vector. */
  #fillChild(vector: duckdb.Vector, of: ColumnType, data: number, rows: number): void {
    const count = this.#number(8)
    const from = data - this.bytes.byteOffset
    for (let row = 0; row < rows; row++) {
      const end = this.#view.getBigUint64(from + row * 16, true) + this.#view.getBigUint64(from + row * 16 + 8, true)
      if (end > BigInt(count)) throw damaged()
    }
    duckdb.list_vector_reserve(vector, count)
    duckdb.list_vector_set_size(vector, count)
    this.fill(duckdb.list_vector_get_child(vector), of, count)
  }
}

/**
 * Makes chunks from batches. The values are copied as they are, and only long texts one by one.
 *
 * @example const chunk = fillChunk(newChunk(types), types, batch)
 */
export const fillChunk = (chunk: DuckDBDataChunk, types: readonly ColumnType[], batch: Buffer): DuckDBDataChunk => {
  const reader = new BatchReader(batch)
  const { rows } = reader
  if (rows > duckdb.vector_size()) throw damaged()
  chunk.rowCount = rows
  types.forEach((type, index) => reader.fill(duckdb.data_chunk_get_vector(chunk.chunk, index), type, rows))
  return chunk
}

/** An empty chunk of DuckDB for rows of these types, which `fillChunk` can fill again and again. */
export const newChunk = (types: readonly ColumnType[]): DuckDBDataChunk => DuckDBDataChunk.create(types.map(duckType))
