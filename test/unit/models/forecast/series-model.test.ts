import { describe, expect, test } from '@jest/globals'
import { bestMethod, methods, type Misses } from '../../../../src/models/engines/forecast/methods.js'
import { planRolling } from '../../../../src/models/engines/forecast/rolling-errors.js'
import { modelSeries, type SeriesRules } from '../../../../src/models/engines/forecast/series-model.js'
import { errorQuantiles, spreadOf } from '../../../../src/models/engines/forecast/prediction-interval.js'
import { noise, series } from '../series.js'

const rules: SeriesRules = { horizon: 14, seasons: [7], least: 0, work: 100_000, refits: 4 }
const week = [10, 20, 5, 0, -5, -20, -10]

describe('what is forecast', () => {
  const random = noise(7)
  const weekly = (t: number) => 100 + 0.05 * t + week[t % 7]!
  const cases: [string, Float64Array, (t: number) => number, number][] = [
    ['a week on a slow trend', series(400, (t) => weekly(t) + 3 * random()), weekly, 2],
    ['the same with gaps', series(400, (t) => (t % 9 === 4 ? NaN : weekly(t) + 3 * random())), weekly, 2.5],
    ['a trend without a season', series(84, (t) => 50 + 2 * t + 4 * random()), (t) => 50 + 2 * t, 5],
    ['a constant', series(40, () => 42), () => 42, 0],
    ['zeros', series(40, () => 0), () => 0, 0],
    ['a line', series(12, (t) => 3 * t), (t) => 3 * t, 1e-6],
    ['noise around a mean', series(200, () => 10 + random()), () => 10, 0.5],
    ['growth by a factor', series(120, (t) => 10 * Math.exp(0.03 * t + 0.02 * random())), (t) => 10 * Math.exp(0.03 * t), 40],
    ['a level that has changed', series(120, (t) => (t < 70 ? 100 : 200) + random()), () => 200, 3],
  ]
  test.each(cases)('%s', (_, values, truth, most) => {
    const { forecasts, spreads } = modelSeries(values, rules)
    const missed = forecasts.reduce((sum, value, h) => sum + Math.abs(value - truth(values.length + h)), 0) / forecasts.length
    expect(missed).toBeLessThanOrEqual(most)
    for (const spread of spreads) expect(spread).toBeGreaterThanOrEqual(0)
  })

  test('of rare demand the mean is forecast, not zero for ever', () => {
    const values = series(300, (t) => (t % 5 === 0 ? 3 + (t % 3) : 0))
    const { forecasts } = modelSeries(values, { ...rules, seasons: [] })
    const mean = forecasts.reduce((sum, value) => sum + value, 0) / forecasts.length
    expect(mean).toBeGreaterThan(0.4)
    expect(mean).toBeLessThan(1.6)
  })

  test('the same values give the same bits', () => {
    const values = series(100, (t) => weekly(t) + Math.sin(t * t))
    expect(modelSeries(values, rules)).toEqual(modelSeries(values.slice(), rules))
  })
})

test('a series is judged on its last part, and two seasons are left to fit to', () => {
  const bounds = { work: 100_000, refits: 4 }
  expect(planRolling(144, 12, 12, bounds)).toEqual({ first: 108, stride: 1, refits: 4 })
  expect(planRolling(30, 12, 12, bounds).first).toBe(25)
  expect(planRolling(10, 1, 50, bounds)).toEqual({ first: 5, stride: 1, refits: 4 })
  expect(planRolling(5_000, 1, 1_000, bounds)).toEqual({ first: 4_600, stride: 2, refits: 4 })
})

describe('how a method is picked', () => {
  const missing = (actual: number[], forecast: number[]): Misses => ({ step: actual.map(() => 0), actual, forecast })
  test('the one with the least error is, the first of equals', () => {
    const actual = [5, 6]
    expect(bestMethod([missing(actual, [4, 4]), missing(actual, [5, 5]), missing(actual, [6, 6])], 1)).toBe(1)
    expect(methods[bestMethod([missing(actual, [4, 4]), missing(actual, [4, 4])], 1)]).toBe('damped_ets')
  })
  test('among many zeros by squares, which zero for ever does not win', () => {
    const actual = [0, 0, 0, 10]
    expect(bestMethod([missing(actual, [0, 0, 0, 0]), missing(actual, [3, 3, 3, 3])], 1)).toBe(1)
  })
})

describe('how wide intervals are', () => {
  test('errors by step never fall, and steps that were not reached grow with the root', () => {
    const misses = { step: [0, 0, 1, 1, 2], actual: [1, 1, 5, 5, 2], forecast: [0, 0, 0, 0, 0] }
    const spread = spreadOf(misses, 12, false)
    expect([...spread.subarray(0, 3)]).toEqual([1, 4, 4])
    expect(spread[11]).toBeCloseTo(4 * Math.sqrt(12 / 3), 10)
  })

  test('few independent errors raise a level', () => {
    const errors = Array.from({ length: 100 }, (_, i) => i + 1)
    expect(errorQuantiles(errors, 1_000)[899]).toBe(91)
    expect(errorQuantiles(errors, 10)[899]).toBe(99)
    expect(errorQuantiles([], 0)[899]).toBe(0)
  })

  test('nine of ten later values are inside nine times of ten, at every length', () => {
    const random = noise(8)
    const makers: ((t: number) => number)[] = [
      () => 10 + random(),
      (t) => 50 + 2 * t + 4 * random(),
      (t) => 100 + week[t % 7]! + 3 * random(),
    ]
    const lengths = [30, 100]
    let [inside, count] = [0, 0]
    for (const make of makers)
      for (const length of lengths)
        for (let run = 0; run < 8; run++) {
          const values = series(length + 7, make)
          const { forecasts, spreads, normalised } = modelSeries(values.subarray(0, length), { ...rules, horizon: 7 })
          const factor = errorQuantiles(normalised, normalised.length / 7)[899]!
          forecasts.forEach((value, h) => {
            count++
            if (Math.abs(values[length + h]! - value) <= factor * spreads[h]!) inside++
          })
        }
    expect(inside / count).toBeGreaterThan(0.87)
    expect(inside / count).toBeLessThan(0.96)
  })
})
