import { closeSync, openSync, writeSync } from 'node:fs'
import { limits } from '../../basics/limits.js'
import { refuseLarge } from './table-size.js'

const bufferBytes = 1024 * 1024
const quote = 0x22

/**
 * Writes rows in the one form that needs no detection. Synchronous on purpose: it runs in a process of its own, where waiting for the disk
 * blocks no other work.
 */
export class StagingFile {
  private readonly file: number
  private readonly buffer = Buffer.allocUnsafe(bufferBytes)
  private used = 0
  /** The length of the longest row so far; the reader's buffer must hold it. */
  longestRowBytes = 0
  totalBytes = 0
  rowCount = 0
  private rowBytes = 0

  constructor(readonly path: string) {
    this.file = openSync(path, 'wx', 0o600)
  }

  /** Copies a piece of a row. */
  bytes(source: Buffer, start: number, end: number): void {
    const length = end - start
    this.rowBytes += length
    if (length > bufferBytes - this.used) this.flush()
    if (length > bufferBytes) {
      writeAll(this.file, source.subarray(start, end))
      return
    }
    source.copy(this.buffer, this.used, start, end)
    this.used += length
  }

  /** Adds one byte to the row that is being written. */
  byte(value: number): void {
    if (this.used === bufferBytes) this.flush()
    this.buffer[this.used++] = value
    this.rowBytes += 1
  }

  /** Adds a text to the row that is being written, as UTF-8 and without quotes. */
  text(value: string): void {
    if (value.length * 3 > bufferBytes - this.used) this.flush()
    if (value.length * 3 <= bufferBytes) {
      const written = this.buffer.write(value, this.used)
      this.used += written
      this.rowBytes += written
      return
    }
    const bytes = Buffer.from(value)
    this.bytes(bytes, 0, bytes.length)
  }

  /** Writes bytes as a quoted field; `doubled` says that their quotes are doubled already. */
  quoted(source: Buffer, start: number, end: number, doubled: boolean): void {
    this.byte(quote)
    let from = start
    for (let at = start; !doubled && at < end; at++) {
      if (source[at] !== quote) continue
      this.bytes(source, from, at + 1)
      this.byte(quote)
      from = at + 1
    }
    this.bytes(source, from, end)
    this.byte(quote)
  }

  /** Ends the row. @throws TableTooLarge for more rows or text than a table may have */
  endRow(): void {
    this.byte(0x0a)
    this.longestRowBytes = Math.max(this.longestRowBytes, this.rowBytes)
    this.totalBytes += this.rowBytes
    this.rowBytes = 0
    this.rowCount += 1
    // A small file may hold a large table: a few rows with thousands of columns, then many rows with one of them each.
    if (this.rowCount > limits.tableMaxRows || this.totalBytes > limits.tableMaxTextBytes)
      refuseLarge({ rows: this.rowCount, textBytes: this.totalBytes })
  }

  /** Writes what is still in memory, and closes the file. */
  close(): void {
    this.flush()
    closeSync(this.file)
  }

  private flush(): void {
    writeAll(this.file, this.buffer.subarray(0, this.used))
    this.used = 0
  }
}

/** One write may write less than it was given. */
const writeAll = (file: number, bytes: Buffer): void => {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
}
