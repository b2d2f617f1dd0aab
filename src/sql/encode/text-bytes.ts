const zero = 0x30
const minus = 0x2d
const point = 0x2e

/** Beyond it `fixed` would meet numbers that are not the only ones with so few digits. */
const exactBelow = 1e15
const powers = [10, 100, 1_000, 10_000, 100_000, 1_000_000]
const int32Max = 2_147_483_647
const shortLoop = 48
const leastBytes = 1_024

/** Text in UTF-8 that grows at its end. Strings that are put together and encoded afterwards take five times as long. */
export class TextBytes {
  private buffer: Buffer
  private at = 0

  constructor(bytes = leastBytes) {
    this.buffer = Buffer.allocUnsafe(Math.max(leastBytes, bytes))
  }

  get length(): number {
    return this.at
  }

  /** What was written; valid until more is. */
  written(): Buffer {
    return this.buffer.subarray(0, this.at)
  }

  clear(): void {
    this.at = 0
  }

  byte(byte: number): void {
    this.reserve(1)
    this.buffer[this.at++] = byte
  }

  ascii(text: string): void {
    this.reserve(text.length)
    const { buffer } = this
    for (let i = 0; i < text.length; i++) buffer[this.at++] = text.charCodeAt(i)
  }

  bytes(bytes: Uint8Array, from: number, to: number): void {
    this.reserve(to - from)
    const { buffer } = this
    if (to - from <= shortLoop) for (let i = from; i < to; i++) buffer[this.at++] = bytes[i] ?? 0
    else {
      buffer.set(bytes.subarray(from, to), this.at)
      this.at += to - from
    }
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

  /** A finite number in the shortest form that reads back as the same one. */
  number(value: number): void {
    if (Number.isInteger(value) && Math.abs(value) < exactBelow) {
      if (Object.is(value, -0)) this.ascii('-0')
      else this.integer(value)
      return
    }
    // Of decimals with at most 15 digits no two are the same double: the first that is this one is the shortest.
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
    const end = this.at + count
    let [rest, i] = [value, end]
    for (; rest > int32Max && i > this.at; i--) {
      const tenth = Math.floor(rest / 10)
      this.buffer[i - 1] = zero + (rest - tenth * 10)
      rest = tenth
    }
    this.smallDigits(rest | 0, this.at, i)
    this.at = end
  }

  /** Integers of 32 bits are divided many times as fast. */
  private smallDigits(value: number, from: number, to: number): void {
    const { buffer } = this
    let rest = value
    for (let i = to - 1; i >= from; i--) {
      const tenth = (rest / 10) | 0
      buffer[i] = zero + (rest - tenth * 10)
      rest = tenth
    }
  }

  private reserve(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.at + bytes))
    this.buffer.copy(larger, 0, 0, this.at)
    this.buffer = larger
  }
}

const digitsOf = (whole: number): number => {
  let count = 1
  for (let least = 10; whole >= least && count < 17; least *= 10) count++
  return count
}
