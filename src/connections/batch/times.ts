import { putMicros } from './numbers.js'
import { ValueError } from './value-error.js'
import type { Vector } from './vector.js'

const dayMicros = 86_400_000_000
/** Up to this many days from 1970, microseconds are exact in a double. */
const exactDays = 100_000

/** The days from 1970-01-01 to a day of the Gregorian calendar; the year 0 is the one before the year 1. */
export const daysOf = (year: number, month: number, day: number): number => {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const ofEra = shifted - era * 400
  const ofYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  return era * 146_097 + ofEra * 365 + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + ofYear - 719_468
}

const infiniteDays = 0x7fff_ffff
const infiniteMicros = 0x7fff_ffff_ffff_ffffn

const infinity = (text: string): 1 | -1 | undefined => (text === 'infinity' ? 1 : text === '-infinity' ? -1 : undefined)

const notRead = (what: string) => new ValueError(`a value is not a ${what} in a known form`)

const digits = (text: string, from: number, to: number): number => {
  let value = 0
  for (let i = from; i < to; i++) {
    const digit = text.charCodeAt(i) - 48
    if (digit < 0 || digit > 9) return NaN
    value = value * 10 + digit
  }
  return value
}

/** The days since 1970 of `2024-05-17`, `10000-01-01` or `0044-03-15 BC` at the beginning of the text, and the offset of its end. */
const readDay = (text: string): { days: number; end: number } => {
  const dash = text.indexOf('-')
  const year = digits(text, 0, dash)
  const [month, day] = [digits(text, dash + 1, dash + 3), digits(text, dash + 4, dash + 6)]
  if (dash < 4 || !(month >= 1 && month <= 12) || !(day >= 1 && day <= 31) || Number.isNaN(year)) throw notRead('date')
  return { days: daysOf(text.endsWith(' BC') ? 1 - year : year, month, day), end: dash + 6 }
}

/** The microseconds of `07:08:09.123456` at an offset of the text, and the offset of its end. */
const readClock = (text: string, from: number): { micros: number; end: number } => {
  const [hours, minutes, seconds] = [digits(text, from, from + 2), digits(text, from + 3, from + 5), digits(text, from + 6, from + 8)]
  let end = from + 8
  let fraction = 0
  if (text.charCodeAt(end) === 46) {
    const start = ++end
    while (end < text.length && end - start < 6 && digits(text, end, end + 1) >= 0) end++
    fraction = digits(text, start, end) * 10 ** (6 - (end - start))
  }
  const micros = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + fraction
  if (!(micros >= 0)) throw notRead('time')
  return { micros, end }
}

/** The seconds of `+02`, `-03:30` or `+01:34:52` at an offset of a text. */
const readZone = (text: string, from: number): number => {
  const [, sign, hours = '', minutes = '0', seconds = '0'] = /^([+-])(\d{2})(?::?(\d{2}))?(?::?(\d{2}))?/.exec(text.slice(from)) ?? []
  if (sign === undefined) throw notRead('time with a zone')
  const offset = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)
  return sign === '-' ? -offset : offset
}

/**
 * Writes a day as days from 1970: `2024-05-17`, `0044-03-15 BC`, `infinity` or `-infinity`.
 *
 * @throws ValueError for another form, and for a day that a DATE cannot hold
 */
export const putDate = ({ data }: Vector, row: number, text: string): void => {
  const endless = infinity(text)
  const days = endless === undefined ? readDay(text).days : endless * infiniteDays
  if (Math.abs(days) > infiniteDays) throw new ValueError('a date lies beyond the years that can be held')
  data.writeInt32LE(days, row * 4)
}

const putPoint = (vector: Vector, row: number, days: number, micros: number): void =>
  putMicros(vector, row, Math.abs(days) <= exactDays ? days * dayMicros + micros : BigInt(days) * BigInt(dayMicros) + BigInt(micros))

/** Writes an endless time; false for any other. */
const putEndless = (vector: Vector, row: number, text: string): boolean => {
  const endless = infinity(text)
  if (endless !== undefined) putMicros(vector, row, endless === 1 ? infiniteMicros : -infiniteMicros)
  return endless !== undefined
}

