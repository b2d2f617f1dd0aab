import { ValueError } from './value-error.js'
import type { Vector } from './vector.js'

const two32 = 4_294_967_296
/** A number whose text has at most this many characters fits exactly into a double. */
const exactChars = 15

const putInt64 = ({ data }: Vector, row: number, value: number): void => {
  data.writeInt32LE(value | 0, row * 8)
  data.writeInt32LE(Math.floor(value / two32) | 0, row * 8 + 4)
}

/** Writes a whole number into a vector with 8 bytes per value. */
export const putMicros = (vector: Vector, row: number, value: number | bigint): void => {
  if (typeof value === 'number') putInt64(vector, row, value)
  else if (BigInt.asIntN(64, value) !== value) throw new ValueError('a point in time lies beyond the years that can be held')
  else vector.data.writeBigInt64LE(value, row * 8)
}

const outside = () => new ValueError('a number is larger than its type')
const noInteger = () => new ValueError('a value is not a whole number')

const integer = (text: string, least: number, most: number): number => {
  const value = Number(text)
  if (!Number.isInteger(value) || text === '') throw noInteger()
  if (value < least || value > most) throw outside()
  return value
}

/** Writes a whole number from -128 to 127 from its digits. @throws ValueError for anything else */
export const putTinyint = (vector: Vector, row: number, text: string): void => void vector.data.writeInt8(integer(text, -0x80, 0x7f), row)
/** Writes a whole number from 0 to 255 from its digits. @throws ValueError for anything else */
export const putUtinyint = (vector: Vector, row: number, text: string): void => void vector.data.writeUInt8(integer(text, 0, 0xff), row)
/** Writes a whole number of 16 bits with a sign from its digits. @throws ValueError for anything else */
export const putSmallint = (vector: Vector, row: number, text: string): void =>
  void vector.data.writeInt16LE(integer(text, -0x8000, 0x7fff), row * 2)
/** Writes a whole number from 0 to 65535 from its digits. @throws ValueError for anything else */
export const putUsmallint = (vector: Vector, row: number, text: string): void =>
  void vector.data.writeUInt16LE(integer(text, 0, 0xffff), row * 2)
/** Writes a whole number of 32 bits with a sign from its digits. @throws ValueError for anything else */
export const putInteger = (vector: Vector, row: number, text: string): void =>
  void vector.data.writeInt32LE(integer(text, -0x8000_0000, 0x7fff_ffff), row * 4)
/** Writes a whole number of 32 bits without a sign from its digits. @throws ValueError for anything else */
export const putUinteger = (vector: Vector, row: number, text: string): void =>
  void vector.data.writeUInt32LE(integer(text, 0, 0xffff_ffff), row * 4)

const whole = (text: string): bigint => {
  if (!/^[+-]?\d+$/.test(text)) throw noInteger()
  return BigInt(text)
}

/** Writes a whole number of 64 bits with a sign from its digits, all of them exactly. @throws ValueError for anything else */
export const putBigint = (vector: Vector, row: number, text: string): void => {
  if (text.length <= exactChars) {
    putInt64(vector, row, integer(text, -Infinity, Infinity))
    return
  }
  const value = whole(text)
  if (BigInt.asIntN(64, value) !== value) throw outside()
  vector.data.writeBigInt64LE(value, row * 8)
}

/** Writes a whole number of 64 bits without a sign from its digits, all of them exactly. @throws ValueError for anything else */
export const putUbigint = (vector: Vector, row: number, text: string): void => {
  const value = whole(text)
  if (BigInt.asUintN(64, value) !== value) throw outside()
  vector.data.writeBigUInt64LE(value, row * 8)
}

const putInt128 = ({ data }: Vector, row: number, value: bigint): void => {
  if (BigInt.asIntN(128, value) !== value) throw outside()
  data.writeBigUInt64LE(BigInt.asUintN(64, value), row * 16)
  data.writeBigInt64LE(value >> 64n, row * 16 + 8)
}

/** Writes a whole number of 128 bits with a sign from its digits. @throws ValueError for a text that is no whole number */
export const putHugeint = (vector: Vector, row: number, text: string): void => putInt128(vector, row, whole(text))

