import { fitsDouble } from '../../basics/exact-json.js'
import { dateShape, startsMonthName } from './date-shape.js'
import { shapes } from './shapes.js'

/** Texts for missing values in exports of other tools; they only count as missing in columns without other text. */
export const missingMarkers = ['NA', 'N/A', '#N/A', 'NaN', 'nan', 'NULL', 'null', 'None'] as const
const markers: ReadonlySet<string> = new Set(missingMarkers)

const integerShape = (text: string): number => {
  if (text.length <= 15) return shapes.integer
  const value = BigInt(text)
  if (value !== BigInt.asIntN(64, value)) return shapes.inexact
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

/** A double keeps all digits of a number of this many characters, unless the number is tiny. */
export const shortNumber = 15
const leastNormal = 2.3e-308
/** A short number fits without a closer look. */
const fits = (written: string): boolean => {
  const size = Math.abs(Number(written))
  return (written.length <= shortNumber && size >= leastNormal && size < Infinity) || fitsDouble(written)
}

/** The shape of a number with a fraction, an exponent or separators; `written` is the number with a dot at most. */
const held = (shape: number, written: string): number => (fits(written) ? shape : shapes.inexact)

/** The shape of a number without commas. */
const plainNumberShape = (text: string): number => {
  if (integer.test(text)) return integerShape(text)
  if (dotThree.test(text)) return shapes.dotThree
  return exponential.test(text) ? held(shapes.decimal, text) : shapes.text
}

const numberShape = (text: string): number => {
  if (!text.includes(',')) return plainNumberShape(text)
  if (commaThree.test(text)) return shapes.commaThree
  if (commaDecimal.test(text)) return held(shapes.commaDecimal, text.replace(',', '.'))
  if (commaGroups.test(text)) return held(shapes.commaGroups, text.replaceAll(',', ''))
  return dotGroupsComma.test(text) ? held(shapes.dotGroupsComma, text.replaceAll('.', '').replace(',', '.')) : shapes.text
}

export const longestTyped = 40
/** No double has more characters in plain notation, with all its digits. */
const longestNumber = 1_100
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

/** A cheap check for date separators, before the exact expressions. */
const mayBeDate = (text: string) => /^\d{1,4}[-/ ]|^\d{1,4}\.\d{1,2}\./.test(text)

const trimmedShape = (text: string): number => {
  if (text.length > longestTyped) return text.length > longestNumber ? shapes.text : plainNumberShape(text)
  if (startsMonthName(text)) return dateShape(text)
  if (!/^[-.\d]/.test(text)) return wordShape(text)
  const date = mayBeDate(text) ? dateShape(text) : shapes.text
  return date === shapes.text ? numberShape(text) : date
}

/**
 * The shape of one value. Numbers with leading zeros or plus signs are text: an id or a telephone number would lose them.
 *
 * @example textShape('640,56') === shapes.commaDecimal
 */
export const textShape = (value: string): number => {
  if (value === '') return shapes.empty
  const text = trimBlanks(value)
  if (text === '') return shapes.blank
  const shape = trimmedShape(text)
  return text.length === value.length || shape === shapes.text ? shape : shape | shapes.padded
}
