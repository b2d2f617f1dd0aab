import { dayMs, weekday, yearAndMonth } from '../numerics/dates.js'
import type { MatrixColumn } from './matrix.js'

/** The part of an input's value that a feature holds. Dates and timestamps have several features. */
export type Part = 'value' | 'year' | 'month' | 'weekday' | 'hour'

/**
 * One number per row, as the trees and the linear model see it. A category's number is its index in `categories`. With `rest`, every other
 * text has the index after the last one; without it, an unknown text is missing (NaN).
 */
export type Feature =
  { input: number; kind: 'number'; part: Part } | { input: number; kind: 'category'; categories: readonly string[]; rest: boolean }

/** The most bins of a feature, besides the one for missing values. */
export const maxBins = 254

const partsOf = (type: MatrixColumn['type']): readonly Part[] => {
  if (type === 'timestamp') return ['value', 'year', 'month', 'weekday', 'hour']
  return type === 'date' ? ['value', 'year', 'month', 'weekday'] : ['value']
}

/** The most frequent categories (ties: the alphabetically first), in alphabetical order. */
const frequent = (codes: Int32Array, size: number, most: number): number[] => {
  const counts = new Int32Array(size)
  for (const code of codes) if (code >= 0) counts[code] = counts[code]! + 1
  const present = Array.from(counts.keys()).filter((code) => counts[code]! > 0)
  if (present.length <= most) return present
  present.sort((one, other) => counts[other]! - counts[one]! || one - other)
  return present.slice(0, most - 1).sort((one, other) => one - other)
}

/** The features of a model's inputs, in the inputs' order. */
export const defineFeatures = (inputs: readonly MatrixColumn[]): Feature[] =>
  inputs.flatMap((column, input): Feature[] => {
    if (column.type !== 'text') return partsOf(column.type).map((part) => ({ input, kind: 'number', part }))
    const codes = frequent(column.codes, column.dictionary.length, maxBins)
    const seen = new Set(column.codes)
    seen.delete(-1)
    return [{ input, kind: 'category', categories: codes.map((code) => column.dictionary[code]!), rest: codes.length < seen.size }]
  })

/** The part of a date (days since 1970, or milliseconds when `timestamp`) that a feature holds; NaN stays NaN. */
export const partOf = (part: Part, value: number, timestamp: boolean): number => {
  if (part === 'value' || Number.isNaN(value)) return value
  const days = timestamp ? Math.floor(value / dayMs) : value
  switch (part) {
    case 'year':
      return yearAndMonth(days).year
    case 'month':
      return yearAndMonth(days).month
    case 'weekday':
      return weekday(days)
    case 'hour':
      return Math.floor((value - days * dayMs) / 3_600_000)
    default:
      return part
  }
}

/** The index of a text among a feature's categories; `null` (missing) and, without a rest, unknown texts are NaN. */
export const categoryNumber = (places: ReadonlyMap<string, number>, rest: boolean, text: string | null): number => {
  if (text === null) return NaN
  return places.get(text) ?? (rest ? places.size : NaN)
}

/** The index of each of a feature's categories, for `categoryNumber`. */
export const placesOf = (categories: readonly string[]): ReadonlyMap<string, number> =>
  new Map(categories.map((text, place) => [text, place]))

/** A feature's number for every row of its training column. */
export const featureValues = (feature: Feature, column: MatrixColumn): Float64Array => {
  if (feature.kind === 'number') {
    if (column.type === 'text') throw new Error(`"${column.name}" is text, not a number`)
    return column.numbers.map((value) => partOf(feature.part, value, column.type === 'timestamp'))
  }
  if (column.type !== 'text') throw new Error(`"${column.name}" is no text`)
  const places = placesOf(feature.categories)
  const ofCode = Float64Array.from(column.dictionary, (text) => categoryNumber(places, feature.rest, text))
  return Float64Array.from(column.codes, (code) => (code < 0 ? NaN : ofCode[code]!))
}
