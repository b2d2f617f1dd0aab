import type { TextBytes } from './text-bytes.js'

const dayMicros = 86_400_000_000

const two = (n: number) => (n < 10 ? `0${n}` : String(n))

const years = (year: number): string => {
  if (year <= 0) return `${String(1 - year).padStart(4, '0')} (BC)`
  return String(year).padStart(4, '0')
}

/** The date of a day counted from 1970-01-01 (proleptic Gregorian), with Howard Hinnant's algorithm. */
const civil = (days: number): string => {
  const z = days + 719_468
  const era = Math.floor(z / 146_097)
  const day = z - era * 146_097
  const year = Math.floor((day - Math.floor(day / 1460) + Math.floor(day / 36_524) - Math.floor(day / 146_096)) / 365)
  const ofYear = day - (365 * year + Math.floor(year / 4) - Math.floor(year / 100))
  const m = Math.floor((5 * ofYear + 2) / 153)
  const month = m < 10 ? m + 3 : m - 9
  const text = `${years(year + era * 400 + (month <= 2 ? 1 : 0))}-${two(month)}-${two(ofYear - Math.floor((153 * m + 2) / 5) + 1)}`
  return text.includes(' (BC)') ? `${text.replace(' (BC)', '')} (BC)` : text
}

const known = new Map<number, string>()
const daysKept = 20_000

/** `dateText(19724)` → `2024-01-02`; the two infinities are words, as in DuckDB. */
export const dateText = (days: number): string => {
  if (days === 2_147_483_647) return 'infinity'
  if (days === -2_147_483_647) return '-infinity'
  const found = known.get(days)
  if (found !== undefined) return found
  const text = civil(days)
  if (known.size < daysKept) known.set(days, text)
  return text
}

/** Microseconds since 1970, as a safe integer, with their zone: `2024-01-02 03:04:05.678000+00:00`. */
export const writeTimestamp = (out: TextBytes, micros: number, zone: string): void => {
  const days = Math.floor(micros / dayMicros)
  out.ascii(dateText(days))
  out.ascii(' ')
  out.clock(micros - days * dayMicros)
  out.ascii(zone)
}

/** The units of a moment: their number in a second. */
export type MomentUnit = 1n | 1_000n | 1_000_000n | 1_000_000_000n

const infinite = 9_223_372_036_854_775_807n

/** A 64-bit count of units since 1970, with its zone. Nanoseconds have nine digits, and the two infinities are words. */
export const writeMoment = (out: TextBytes, count: bigint, perSecond: MomentUnit, zone: string): void => {
  if (count === infinite || count === -infinite) {
    out.ascii(count > 0n ? 'infinity' : '-infinity')
    return
  }
  const perDay = perSecond * 86_400n
  const ofDay = ((count % perDay) + perDay) % perDay
  out.ascii(dateText(Number((count - ofDay) / perDay)))
  out.ascii(' ')
  out.clock(Number((ofDay * 1_000_000n) / perSecond))
  if (perSecond === 1_000_000_000n) out.digits(Number(ofDay % 1_000n), 3)
  out.ascii(zone)
}