/** Reads a number in the notation of SQL, including `NaN` and `Infinity`. */
const float = (text: string): number => {
  const value = Number(text)
  if (text === '' || (Number.isNaN(value) && text !== 'NaN')) throw new ValueError('a value is not a number')
  return value
}

/** Writes the nearest number of 32 bits; `NaN` is one. @throws ValueError for a text that is no number */
export const putFloat = (vector: Vector, row: number, text: string): void => void vector.data.writeFloatLE(float(text), row * 4)
/** Writes the nearest number of 64 bits; `NaN` is one. @throws ValueError for a text that is no number */
export const putDouble = (vector: Vector, row: number, text: string): void => void vector.data.writeDoubleLE(float(text), row * 8)

/** How many digits a decimal number has before and behind its point; zeros at its ends are not counted. `undefined` for other texts. */
export const digitsOf = (text: string): { before: number; behind: number } | undefined => {
  const [, whole, fraction = ''] = /^[+-]?(\d*)(?:\.(\d*))?$/.exec(text) ?? []
  if (whole === undefined) return undefined
  // A regular expression for zeros at the end would start again at each zero in the middle.
  let [first, last] = [0, fraction.length]
  while (whole[first] === '0') first += 1
  while (fraction[last - 1] === '0') last -= 1
  return { before: whole.length - first, behind: last }
}

const notFinite = 'Convert it there: SELECT * FROM db (SELECT …::double precision …).'

/**
 * Writes decimal numbers with `scale` digits behind the point.
 *
 * @throws ValueError for NaN, infinity, and numbers with more digits than that
 */
export const putDecimal = (width: number, scale: number): ((vector: Vector, row: number, text: string) => void) => {
  const most = 10n ** BigInt(width)
  return (vector, row, text) => {
    const point = text.indexOf('.')
    const before = point < 0 ? text : text.slice(0, point)
    let behind = point < 0 ? '' : text.slice(point + 1)
    if (behind.length > scale) {
      if (/[^0]/.test(behind.slice(scale))) throw new ValueError(`a number has more than ${scale} digits behind its point`)
      behind = behind.slice(0, scale)
    }
    const digits = before + behind.padEnd(scale, '0')
    if (text === '' || !/^[+-]?\d+$/.test(digits))
      throw new ValueError('a number is NaN or infinite, which an exact type cannot hold', notFinite)
    if (digits.length <= exactChars && vector.width <= 8) {
      const value = Number(digits)
      if (digits.length < width || Math.abs(value) < Number(most)) {
        const at = row * vector.width
        if (vector.width === 8) putInt64(vector, row, value)
        else if (vector.width === 4) vector.data.writeInt32LE(value, at)
        else vector.data.writeInt16LE(value, at)
        return
      }
    }
    const value = BigInt(digits)
    if (value >= most || value <= -most) throw new ValueError(`a number has more than ${width - scale} digits before its point`)
    const at = row * vector.width
    if (vector.width === 16) putInt128(vector, row, value)
    else if (vector.width === 8) vector.data.writeBigInt64LE(value, at)
    else if (vector.width === 4) vector.data.writeInt32LE(Number(value), at)
    else vector.data.writeInt16LE(Number(value), at)
  }
}

/** Writes a UUID, in the order in which DuckDB compares them. */
export const putUuid = ({ data }: Vector, row: number, text: string): void => {
  const bytes = Buffer.from(text.replaceAll('-', ''), 'hex')
  if (bytes.length !== 16) throw new ValueError('a value is not a UUID')
  for (let i = 0; i < 16; i++) data[row * 16 + i] = bytes[15 - i] ?? 0
  data[row * 16 + 15] = (data[row * 16 + 15] ?? 0) ^ 0x80
}

/** Writes TRUE for `t`, `true` and `1`, and FALSE for any other text. */
export const putBoolean = ({ data }: Vector, row: number, text: string): void => {
  data[row] = text === 't' || text === 'true' || text === '1' ? 1 : 0
}
