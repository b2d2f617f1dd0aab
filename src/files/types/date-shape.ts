import { shapes } from './shapes.js'

/** Whether the day exists in the calendar. */
export const isCalendarDay = (year: number, month: number, day: number): boolean => {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return day <= (month === 2 ? (leap ? 29 : 28) : month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31)
}

const monthNames = [
  'jan(?:uary)?',
  'feb(?:ruary)?',
  'mar(?:ch)?',
  'apr(?:il)?',
  'may',
  'june?',
  'july?',
  'aug(?:ust)?',
  'sept?(?:ember)?',
  'oct(?:ober)?',
  'nov(?:ember)?',
  'dec(?:ember)?',
] as const
const month = String.raw`((?:${monthNames.join('|')}))\.?`
const aMonthName = new RegExp(`^(?:${monthNames.join('|')})\\b`, 'i')
const numberOfMonth = (name: string) => 1 + monthNames.findIndex((known) => known.slice(0, 3) === name.slice(0, 3).toLowerCase())

/** A time of day, on a clock of 24 hours or of 12. */
const clock = String.raw`( (?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?| (?:0?[1-9]|1[0-2]):[0-5]\d(?::[0-5]\d)? [ap]m)?`

const isoMoment = /^(\d{4})-(\d\d)-(\d\d)[ T](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(Z|[+-](?:0\d|1[0-4]):[0-5]\d)?$/
const isoDay = /^(\d{4})-(\d\d)-(\d\d)$/
const yearFirst = new RegExp(String.raw`^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})${clock}$`, 'i')
const yearLast = new RegExp(String.raw`^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})${clock}$`, 'i')
const yearMonth = /^(\d{4})[-/](\d{1,2})$/
const monthYear = /^(\d{1,2})[-/](\d{4})$/
const dayName = new RegExp(String.raw`^(\d{1,2})[ -]${month}[ -](\d{4})${clock}$`, 'i')
const nameDay = new RegExp(String.raw`^${month} (\d{1,2}),? (\d{4})${clock}$`, 'i')
const nameYear = new RegExp(String.raw`^${month}(?:, |[ -])(\d{4})$`, 'i')

/** Whether a text begins with the English name of a month. */
export const startsMonthName = (text: string): boolean => aMonthName.test(text)

type Parts = RegExpExecArray
const number = (parts: Parts, at: number) => Number(parts[at])
const timed = (time: string | undefined) => (time === undefined ? 0 : shapes.timed)

const isoShape = (text: string): number => {
  const day = isoDay.exec(text)
  if (day) return isCalendarDay(number(day, 1), number(day, 2), number(day, 3)) ? shapes.date : shapes.noDay
  const moment = isoMoment.exec(text)
  if (!moment) return shapes.text
  if (!isCalendarDay(number(moment, 1), number(moment, 2), number(moment, 3))) return shapes.noDay
  return moment[4] === undefined ? shapes.timestamp : shapes.zonedTimestamp
}

/** The order of day and month follows from a value that is a valid date in only one of the two orders. */
const yearLastShape = (parts: Parts): number => {
  const [first, second, year] = [number(parts, 1), number(parts, 3), number(parts, 4)]
  const dayFirst = isCalendarDay(year, second, first)
  if (parts[2] === '.') return dayFirst ? shapes.dotDate : shapes.noDay
  const monthFirst = isCalendarDay(year, first, second)
  if (dayFirst && monthFirst) return first === second ? shapes.sameDay : shapes.eitherDay
  if (!dayFirst && !monthFirst) return shapes.noDay
  return dayFirst ? shapes.dayMonth : shapes.monthDay
}

/** The years of months are bounded, as two numbers could mean anything else. */
const isYear = (year: number) => year >= 1500 && year < 2200

const monthShape = (text: string): number => {
  const first = yearMonth.exec(text)
  const last = first ? null : monthYear.exec(text)
  const [year, month] = first ? [number(first, 1), number(first, 2)] : last ? [number(last, 2), number(last, 1)] : [0, 0]
  if (!isYear(year) || month < 1 || month > 12) return shapes.text
  if (last) return shapes.monthYear
  return month === (year + 1) % 100 ? shapes.season : shapes.yearMonth
}

const namedShape = (text: string): number => {
  const day = dayName.exec(text)
  if (day)
    return isCalendarDay(number(day, 3), numberOfMonth(day[2] ?? ''), number(day, 1)) ? shapes.namedDay | timed(day[4]) : shapes.noDay
  const name = nameDay.exec(text)
  if (name)
    return isCalendarDay(number(name, 3), numberOfMonth(name[1] ?? ''), number(name, 2)) ? shapes.namedDay | timed(name[4]) : shapes.noDay
  const year = nameYear.exec(text)
  return year && isYear(number(year, 2)) ? shapes.namedMonth : shapes.text
}

/**
 * The shape of a text that may be a date, a month or a timestamp. A date that does not exist has a shape of its own.
 *
 * @example dateShape('30/09/2007') === shapes.dayMonth
 */
export const dateShape = (text: string): number => {
  const iso = isoShape(text)
  if (iso !== shapes.text) return iso
  const first = yearFirst.exec(text)
  if (first) return isCalendarDay(number(first, 1), number(first, 3), number(first, 4)) ? shapes.looseDate | timed(first[5]) : shapes.noDay
  const last = yearLast.exec(text)
  if (last) {
    const shape = yearLastShape(last)
    return shape === shapes.noDay ? shape : shape | timed(last[5])
  }
  const month = monthShape(text)
  return month === shapes.text ? namedShape(text) : month
}
