import { describe, expect, test } from '@jest/globals'
import { Problem } from '../../../src/basics/errors.js'
import { checkValue, readTruth } from '../../../src/models/data/check-values.js'
import type { ColumnType } from '../../../src/models/data/values.js'

const refusal = (work: () => unknown): Problem => {
  try {
    work()
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  throw new Error('it was taken')
}

describe('a value of a request', () => {
  test.each<[ColumnType, readonly unknown[]]>([
    ['number', [1, -2.5, '823', ' 1e3 ', null]],
    ['integer', [1, '7', null]],
    ['boolean', [true, false, null]],
    ['text', ['', '5', null]],
    ['date', ['2024-05-31', null]],
    ['timestamp', ['2024-05-31', '2024-05-31T12:30:00Z', null]],
  ])('of a column of type %s is taken', (type, values) => {
    for (const value of values) expect(() => checkValue({ name: 'a', type }, value, 0)).not.toThrow()
  })

  test.each<[ColumnType, readonly unknown[], string]>([
    ['number', ['abc', '', '1,5', true, [1], {}], 'Expected a number, or one as text such as "823.5", or null where it is not known.'],
    ['integer', ['x', false], 'Expected a number, or one as text such as "823", or null where it is not known.'],
    ['boolean', ['true', 1, 0, 'yes'], 'Expected true or false, or null where it is not known.'],
    ['text', [5, true, ['a']], 'Expected a text, or null where it is not known.'],
    ['date', [19_000, '2024-02-30', 'today', true], 'Expected a date as text such as "2024-05-31", or null where it is not known.'],
    ['timestamp', [0, '12:30'], 'Expected a time as text such as "2024-05-31T12:30:00Z", or null where it is not known.'],
  ])('of a column of type %s is refused with what was expected', (type, values, hint) => {
    for (const value of values) {
      const { code, detail, extras } = refusal(() => checkValue({ name: 'a', type }, value, 3))
      expect({ code, detail, hint: extras.hint }).toEqual({
        code: 'wrong_arguments',
        detail: `Row 3, column "a": ${JSON.stringify(value)} is not usable as ${type}`,
        hint,
      })
    }
  })

  test('is not repeated at length', () => {
    expect(refusal(() => checkValue({ name: 'a', type: 'number' }, 'x'.repeat(10_000), 0)).detail.length).toBeLessThan(200)
  })
})

test('a truth is read in the type of the target', () => {
  expect(readTruth('integer', '2900', 'Outcome 0')).toBe(2900)
  expect(readTruth('number', 2.5, 'Outcome 0')).toBe(2.5)
  expect(readTruth('boolean', false, 'Outcome 0')).toBe(false)
  expect(readTruth('text', 'yes', 'Outcome 0')).toBe('yes')
  expect(refusal(() => readTruth('boolean', 'yes', 'Outcome 4')).detail).toBe('Outcome 4: "yes" is not usable as boolean')
})
