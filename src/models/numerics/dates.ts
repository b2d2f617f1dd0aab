export const dayMs = 86_400_000

/** The days since 1970-01-01 of a date in the proleptic Gregorian calendar, by integer arithmetic only. */
export const daysOf = (year: number, month: number, day: number): number => {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

/** The year and month (1…12) of a day since 1970-01-01. */
export const yearAndMonth = (days: number): { year: number; month: number } => {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month }
}

/** Monday is 0. 1970-01-01 was a Thursday. */
export const weekday = (days: number): number => (((days + 3) % 7) + 7) % 7

const pattern = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?\s?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/

const zoneMinutes = (zone: string | undefined): number => {
  if (zone === undefined || zone === 'Z') return 0
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', '') || '0')
  return zone.startsWith('-') ? -minutes : minutes
}

const exists = (year: number, month: number, day: number): boolean => {
  if (month < 1 || month > 12 || day < 1) return false
  const next = month === 12 ? daysOf(year + 1, 1, 1) : daysOf(year, month + 1, 1)
  return daysOf(year, month, day) < next
}

/**
 * Milliseconds since 1970 of ISO text: a date, or a date and a time with an optional zone (default UTC). `undefined` for anything else,
 * also for dates that do not exist.
 *
 * @example isoMilliseconds('1970-01-02') // 86400000
 */
export const isoMilliseconds = (text: string): number | undefined => {
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone] = pattern.exec(text.trim()) ?? []
  if (year === undefined || !exists(Number(year), Number(month), Number(day))) return undefined
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  const minutes = Number(hour) * 60 + Number(minute) - zoneMinutes(zone)
  const milliseconds = Number(second) * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3))
  return daysOf(Number(year), Number(month), Number(day)) * dayMs + minutes * 60_000 + milliseconds
}
