/**
 * What a value's text looks like. Each value has one shape; a column's type follows from the set of shapes that it has
 * over all rows, so the set is kept as bits.
 */
export const shapes = {
  empty: 1 << 0,
  blank: 1 << 1, // spaces and tabs only
  missing: 1 << 2, // NA, NULL and the like
  integer: 1 << 3, // held exactly by a double too
  long: 1 << 4, // needs 64 bits
  huge: 1 << 5, // an integer beyond 64 bits
  decimal: 1 << 6, // 1.5 2e10
  dotThree: 1 << 7, // 1.234 may be a thousand
  commaThree: 1 << 8, // 1,234 may be a thousand
  commaDecimal: 1 << 9, // 640,56
  commaGroups: 1 << 10, // 1,234,567 1,234.5
  dotGroupsComma: 1 << 11, // 1.234,5
  boolean: 1 << 12,
  date: 1 << 13, // 2026-01-31
  slashDate: 1 << 14, // 2026/01/31
  dotDate: 1 << 15, // 31.01.2026
  timestamp: 1 << 16, // 2026-01-31 12:00
  zonedTimestamp: 1 << 17, // 2026-01-31T12:00:00Z
  text: 1 << 18,
  padded: 1 << 19, // beside the shape: blanks stand around the value
} as const

/** What exports of other tools write for no value; only read so in columns that hold no other text. */
export const missingMarkers = ['NA', 'N/A', '#N/A', 'NaN', 'nan', 'NULL', 'null', 'None'] as const
const markers: ReadonlySet<string> = new Set(missingMarkers)

const integerShape = (text: string): number => {
  if (text.length <= 15) return shapes.integer
  const value = BigInt(text)
  if (value !== BigInt.asIntN(64, value)) return shapes.huge
  return Number.isSafeInteger(Number(text)) ? shapes.integer : shapes.long
}

const number = String.raw`-?(?:0|[1-9]\d*)`
const groupsOf = (dot: string) => String.raw`-?[1-9]\d{0,2}(?:${dot}\d{3})`
const integer = new RegExp(`^${number}$`)
const exponential = new RegExp(String.raw`^(?:${number}(?:\.\d*)?|-?\.\d+)(?:[eE][+-]?\d+)?$`)
const dotThree = new RegExp(`^${groupsOf(String.raw`\.`)}$`)
const commaThree = new RegExp(`^${groupsOf(',')}$`)
const commaGroups = new RegExp(String.raw`^${groupsOf(',')}(?:(?:,\d{3})+(?:\.\d+)?|\.\d+)$`)
const dotGroupsComma = new RegExp(String.raw`^${groupsOf(String.raw`\.`)}(?:\.\d{3})*,\d+$`)
const commaDecimal = new RegExp(String.raw`^${number},\d+$`)

const numberShape = (text: string): number => {
  if (!text.includes(',')) {
    if (integer.test(text)) return integerShape(text)
    if (dotThree.test(text)) return shapes.dotThree
    return exponential.test(text) && Number.isFinite(Number(text)) ? shapes.decimal : shapes.text
  }
  if (commaThree.test(text)) return shapes.commaThree
  if (commaDecimal.test(text)) return shapes.commaDecimal
  if (commaGroups.test(text)) return shapes.commaGroups
  return dotGroupsComma.test(text) ? shapes.dotGroupsComma : shapes.text
}

/** Whether a calendar has such a day. */
export const isCalendarDay = (year: number, month: number, day: number): boolean => {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return day <= (month === 2 ? (leap ? 29 : 28) : month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31)
}

const yearFirst = /^(\d{4})([-/])(\d\d)\2(\d\d)$/
const dayFirst = /^(\d\d)\.(\d\d)\.(\d{4})$/
const withTime = /^(\d{4})-(\d\d)-(\d\d)[ T](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(Z|[+-](?:0\d|1[0-4]):[0-5]\d)?$/

const dayShape = (text: string): number => {
  const ymd = yearFirst.exec(text)
  if (ymd && isCalendarDay(Number(ymd[1]), Number(ymd[3]), Number(ymd[4]))) return ymd[2] === '-' ? shapes.date : shapes.slashDate
  const dmy = dayFirst.exec(text)
  return dmy && isCalendarDay(Number(dmy[3]), Number(dmy[2]), Number(dmy[1])) ? shapes.dotDate : shapes.text
}

/** The shape of a text that may be a day or a moment; what no calendar has is text. */
export const timeShape = (text: string): number => {
  if (text.length <= 10) return dayShape(text)
  const moment = withTime.exec(text)
  if (!moment || !isCalendarDay(Number(moment[1]), Number(moment[2]), Number(moment[3]))) return shapes.text
  return moment[4] === undefined ? shapes.timestamp : shapes.zonedTimestamp
}

export const longestTyped = 40
const isBlank = (text: string, at: number) => text.charCodeAt(at) === 0x20 || text.charCodeAt(at) === 0x09

const trimBlanks = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text, start)) start += 1
  while (end > start && isBlank(text, end - 1)) end -= 1
  return text.slice(start, end)
}

const wordShape = (text: string): number => {
  if (markers.has(text)) return shapes.missing
  return /^(?:true|false)$/i.test(text) ? shapes.boolean : shapes.text
}

/** A cheap look at where days have their marks, before the expressions that make sure. */
const mayBeTime = (text: string) => text.length >= 10 && ('-/'.includes(text.charAt(4)) || text.charAt(5) === '.')

const trimmedShape = (text: string): number => {
  if (!/^[-.\d]/.test(text)) return wordShape(text)
  const time = mayBeTime(text) ? timeShape(text) : shapes.text
  return time === shapes.text ? numberShape(text) : time
}

/**
 * The shape of one value. Leading zeros and plus signs make text: an id or a telephone number would lose them as a number.
 *
 * @example textShape('640,56') === shapes.commaDecimal
 */
export const textShape = (value: string): number => {
  if (value === '') return shapes.empty
  const text = trimBlanks(value)
  if (text === '') return shapes.blank
  if (text.length > longestTyped) return shapes.text
  const shape = trimmedShape(text)
  return text.length === value.length || shape === shapes.text ? shape : shape | shapes.padded
}
