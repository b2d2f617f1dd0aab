import { describe, expect, test } from '@jest/globals'
import { partsOf } from '../../../src/models/engines/onnx/tokenizer.js'

/** Numbers are tokens; marks stand around them as a tokenizer puts them. */
const marking = (before: readonly number[], behind: readonly number[]) => ({
  encode: (text: string) => ({ ids: [...before, ...text.split(' ').flatMap((one) => (one === '' ? [] : [Number(one) || 9])), ...behind] }),
})
const text = (n: number) => Array.from({ length: n }, (_, i) => 100 + i).join(' ')

describe('a text that is longer than a model reads', () => {
  test.each([
    ['both', [1], [2]],
    ['behind alone', [], [2]],
    ['before alone', [1, 5], []],
    ['none', [], []],
  ])('is read in parts of equal length that lose nothing, each with its marks: %s', (_, before, behind) => {
    const parts = partsOf(marking(before, behind), text(30), 16)
    expect(parts.flatMap((part) => part.slice(before.length, part.length - behind.length))).toEqual(text(30).split(' ').map(Number))
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(16)
      expect(part.slice(0, before.length)).toEqual(before)
      expect(behind.length === 0 ? [] : part.slice(-behind.length)).toEqual(behind)
    }
    const lengths = parts.map(({ length }) => length)
    expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThan(parts.length)
  })

  test('is none where it fits', () => expect(partsOf(marking([1], [2]), text(14), 16)).toHaveLength(1))
  test('is none where it is empty', () => expect(partsOf(marking([1], [2]), '', 16)).toEqual([[1, 2]]))
})
