import { isCalendarDay } from './date-shape.js'
import { shapes } from './shapes.js'
import { longestTyped, shortNumber, textShape } from './shape-of-text.js'

const dash = 0x2d
const dot = 0x2e
const zero = 0x30
const colon = 0x3a

const isDigit = (byte: number | undefined) => byte !== undefined && byte >= zero && byte <= 0x39
const startsWord = (byte: number) => (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a) || byte >= 0x80
/** The first letters of true, false, the missing markers and the months, in both cases. */
const startsKnownWord: ReadonlySet<number> = new Set(Buffer.from('tTfFnNjJmMaAsSoOdD'))

/** The number of `count` digits, or -1. */
const digits = (bytes: Buffer, at: number, count: number): number => {
  let value = 0
  for (let place = at; place < at + count; place++) {
    const byte = bytes[place]
    if (byte === undefined || !isDigit(byte)) return -1
    value = value * 10 + byte - zero
  }
  return value
}

const isDay = (bytes: Buffer, at: number): boolean =>
  bytes[at + 4] === dash &&
  bytes[at + 7] === dash &&
  isCalendarDay(digits(bytes, at, 4), digits(bytes, at + 5, 2), digits(bytes, at + 8, 2))

const isBelow = (value: number, bound: number) => value >= 0 && value < bound

const isTimeOfDay = (bytes: Buffer, at: number): boolean =>
  bytes[at + 2] === colon &&
  bytes[at + 5] === colon &&
  isBelow(digits(bytes, at, 2), 24) &&
  isBelow(digits(bytes, at + 3, 2), 60) &&
  isBelow(digits(bytes, at + 6, 2), 60)

/** Dates and timestamps in their most frequent forms: 2026-01-31, 2026-01-31 12:00:00 with a blank or T, and with a Z. */
const frequentTimeShape = (bytes: Buffer, start: number, end: number): number | undefined => {
  const length = end - start
  if (length !== 10 && length !== 19 && length !== 20) return undefined
  if (!isDay(bytes, start)) return undefined
  if (length === 10) return shapes.date
  const between = bytes[start + 10]
  if ((between !== 0x20 && between !== 0x54) || !isTimeOfDay(bytes, start + 11)) return undefined
  if (length === 19) return shapes.timestamp
  return bytes[start + 19] === 0x5a ? shapes.zonedTimestamp : undefined
}

/** The powers of ten that are doubles themselves. */
const tens = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`))

/** The first half of a double's bits; the other half is what is left. */
const firstHalf = (value: number): number => {
  const split = 134_217_729 * value
  return split - (split - value)
}

/**
 * Whether this is a decimal that surely comes back from a double: it has at most 15 digits, or at most 17 and some double is nearer to it
 * than half of its last place. The decimal without its dot is the sum of two doubles; the product of a double and a power of ten is exact
 * as a sum of two, too (Dekker 1971).
 */
const comesBack = (bytes: Buffer, from: number, dotAt: number, end: number): boolean => {
  let high = 0
  let low = 0
  let lowDigits = 0
  for (let at = from; at < end; at++) {
    if (at === dotAt) continue
    const digit = (bytes[at] ?? 0) - zero
    if (digit < 0 || digit > 9) return false
    if (high < 1e8) high = high * 10 + digit
    else {
      low = low * 10 + digit
      lowDigits += 1
    }
  }
  if (lowDigits < 7) return true
  const ten = tens[end - dotAt - 1]
  if (lowDigits > 8 || ten === undefined) return false
  const shifted = high * (tens[lowDigits] ?? NaN)
  const sum = shifted + low
  const rest = low - (sum - shifted)
  const tenHigh = firstHalf(ten)
  const tenLow = ten - tenHigh
  let value = sum / ten
  for (let round = 0; ; round++) {
    const product = value * ten
    const valueHigh = firstHalf(value)
    const valueLow = value - valueHigh
    const lost = valueHigh * tenHigh - product + valueHigh * tenLow + valueLow * tenHigh + valueLow * tenLow
    const left = product - sum + (lost - rest)
    // A hair less than a half: sums of the small parts are rounded themselves.
    if (Math.abs(left) < 0.499) return true
    if (round === 1) return false
    value -= left / ten
  }
}

/** Integers and decimals of usual length. */
const frequentNumberShape = (bytes: Buffer, start: number, end: number): number | undefined => {
  const from = bytes[start] === dash ? start + 1 : start
  let at = from
  while (at < end && isDigit(bytes[at])) at += 1
  const whole = at - from
  const leadingZero = bytes[from] === zero
  if (whole === 0 || whole > 15 || (leadingZero && whole > 1)) return undefined
  if (at === end) return shapes.integer
  if (bytes[at] !== dot || end - start > longestTyped) return undefined
  if (end - from > shortNumber) return comesBack(bytes, from, at, end) ? shapes.decimal : undefined
  const fraction = at + 1
  for (at = fraction; at < end; at++) if (!isDigit(bytes[at])) return undefined
  return !leadingZero && whole <= 3 && end - fraction === 3 ? shapes.dotThree : shapes.decimal
}

/**
 * The shape of a value in bytes. It equals that of its text, but most values are recognised without making a string of them.
 *
 * @example bytesShape(Buffer.from('a,1.5'), 2, 5) === shapes.decimal
 */
export const bytesShape = (bytes: Buffer, start: number, end: number): number => {
  const first = bytes[start]
  if (start >= end || first === undefined) return shapes.empty
  if (startsWord(first) && !startsKnownWord.has(first)) return shapes.text
  const frequent = frequentNumberShape(bytes, start, end) ?? frequentTimeShape(bytes, start, end)
  return frequent ?? textShape(bytes.toString('utf8', start, end))
}
