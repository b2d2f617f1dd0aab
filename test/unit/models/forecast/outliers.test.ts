import { describe, expect, it, test } from '@jest/globals'
import { modelSeries } from '../../../../src/models/engines/forecast/series-model.js'
import { withoutOutliers } from '../../../../src/models/engines/forecast/outliers.js'
import { trainForecast } from '../../../../src/models/engines/forecast/train.js'
import type { GivenOptions } from '../../../../src/catalogue/engine-options.js'
import { Random } from '../../../../src/models/numerics/random.js'
import { matrixOf } from '../tables.js'

const random = new Random(5)
/** Noise from -1 to 1 around what follows from the place. */
const series = (length: number, at: (t: number) => number): Float64Array =>
  Float64Array.from({ length }, (_, t) => at(t) + (random.next() / 2 ** 32) * 2 - 1)
const spikesIn = (values: Float64Array, seasons: number[] = []): number[] =>
  [...withoutOutliers(values, seasons).keys()].filter((t) => Number.isNaN(withoutOutliers(values, seasons)[t]))
const forecasts = (values: Float64Array) =>
  modelSeries(withoutOutliers(values, [7]), { horizon: 14, seasons: [7], least: 0, work: 100_000, refits: 4 })

describe('a value that stands alone', () => {
  it.each([0, 1, 30, 58, 59])('is taken as unknown at place %d, high or low', (place) => {
    for (const height of [900, -900]) expect(spikesIn(series(60, (t) => (t === place ? height : 100)))).toEqual([place])
  })

  it.each<[string, (t: number) => number]>([
    ['a level', () => 100],
    ['a trend', (t) => 100 + 3 * t],
    ['a season', (t) => 100 + 20 * [0, 1, 2, 1, 0, 2, -4][t % 7]!],
  ])('at the end does not bend what follows: %s', (_, at) => {
    const alone = forecasts(series(90, (t) => (t === 89 ? 100_000 : at(t))))
    alone.forecasts.forEach((value, h) => expect(Math.abs(value - at(90 + h))).toBeLessThan(8))
    alone.spreads.forEach((spread) => expect(spread).toBeLessThan(5))
  })

  it.each<[string, number[], (t: number) => number]>([
    ['noise', [], () => 100],
    ['growth', [], (t) => 100 * 1.1 ** t],
    ['a level that stays changed', [], (t) => (t < 58 ? 100 : 300)],
    ['a level that changed long ago', [], (t) => (t < 30 ? 100 : 300)],
    ['peaks that come back', [], (t) => (t % 13 === 5 ? 900 : 100)],
    ['a season of peaks', [20], (t) => (t % 20 === 5 ? 900 : 100)],
    ['sales now and then', [], (t) => (t % 9 === 5 ? 40 : 0)],
  ])('is not found in %s', (_, seasons, at) => {
    expect(spikesIn(series(60, at), seasons)).toEqual([])
  })
})

test('a peak that comes back with the season that a user names is none', () => {
  const columns = [
    { name: 'day', type: 'date' as const },
    { name: 'sold', type: 'number' as const },
  ]
  const sold = series(75, (t) => (t % 30 === 10 ? 900 : 100))
  const rows = [...sold].map((value, t) => [new Date(Date.UTC(2024, 0, 1 + t)).toISOString().slice(0, 10), value])
  const kindsWith = (said: GivenOptions) =>
    trainForecast(
      matrixOf({ columns, rows: rows.slice(0, 65) }),
      { target: 'sold', order_by: 'day', horizon: 20, ...said },
      () => undefined,
    ).report.warnings.map(({ kind }) => kind)
  expect(kindsWith({})).toContain('spikes')
  expect(kindsWith({ season: 1 })).toContain('spikes')
  expect(kindsWith({ season: 30 })).not.toContain('spikes')
})

describe('a level that has just changed', () => {
  it.each([2, 3])('is not taken for growth without end: %d steps ago', (back) => {
    for (let run = 0; run < 12; run++) {
      const { forecasts: found } = forecasts(series(60, (t) => (t < 60 - back ? 100 : 10_000)))
      for (const value of found) expect(value).toBeLessThan(12_500)
    }
  })
})
