const dayMicros = 86_400_000_000
const lastExact = Number.MAX_SAFE_INTEGER

const two = (n: number) => (n < 10 ? `0${n}` : String(n))

const years = (year: number): string => {
  if (year <= 0) return `${String(1 - year).padStart(4, '0')} (BC)`
  return String(year).padStart(4, '0')
}

/** The date of a day counted from 1970-01-01 (proleptic Gregorian), after Howard Hinnant. */
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

/** `dateText(19724)` → `2024-01-02`; the two infinities are words, as DuckDB writes them. */
export const dateText = (days: number): string => {
  if (days === 2_147_483_647) return 'infinity'
  if (days === -2_147_483_647) return '-infinity'
  const found = known.get(days)
  if (found !== undefined) return found
  const text = civil(days)
  if (known.size < daysKept) known.set(days, text)
  return text
}

const clock = (micros: number): string => {
  const seconds = Math.floor(micros / 1_000_000)
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return `${two(hours)}:${two(minutes)}:${two(seconds % 60)}.${String(micros % 1_000_000).padStart(6, '0')}`
}

const infinities = (micros: bigint): string | undefined => {
  if (micros === 9_223_372_036_854_775_807n) return 'infinity'
  return micros === -9_223_372_036_854_775_807n ? '-infinity' : undefined
}

/** Microseconds since 1970 as `2024-01-02 03:04:05.678000`. */
export const timestampText = (micros: bigint): string => {
  const word = infinities(micros)
  if (word !== undefined) return word
  const number = Number(micros)
  if (Math.abs(number) <= lastExact) {
    const days = Math.floor(number / dayMicros)
    return `${dateText(days)} ${clock(number - days * dayMicros)}`
  }
  const day = BigInt(dayMicros)
  const rest = ((micros % day) + day) % day
  return `${dateText(Number((micros - rest) / day))} ${clock(Number(rest))}`
}

/** Nanoseconds since 1970, with all nine digits. */
export const nanosecondsText = (nanos: bigint): string => {
  const word = infinities(nanos)
  if (word !== undefined) return word
  const rest = ((nanos % 1000n) + 1000n) % 1000n
  return `${timestampText((nanos - rest) / 1000n)}${String(rest).padStart(3, '0')}`
}
