const zero = 0x30
const minus = 0x2d
const point = 0x2e

/** Above this limit, several numbers may have the same digits in `fixed`. */
const exactBelow = 1e15
const powers = [10, 100, 1_000, 10_000, 100_000, 1_000_000]
const int32Max = 2_147_483_647
const shortLoop = 48
const leastBytes = 1_024
const colon = 0x3a
const clockBytes = 15

/** UTF-8 text that grows at its end. Joining strings and encoding them afterwards would take five times as long. */
export class TextBytes {
  private buffer: Buffer
  private at = 0

  constructor(bytes = leastBytes) {
    this.buffer = Buffer.allocUnsafe(Math.max(leastBytes, bytes))
  }

  get length(): number {
    return this.at
  }

  /** The written bytes; valid until the next write. */
  written(): Buffer {
    return this.buffer.subarray(0, this.at)
  }

  /** Empties it; the buffer is used again. */
  clear(): void {
    this.at = 0
  }

  /** Adds one byte. */
  byte(byte: number): void {
    this.reserve(1)
    this.buffer[this.at++] = byte
  }

  /** Adds a text that is known to be ASCII. */
  ascii(text: string): void {
    const { length } = text
    this.reserve(length)
    const { buffer, at } = this
    for (let i = 0; i < length; i++) buffer[at + i] = text.charCodeAt(i)
    this.at = at + length
  }

  /** Adds the bytes between two offsets; the byte at the second offset is not included. */
  bytes(bytes: Uint8Array, from: number, to: number): void {
    const length = to - from
    this.reserve(length)
    const { buffer, at } = this
    if (length <= shortLoop) for (let i = 0; i < length; i++) buffer[at + i] = bytes[from + i] ?? 0
    else buffer.set(bytes.subarray(from, to), at)
    this.at = at + length
  }

  /** Copies bytes up to the first byte that is marked in a table of all 256; returns its offset, or the end. */
  until(marked: Uint8Array, bytes: Uint8Array, from: number, to: number): number {
    this.reserve(to - from)
    const { buffer, at } = this
    const shift = at - from
    let i = from
    for (; i < to; i++) {
      const byte = bytes[i] ?? 0
      if (marked[byte] !== 0) break
      buffer[i + shift] = byte
    }
    this.at = i + shift
    return i
  }

  /** A safe integer. */
  integer(value: number): void {
    if (value < 0) this.byte(minus)
    const whole = Math.abs(value)
    this.digits(whole, digitsOf(whole))
  }

  /** A safe integer that counts units of 10^-scale: `decimal(-5, 2)` is `-0.05`. */
  decimal(value: number, scale: number): void {
    if (scale === 0) {
      this.integer(value)
      return
    }
    if (value < 0) this.byte(minus)
    const units = Math.abs(value)
    const one = powers[scale - 1] ?? 10 ** scale
    const whole = Math.floor(units / one)
    this.digits(whole, digitsOf(whole))
    this.byte(point)
    this.digits(units - whole * one, scale)
  }

  /** A finite number in the shortest form that reads back as the same number. */
  number(value: number): void {
    if (Number.isInteger(value) && Math.abs(value) < exactBelow) {
      if (Object.is(value, -0)) this.ascii('-0')
      else this.integer(value)
      return
    }
    // Two different decimals with at most 15 digits never have the same double, so the first matching decimal is the shortest.
    for (let scale = 1; scale <= powers.length; scale++) {
      const one = powers[scale - 1] ?? 1
      const units = Math.round(value * one)
      if (units / one === value && Math.abs(units) < exactBelow) {
        this.decimal(units, scale)
        return
      }
    }
    this.ascii(String(value))
  }

  /** `digits(7, 2)` is `07`. */
  digits(value: number, count: number): void {
    this.reserve(count)
    const { buffer, at } = this
    let rest = value
    let i = at + count
    for (; rest > int32Max && i > at; i--) {
      const tenth = Math.floor(rest / 10)
      buffer[i - 1] = zero + (rest - tenth * 10)
      rest = tenth
    }
    // Divisions of 32-bit integers are many times as fast.
    for (let small = rest | 0; i > at; i--) {
      const tenth = (small / 10) | 0
      buffer[i - 1] = zero + (small - tenth * 10)
      small = tenth
    }
    this.at += count
  }

  /** The time of a day in microseconds: `03:04:05.678000`. */
  clock(micros: number): void {
    this.reserve(clockBytes)
    const { buffer, at } = this
    const seconds = (micros / 1_000_000) | 0
    const minutes = (seconds / 60) | 0
    const hours = (minutes / 60) | 0
    const fraction = micros - seconds * 1_000_000
    const thousandths = (fraction / 1_000) | 0
    twoDigits(buffer, at, hours)
    buffer[at + 2] = colon
    twoDigits(buffer, at + 3, minutes - hours * 60)
    buffer[at + 5] = colon
    twoDigits(buffer, at + 6, seconds - minutes * 60)
    buffer[at + 8] = point
    threeDigits(buffer, at + 9, thousandths)
    threeDigits(buffer, at + 12, fraction - thousandths * 1_000)
    this.at = at + clockBytes
  }

  private reserve(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.at + bytes))
    this.buffer.copy(larger, 0, 0, this.at)
    this.buffer = larger
  }
}

const twoDigits = (into: Buffer, at: number, value: number): void => {
  const tens = (value / 10) | 0
  into[at] = zero + tens
  into[at + 1] = zero + (value - tens * 10)
}

const threeDigits = (into: Buffer, at: number, value: number): void => {
  const hundreds = (value / 100) | 0
  into[at] = zero + hundreds
  twoDigits(into, at + 1, value - hundreds * 100)
}

const digitsOf = (whole: number): number => {
  let count = 1
  for (let least = 10; whole >= least && count < 17; least *= 10) count++
  return count
}
