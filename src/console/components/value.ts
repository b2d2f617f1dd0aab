import type { Value } from '../api/sql.js'

/** A value as one line of text. The caller has to distinguish NULL from an empty text. */
export const shown = (value: Value | undefined): string => {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The texts of lists and objects that were shown before: a grid shows the same ones again and again. */
const shortTexts = new WeakMap<object, string>()

/** The most characters of a value in a cell of a table. */
const cellMax = 500

/**
 * The beginning of a value as one line of text.
 *
 * @example shortText('a long text', 6) // 'a long…'
 */
export const shortText = (value: Value | undefined, max = cellMax): string => {
  if (typeof value !== 'object' || value === null || max > cellMax) return cut(shown(value), max)
  const known = shortTexts.get(value) ?? cut(shown(value), cellMax)
  shortTexts.set(value, known)
  return max < cellMax ? cut(known, max) : known
}

/**
 * The beginning of a text, as a text of its own: a slice would keep the whole text in memory. A pair of code units stays whole.
 *
 * @example beginning('a long text', 6) // 'a long'
 */
export const beginning = (text: string, max: number): string =>
  text.length <= max ? text : (JSON.parse(JSON.stringify(text.slice(0, max).replace(/[\ud800-\udbff]$/, ''))) as string)

const cut = (text: string, max: number): string => (text.length <= max ? text : `${beginning(text, max)}…`)

/** Whether a type is that of dates or times with a date. */
export const isTime = (type: string): boolean => /^(?:DATE|TIMESTAMP)/.test(type)

/** Whether a type is numeric; a list of numbers is not. Numbers are aligned to the right. */
export const isNumeric = (type: string): boolean =>
  /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|BIGNUM|DOUBLE|FLOAT|REAL|DECIMAL)(?:\(\d+, ?\d+\))?$/i.test(type)

const unitsOfBytes = ['bytes', 'KB', 'MB', 'GB', 'TB']

/** @example bytesText(1_536) // '1.5 KB' */
export const bytesText = (bytes: number): string => {
  const unit = Math.min(unitsOfBytes.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3))
  const count = bytes / 1_000 ** unit
  return `${unit === 0 ? count : count.toFixed(count < 10 ? 1 : 0)} ${unitsOfBytes[unit] ?? ''}`
}

/** @example countText(1234567) // '1,234,567' */
export const countText = (count: number): string => count.toLocaleString('en')

/** @example percentText(0.257) // '26 %' */
export const percentText = (share: number): string => `${Math.round(100 * share)} %`

/** @example msText(2_913) // '2.9 s' */
export const msText = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`)

const fractionDigitsMax = 20

/** What a share of nearly 1 lacks: 0.9999 is not 1. */
const missingToOne = (value: number): number => (value > 0.999 && value < 1 ? 1 - value : 0)

/**
 * A number for display: a large number is whole, others have four significant digits.
 *
 * @param gap a difference that must be seen, such as that between the ends of an interval: two of its digits are shown
 * @example figure(12_345.6) // '12,346'
 * @example figure(719.962, 0.08) // '719.962'
 */
export const figure = (value: number | null, gap = missingToOne(value ?? 0)): string => {
  if (value === null) return ''
  const isLarge = Math.abs(value) >= 1_000
  const usual = isLarge ? 0 : 3 - Math.floor(Math.log10(Math.abs(value)))
  const needed = gap === 0 ? 0 : Math.min(1 + Math.ceil(-Math.log10(Math.abs(gap))), fractionDigitsMax)
  if (needed > usual) return value.toLocaleString('en', { maximumFractionDigits: needed })
  return isLarge ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(4)))
}
