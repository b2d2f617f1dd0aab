import { describe, expect, it } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import { wrong } from '../../../src/basics/errors.js'
import { accuracyOf, reasonOf } from '../../../src/models/training/training-record.js'

describe('why a training failed', () => {
  it('is a sentence, with the hint as another one', () => {
    expect(reasonOf(wrong('"day" is a date', 'Predict a number.'))).toBe('"day" is a date. Predict a number.')
    expect(reasonOf(wrong('It is a date.', 'Predict a number.'))).toBe('It is a date. Predict a number.')
    expect(reasonOf(wrong('"day" is a date'))).toBe('"day" is a date')
  })

  it('says nothing of faults that nobody foresaw, which may quote rows', () => {
    expect(reasonOf(new TypeError('secret'))).not.toContain('secret')
  })

  it('is a text that the log takes', () => {
    const reason = reasonOf(wrong(`\0${'😀'.repeat(limits.trainingMaxClasses * 100)}`))
    expect([reason.includes('\0'), reason.isWellFormed()]).toEqual([false, true])
  })
})

it('lists show R² or accuracy in few digits, and nothing where there is none', () => {
  expect(accuracyOf({ metrics: { r2: 0.123456789012345, accuracy: 1 } })).toBe(0.123456789)
  expect([accuracyOf({ metrics: { accuracy: 0.5 } }), accuracyOf({ metrics: {} })]).toEqual([0.5, null])
})
