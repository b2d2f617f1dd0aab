import { expect, test } from '@jest/globals'
import { inParts } from '../../src/basics/limits/in-parts.js'

const bounds = { maxItems: 3, maxSize: 10 }
const partsOf = (sizes: readonly number[]): number[][] => [...inParts(sizes, (size) => size, bounds)]

test.each([
  { sizes: [], parts: [] },
  { sizes: [10], parts: [[10]] },
  { sizes: [0, 0, 0, 0], parts: [[0, 0, 0], [0]] },
  { sizes: [4, 6, 1], parts: [[4, 6], [1]] },
  { sizes: [11, 12], parts: [[11], [12]] },
  { sizes: [1, 11, 1], parts: [[1], [11], [1]] },
])('items of the sizes $sizes make the parts $parts', ({ sizes, parts }) => {
  expect(partsOf(sizes)).toEqual(parts)
})
