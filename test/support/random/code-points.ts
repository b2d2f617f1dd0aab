import { fc } from './properties.js'

const surrogates = { from: 0xd800, count: 0x800 }

/**
 * Any code point except surrogates, as a text: a unit of strings. It has the same values as fast-check's unit "binary", which spends
 * seconds on a table of all 1.1 million code points.
 *
 * @example fc.string({ unit: codePoint, maxLength: 80 })
 */
export const codePoint: fc.Arbitrary<string> = fc.nat({ max: 0x10ffff - surrogates.count }).map(
  (n) => String.fromCodePoint(n < surrogates.from ? n : n + surrogates.count),
  (text) => {
    const point = typeof text === 'string' ? text.codePointAt(0) : undefined
    const isSurrogate = point !== undefined && point >= surrogates.from && point < surrogates.from + surrogates.count
    if (point === undefined || isSurrogate || String.fromCodePoint(point) !== text) throw new Error('not one code point')
    return point < surrogates.from ? point : point - surrogates.count
  },
)
