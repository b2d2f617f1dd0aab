import type { Value } from '../api/sql.js'

/** A value as one line of text. The caller has to distinguish NULL from an empty text. */
export const shown = (value: Value | undefined): string => {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Whether a type is numeric. Numbers are aligned to the right. */
export const isNumeric = (type: string): boolean =>
  /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?\b|BIGNUM|DOUBLE|FLOAT|REAL|DECIMAL)/i.test(type)

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

/** A number for display: a large number is whole, others have four significant digits. @example figure(12_345.6) // '12,346' */
export const figure = (value: number | null): string => {
  if (value === null) return ''
  return Math.abs(value) >= 1_000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(4)))
}