/**
 * Writes a point in time without a zone as microseconds from 1970: `2024-05-17 07:08:09.5`, `infinity` or `-infinity`.
 *
 * @throws ValueError for another form, and for a time that a TIMESTAMP cannot hold
 */
export const putTimestamp = (vector: Vector, row: number, text: string): void => {
  if (putEndless(vector, row, text)) return
  const { days, end } = readDay(text)
  putPoint(vector, row, days, readClock(text, end + 1).micros)
}

/**
 * The same as nanoseconds from 1970, with up to nine digits behind the point.
 *
 * @throws ValueError for another form, and for a time that a TIMESTAMP_NS cannot hold
 */
export const putTimestampNs = (vector: Vector, row: number, text: string): void => {
  if (putEndless(vector, row, text)) return
  const { days, end } = readDay(text)
  const { micros, end: after } = readClock(text, end + 1)
  const [rest = ''] = /^\d{1,3}/.exec(text.slice(after)) ?? []
  putMicros(vector, row, (BigInt(days) * BigInt(dayMicros) + BigInt(micros)) * 1_000n + BigInt(rest.padEnd(3, '0')))
}

/** The point in time, converted from its zone. */
export const putTimestampTz = (vector: Vector, row: number, text: string): void => {
  if (putEndless(vector, row, text)) return
  const { days, end } = readDay(text)
  const clock = readClock(text, end + 1)
  putPoint(vector, row, days, clock.micros - readZone(text, clock.end) * 1_000_000)
}

/** Writes a time of the day as microseconds from midnight: `07:08:09.123456`. @throws ValueError for another form */
export const putTime = (vector: Vector, row: number, text: string): void => putMicros(vector, row, readClock(text, 0).micros)

/** DuckDB keeps the zone beside the time, with the opposite sign, so that times with zones sort correctly. */
const latestZoneSeconds = 16 * 3_600 - 1

/** Writes a time of the day with its zone: `07:08:09+02`. @throws ValueError for another form, and for a zone of 16 hours or more */
export const putTimeTz = ({ data }: Vector, row: number, text: string): void => {
  const { micros, end } = readClock(text, 0)
  const zone = readZone(text, end)
  if (Math.abs(zone) > latestZoneSeconds) throw notRead('time with a zone')
  data.writeBigUInt64LE((BigInt(micros) << 24n) | BigInt(latestZoneSeconds - zone), row * 8)
}

/** Writes an interval: months, days and microseconds, which are not converted into each other. */
export const putSpan = ({ data }: Vector, row: number, months: number, days: number, micros: number): void => {
  data.writeInt32LE(months, row * 16)
  data.writeInt32LE(days, row * 16 + 4)
  data.writeBigInt64LE(BigInt(micros), row * 16 + 8)
}

/** The microseconds of `[-]HHH:MM:SS[.ffffff]`, of any number of hours. */
export const spanMicros = (text: string): number => {
  const [, sign, hours = '', minutes = '', seconds = '', fraction = ''] = /^([+-]?)(\d+):(\d{2}):(\d{2})(?:\.(\d{1,6}))?$/.exec(text) ?? []
  const micros = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000_000 + Number(fraction.padEnd(6, '0'))
  if (sign === undefined || !Number.isSafeInteger(micros)) throw notRead('span of time')
  return sign === '-' ? -micros : micros
}

/** An interval as PostgreSQL writes it: `1 year 2 mons -3 days +04:05:06.789`. */
export const putInterval = (vector: Vector, row: number, text: string): void => {
  if (infinity(text) !== undefined) throw new ValueError('an interval is infinite, which DuckDB cannot hold')
  let [months, days, micros] = [0, 0, 0]
  const parts = text.split(' ')
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] ?? ''
    if (part.includes(':')) {
      micros = spanMicros(part)
      continue
    }
    const count = Number(part)
    const unit = parts[++i] ?? ''
    if (!Number.isInteger(count) || part === '') throw notRead('interval')
    if (unit.startsWith('year')) months += count * 12
    else if (unit.startsWith('mon')) months += count
    else if (unit.startsWith('day')) days += count
    else throw notRead('interval')
  }
  putSpan(vector, row, months, days, micros)
}
