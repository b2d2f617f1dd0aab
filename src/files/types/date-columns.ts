import { shapes } from './shapes.js'

const { date, timestamp, zonedTimestamp, looseDate, dotDate, dayMonth, monthDay, eitherDay, sameDay } = shapes
const { yearMonth, monthYear, season, namedDay, namedMonth, noDay } = shapes

/** All shapes of dates, months and timestamps, and of texts that only look like a date. */
export const dateShapes =
  date | timestamp | zonedTimestamp | looseDate | dotDate | dayMonth | monthDay | eitherDay | sameDay |
  yearMonth | monthYear | season | namedDay | namedMonth | noDay // prettier-ignore

/** How the values of a column become dates or timestamps, or why they stay text. */
export type DateFinding =
  { type: 'DATE' | 'TIMESTAMP'; convert?: (text: string) => string; warning?: string } | { type: 'VARCHAR'; warning: string }

const clocks = ['', ' %H:%M', ' %H:%M:%S', ' %H:%M:%S.%f', ' %I:%M %p', ' %I:%M:%S %p']

/** Reads text in this order, with or without a time of day. */
const reading = (day: string, isTimed: boolean, arranged: (text: string) => string): DateFinding => {
  const formats = (isTimed ? clocks : ['']).map((clock) => `'${day}${clock}'`).join(', ')
  const moment = (text: string) => `strptime(${arranged(text)}, [${formats}])`
  return isTimed ? { type: 'TIMESTAMP', convert: moment } : { type: 'DATE', convert: (text) => `CAST(${moment(text)} AS DATE)` }
}

const replaced = (pattern: string, by: string) => (text: string) => `regexp_replace(${text}, '${pattern}', '${by}')`
const numbers = String.raw`^(\d+)[-/.](\d+)[-/.](\d+)`
const yearFirst = replaced(numbers, String.raw`\1-\2-\3`)
const dayFirst = replaced(numbers, String.raw`\3-\2-\1`)
const monthFirst = replaced(numbers, String.raw`\3-\1-\2`)
const firstOf = (pattern: string, by: string) => ({
  type: 'DATE' as const,
  convert: (text: string) => `CAST(${replaced(pattern, by)(text)} AS DATE)`,
})
const names = (text: string) =>
  replaced(
    String.raw`(?i)^([a-z]{3})[a-z]*\.? (\d+),? (\d{4})`,
    String.raw`\2 \1 \3`,
  )(replaced(String.raw`(?i)^(\d+)[ -]([a-z]{3})[a-z]*\.?[ -](\d{4})`, String.raw`\1 \2 \3`)(text))

const ofMonths = 'has months, which are read as their first days'

const numberedFinding = (values: number, isTimed: boolean): DateFinding => {
  const has = (shape: number) => (values & shape) !== 0
  if (has(dayMonth) && has(monthDay)) return { type: 'VARCHAR', warning: 'has days like 30/09/2007 and days like 09/30/2007' }
  if (has(dayMonth)) return { ...reading('%Y-%m-%d', isTimed, dayFirst), warning: 'is read as days with the day first, as in 30/09/2007' }
  if (has(monthDay))
    return { ...reading('%Y-%m-%d', isTimed, monthFirst), warning: 'is read as days with the month first, as in 09/30/2007' }
  if (!has(eitherDay)) return reading('%Y-%m-%d', isTimed, dayFirst)
  return {
    type: 'VARCHAR',
    warning: "has days of which no value tells whether the day or the month is first; convert them with strptime, '%d/%m/%Y' or '%m/%d/%Y'",
  }
}

/**
 * Decides how a column of dates is read, from the shapes of its values. Undefined if some value is neither a date, a month nor a timestamp.
 * A column with a text that could mean two dates stays text, with a warning.
 *
 * @example dateFinding(shapes.dayMonth | shapes.eitherDay, false) // { type: 'DATE', convert, warning: 'is read as days with the day first …' }
 */
export const dateFinding = (values: number, isTimed: boolean): DateFinding | undefined => {
  const only = (allowed: number) => (values & ~allowed) === 0
  if (!only(dateShapes)) return undefined
  if ((values & noDay) !== 0) return { type: 'VARCHAR', warning: 'has a day that does not exist' }
  if (only(date)) return { type: 'DATE' }
  if (only(date | timestamp)) return { type: 'TIMESTAMP' }
  if (only(zonedTimestamp))
    return {
      type: 'TIMESTAMP',
      convert: (text) => `CAST(${text} AS TIMESTAMPTZ) AT TIME ZONE 'UTC'`,
      warning: 'has times with a zone; they are stored in UTC',
    }
  if (only(date | looseDate)) return reading('%Y-%m-%d', isTimed, yearFirst)
  if (only(dotDate)) return reading('%Y-%m-%d', isTimed, dayFirst)
  if (only(dayMonth | monthDay | eitherDay | sameDay)) return numberedFinding(values, isTimed)
  if (only(season)) return { type: 'VARCHAR', warning: 'has values like "2005-06", which may be months or pairs of years' }
  if (only(yearMonth | season)) return { ...firstOf(String.raw`^(\d+)[-/](\d+)$`, String.raw`\1-\2-01`), warning: ofMonths }
  if (only(monthYear)) return { ...firstOf(String.raw`^(\d+)[-/](\d+)$`, String.raw`\2-\1-01`), warning: ofMonths }
  if (only(namedDay)) return reading('%d %b %Y', isTimed, names)
  if (only(namedMonth))
    return {
      ...reading('%d %b %Y', false, replaced(String.raw`(?i)^([a-z]{3})[a-z]*\.?[ ,-]+(\d{4})$`, String.raw`1 \1 \2`)),
      warning: ofMonths,
    }
  return { type: 'VARCHAR', warning: 'has days in more than one form' }
}
