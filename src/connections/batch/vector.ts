/** Room: batches of rows in DuckDB's format, from the texts of a database. It imports only basics and connections/contract. */

import { bytesPerValue, isText, type ColumnType } from '../contract/types.js'

/** The most rows of a batch: those of a chunk of DuckDB. */
export const batchRows = 2_048

/** Texts up to this many bytes stand in the vector itself. */
const inlineBytes = 12

/** An answer may have thousands of columns, and each has a heap. */
const firstHeapBytes = 1024

/**
 * The values of one column of a batch in DuckDB's format: the values side by side, a bit for each value that is not NULL, and long texts at
 * the end. A vector is filled row by row, and used again for the next batch. It has room for `rows` rows.
 */
export class Vector {
  data: Buffer
  /** Bits of the rows that are not NULL; only looked at if there is a NULL. */
  valid: Buffer
  hasNulls = false
  readonly width: number
  /** The values of all lists, one after the other. */
  readonly child: Vector | undefined
  /** How many values the child of a list has. */
  childRows = 0
  #rows: number
  #heap = Buffer.alloc(0)
  #heapBytes = 0
  /** Pairs of row and length of the texts in the heap. */
  #long: number[] = []

  constructor(
    readonly type: ColumnType,
    rows = batchRows,
  ) {
    this.#rows = rows
    this.width = bytesPerValue(type)
    this.data = Buffer.alloc(rows * this.width)
    this.valid = Buffer.alloc(Math.ceil(rows / 64) * 8)
    this.child = type.type === 'LIST' ? new Vector(type.of, rows) : undefined
  }

  /** Makes it empty. */
  clear(): void {
    this.hasNulls = false
    this.#heapBytes = 0
    this.#long = []
    this.childRows = 0
    this.child?.clear()
    // After one batch of long texts, the following batches do not keep its memory.
    if (this.#heap.length > 4 * 1024 * 1024) this.#heap = Buffer.alloc(0)
  }

  /** Makes room for a row; only children of lists have more rows than a batch. */
  reserve(rows: number): void {
    if (rows <= this.#rows) return
    this.#rows = Math.max(rows, this.#rows * 2)
    const [data, valid] = [Buffer.alloc(this.#rows * this.width), Buffer.alloc(Math.ceil(this.#rows / 64) * 8, 0xff)]
    if (this.hasNulls) this.valid.copy(valid)
    this.data.copy(data)
    this.data = data
    this.valid = valid
  }

  /** Makes the value of a row NULL. */
  setNull(row: number): void {
    if (!this.hasNulls) {
      this.valid.fill(0xff)
      this.hasNulls = true
    }
    const at = row >>> 3
    this.valid[at] = (this.valid[at] ?? 0) & ~(1 << (row & 7))
    // Otherwise the place would hold a text or a list of the previous batch.
    if (this.width === 16) this.data.fill(0, row * 16, row * 16 + 16)
  }

  /** Sets a row to a text, as UTF-8. */
  setText(row: number, text: string): void {
    const at = row * 16
    const { data } = this
    if (text.length <= inlineBytes) {
      let isAscii = true
      for (let i = 0; i < text.length; i++) {
        const code = text.charCodeAt(i)
        if (code > 0x7f) {
          isAscii = false
          break
        }
        data[at + 4 + i] = code
      }
      if (isAscii) {
        data[at] = text.length
        data[at + 1] = data[at + 2] = data[at + 3] = 0
        for (let i = text.length; i < inlineBytes; i++) data[at + 4 + i] = 0
        return
      }
    }
    this.#makeHeap(text.length * 3)
    this.#take(row, this.#heap.write(text, this.#heapBytes))
  }

  /** Sets a row to bytes, as a BLOB or a text that is UTF-8 already. */
  setBytes(row: number, bytes: Uint8Array): void {
    this.#makeHeap(bytes.length)
    this.#heap.set(bytes, this.#heapBytes)
    this.#take(row, bytes.length)
  }

  /** The bytes of long texts so far. */
  get heapBytes(): number {
    return this.#heapBytes + (this.child?.heapBytes ?? 0)
  }

  /** Makes the bytes at the end of the heap the value of a row. */
  #take(row: number, length: number): void {
    const at = row * 16
    this.data.fill(0, at, at + 16)
    if (length <= inlineBytes) {
      this.data[at] = length
      this.#heap.copy(this.data, at + 4, this.#heapBytes, this.#heapBytes + length)
      return
    }
    this.#heapBytes += length
    this.#long.push(row, length)
  }

  #makeHeap(more: number): void {
    if (this.#heapBytes + more <= this.#heap.length) return
    const heap = Buffer.allocUnsafe(Math.max(firstHeapBytes, this.#heap.length * 2, this.#heapBytes + more))
    this.#heap.copy(heap, 0, 0, this.#heapBytes)
    this.#heap = heap
  }

  /** How many bytes `write` writes. */
  encodedBytes(rows: number): number {
    const own = 8 + (this.hasNulls ? Math.ceil(rows / 64) * 8 : 0) + padded(rows * this.width)
    const long = isText(this.type) ? 8 + this.#long.length * 4 + padded(this.#heapBytes) : 0
    const child = this.child ? 8 + this.child.encodedBytes(this.childRows) : 0
    return own + long + child
  }

  /**
   * Writes the vector: whether it has NULLs (8 bytes), the bits, the values, filled up to a multiple of 8. Texts follow with the number of
   * long ones and of their bytes (u32 each), pairs of row and length, and the bytes. Lists follow with the number of their values (8 bytes)
   * and the vector of these. Little endian. Returns the offset behind it.
   */
  write(rows: number, into: Buffer, from: number): number {
    let at = from
    into.writeUInt32LE(this.hasNulls ? 1 : 0, at)
    into.writeUInt32LE(0, at + 4)
    at += 8
    if (this.hasNulls) at += this.valid.copy(into, at, 0, Math.ceil(rows / 64) * 8)
    this.data.copy(into, at, 0, rows * this.width)
    at += padded(rows * this.width)
    if (isText(this.type)) {
      into.writeUInt32LE(this.#long.length / 2, at)
      into.writeUInt32LE(this.#heapBytes, at + 4)
      at += 8
      for (const number of this.#long) at = into.writeUInt32LE(number, at)
      this.#heap.copy(into, at, 0, this.#heapBytes)
      at += padded(this.#heapBytes)
    }
    if (!this.child) return at
    into.writeUInt32LE(this.childRows, at)
    into.writeUInt32LE(0, at + 4)
    return this.child.write(this.childRows, into, at + 8)
  }
}

const padded = (bytes: number): number => Math.ceil(bytes / 8) * 8

/**
 * Encodes a batch: the number of rows (8 bytes), then its vectors.
 *
 * @example socket.write(encodeVectors([ids, names], 2048))
 */
export const encodeVectors = (vectors: readonly Vector[], rows: number): Buffer => {
  const size = vectors.reduce((sum, vector) => sum + vector.encodedBytes(rows), 8)
  const batch = Buffer.allocUnsafe(size)
  batch.writeUInt32LE(rows, 0)
  batch.writeUInt32LE(0, 4)
  let at = 8
  for (const vector of vectors) at = vector.write(rows, batch, at)
  return batch
}
