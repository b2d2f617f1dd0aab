import { Problem } from '../../basics/errors.js'

/** Number arrays of the binary formats. They are little endian, which is the byte order of all supported platforms. */
export type NumberArray = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array | Float32Array | Float64Array

/** Collects little-endian fields into one block of bytes. */
export class ByteWriter {
  private bytes = new Uint8Array(4096)
  private view = new DataView(this.bytes.buffer)
  private length = 0

  /** Writes a whole number of 8 bits without a sign. */
  u8(value: number): void {
    const at = this.grow(1)
    this.view.setUint8(at, value)
  }

  /** Writes a whole number of 16 bits without a sign, little endian. */
  u16(value: number): void {
    const at = this.grow(2)
    this.view.setUint16(at, value, true)
  }

  /** Writes a whole number of 32 bits without a sign, little endian. */
  u32(value: number): void {
    const at = this.grow(4)
    this.view.setUint32(at, value, true)
  }

  /** UTF-8 text, after its length in bytes. */
  text(value: string): void {
    const encoded = new TextEncoder().encode(value)
    this.u32(encoded.length)
    this.raw(encoded)
  }

  /** Writes only the numbers; the reader must know their count. */
  array(values: NumberArray): void {
    this.raw(new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
  }

  /** Writes bytes as they are, without their length. */
  raw(bytes: Uint8Array): void {
    const at = this.grow(bytes.length)
    this.bytes.set(bytes, at)
  }

  /** A copy of all that was written. */
  finish(): Uint8Array {
    return this.bytes.slice(0, this.length)
  }

  private grow(size: number): number {
    const at = this.length
    this.length += size
    if (this.length > this.bytes.length) {
      const larger = new Uint8Array(Math.max(this.length, this.bytes.length * 2))
      larger.set(this.bytes)
      this.bytes = larger
      this.view = new DataView(larger.buffer)
    }
    return at
  }
}

/** Reads the output of `ByteWriter`. If the bytes end too early, it throws a `Problem` (`internal`) that says what was missing. */
export class ByteReader {
  private at = 0
  private readonly view: DataView

  constructor(
    private readonly bytes: Uint8Array,
    private readonly what: string,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** A whole number of 8 bits without a sign. @throws Problem internal at the end of the bytes */
  u8(): number {
    return this.view.getUint8(this.step(1))
  }

  /** A whole number of 16 bits without a sign, little endian. @throws Problem internal at the end of the bytes */
  u16(): number {
    return this.view.getUint16(this.step(2), true)
  }

  /** A whole number of 32 bits without a sign, little endian. @throws Problem internal at the end of the bytes */
  u32(): number {
    return this.view.getUint32(this.step(4), true)
  }

  /**
   * A text with its length in bytes before it (32 bits).
   *
   * @throws Problem internal at the end of the bytes, TypeError for bytes that are not UTF-8
   */
  text(): string {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.raw(this.u32()))
  }

  /** Fills a new array of the given kind, for example `reader.array(Float64Array, rows)`. */
  array<Numbers extends NumberArray>(Kind: { new (buffer: ArrayBuffer): Numbers; BYTES_PER_ELEMENT: number }, count: number): Numbers {
    return new Kind(this.raw(count * Kind.BYTES_PER_ELEMENT).slice().buffer)
  }

  /** A copy of the next bytes. @throws Problem internal when there are fewer */
  raw(size: number): Uint8Array<ArrayBuffer> {
    const at = this.step(size)
    return new Uint8Array(this.bytes.subarray(at, at + size))
  }

  /** Checks the first bytes: a magic text and a format version. */
  expect(magic: string, version: number): void {
    const found = String.fromCharCode(...this.raw(magic.length))
    if (found !== magic) throw this.damaged(`it starts with "${found}" instead of "${magic}"`)
    const stored = this.u16()
    if (stored !== version) throw this.damaged(`its format is ${stored}, this service reads ${version}`)
  }

  /** Requires that all bytes have been read. */
  end(): void {
    if (this.at !== this.bytes.length) throw this.damaged(`${this.bytes.length - this.at} bytes follow its end`)
  }

  /** The problem of bytes that cannot be read; it is for the caller to throw. */
  damaged(reason: string): Problem {
    return new Problem('internal', `Unreadable ${this.what}`, `The ${this.what} cannot be read: ${reason}`)
  }

  private step(size: number): number {
    const at = this.at
    if (at + size > this.bytes.length) throw this.damaged(`it ends after ${this.bytes.length} bytes`)
    this.at += size
    return at
  }
}
