import { describe, expect, test } from '@jest/globals'
import { bestEts, fitEts } from '../../../../src/models/engines/forecast/exponential-smoothing.js'
import { FittedMethods, methods } from '../../../../src/models/engines/forecast/methods.js'
import { minimise } from '../../../../src/models/engines/forecast/minimise.js'
import { filled, findSeason, seasonShape } from '../../../../src/models/engines/forecast/season.js'
import { modelSeries } from '../../../../src/models/engines/forecast/series-model.js'
import { fitTheta } from '../../../../src/models/engines/forecast/theta.js'
import { noise, series } from '../series.js'

const week = [10, 20, 5, 0, -5, -20, -10]
const forecastOf = ({ forecast }: { forecast: (into: Float64Array) => void }, steps: number): number[] => {
  const into = new Float64Array(steps)
  forecast(into)
  return [...into]
}

test('the simplex finds the least value, also at the edge of its box', () => {
  const found = minimise(([x, y]) => (x! - 2) * (x! - 2) + (y! + 1) * (y! + 1), [0, 0], [-5, -5], [5, 5], 400)
  expect(found.at[0]).toBeCloseTo(2, 2)
  expect(found.at[1]).toBeCloseTo(-1, 2)
  expect(minimise(([x]) => x!, [3], [1], [5], 200).at[0]).toBe(1)
})

describe('a season', () => {
  test('is found where there is one, and its shape is what was put in', () => {
    const values = series(84, (t) => 100 + 0.5 * t + week[t % 7]!)
    expect(findSeason(values, [7])).toBe(7)
    seasonShape(values, 7, false).forEach((each, place) => expect(each).toBeCloseTo(week[place]!, 6))
  })

  test('is not seen in noise, in a line or in a constant', () => {
    const random = noise(3)
    expect(findSeason(series(100, random), [7])).toBe(1)
    expect(
      findSeason(
        series(100, (t) => 3 * t),
        [7, 12],
      ),
    ).toBe(1)
    expect(
      findSeason(
        series(100, () => 5),
        [7],
      ),
    ).toBe(1)
  })

  test('is the one of several that explains the series, and needs two whole turns', () => {
    const random = noise(4)
    const hours = series(800, (t) => 10 * Math.sin((2 * Math.PI * (t % 24)) / 24) + random())
    expect(findSeason(hours, [24, 168])).toBe(24)
    expect(findSeason(hours.subarray(0, 40), [24, 168])).toBe(1)
  })

  test('gaps are filled on the line between their neighbours', () => {
    expect([...filled(Float64Array.of(1, NaN, NaN, 4, 5))]).toEqual([1, 2, 3, 4, 5])
  })
})

describe('exponential smoothing', () => {
  test('says of a constant the constant, and of a line the line', () => {
    expect(
      forecastOf(
        bestEts(
          series(30, () => 42),
          ['none', 'damped'],
          ['none'],
          1,
        ).forecaster,
        3,
      ),
    ).toEqual([42, 42, 42])
    const line = forecastOf(
      fitEts(
        series(30, (t) => 50 + 2 * t),
        { trend: 'linear', season: 'none' },
        1,
      ).forecaster,
      3,
    )
    line.forEach((value, h) => expect(value).toBeCloseTo(110 + 2 * h, 6))
  })

  test('a damped trend flattens', () => {
    const [one, two, ...rest] = forecastOf(
      fitEts(
        series(60, (t) => 50 + 2 * t),
        { trend: 'damped', season: 'none' },
        1,
      ).forecaster,
      100,
    )
    expect(two! - one!).toBeGreaterThan(1.5)
    expect(rest.at(-1)! - rest.at(-2)!).toBeLessThan(0.4)
  })

  test('goes on with added and with multiplied seasons, and the criterion tells which it is', () => {
    const added = series(84, (t) => 100 + 0.5 * t + week[t % 7]!)
    const multiplied = series(84, (t) => (100 + 2 * t) * (1 + week[t % 7]! / 50))
    const both = ['additive', 'multiplicative'] as const
    expect(bestEts(added, ['linear'], both, 7).form.season).toBe('additive')
    const { form, forecaster } = bestEts(multiplied, ['linear'], both, 7)
    expect(form.season).toBe('multiplicative')
    forecastOf(forecaster, 7).forEach((value, h) => expect(value / ((100 + 2 * (84 + h)) * (1 + week[h]! / 50))).toBeCloseTo(1, 2))
  })

  test('a missing value changes nothing but the step', () => {
    const values = series(70, (t) => 100 + week[t % 7]!)
    const { forecaster } = fitEts(values, { trend: 'none', season: 'additive' }, 7)
    const before = forecastOf(forecaster, 8)
    forecaster.update(NaN)
    expect(forecastOf(forecaster, 7)).toEqual(before.slice(1))
  })
})

test('Theta has the same forecasts whatever the unit of the series', () => {
  const forecast = (unit: number) => {
    const random = noise(5)
    let level = 0
    const values = series(200, () => unit * (100 + (level += random()) + random()))
    return forecastOf(fitTheta(values, 1, true), 1)[0]! / unit
  }
  for (const unit of [1e-6, 1e6]) expect(forecast(unit)).toBeCloseTo(forecast(1), 3)
})

test('Theta drifts with half the slope of the line through a series', () => {
  const random = noise(5)
  const [first, second] = forecastOf(
    fitTheta(
      series(200, (t) => 2 * t + random()),
      1,
      true,
    ),
    2,
  )
  expect(second! - first!).toBeCloseTo(1, 1)
})

describe('the methods together', () => {
  test('the last one is the median of the others at each step', () => {
    const random = noise(6)
    const [one, two, three, median] = new FittedMethods(
      series(60, (t) => 3 * t + 10 * random()),
      { season: 1, mayLog: false, least: -Infinity },
    )
      .forecasts(5)
      .map((each) => [...each])
    expect(methods).toHaveLength(4)
    expect(median).toEqual(one!.map((value, h) => [value, two![h]!, three![h]!].sort((a, b) => a - b)[1]))
  })

  test('growth by a factor is seen on the scale of logarithms, unless the horizon is beyond what was measured', () => {
    const growth = series(60, (t) => 10 * Math.exp(0.05 * t))
    const fits = new FittedMethods(growth, { season: 1, mayLog: true, least: 0 })
    expect(fits).toMatchObject({ logged: true, relative: true })
    expect(fits.forecasts(1)[1]![0]! / (10 * Math.exp(3))).toBeCloseTo(1, 3)
    expect(new FittedMethods(growth, { season: 1, mayLog: false, least: 0 }).logged).toBe(false)
  })

  test('nothing is forecast below the least value', () => {
    const falling = series(30, (t) => Math.max(0, 30 - t))
    for (const forecast of new FittedMethods(falling, { season: 1, mayLog: false, least: 0 }).forecasts(20))
      for (const value of forecast) expect(value).toBeGreaterThanOrEqual(0)
  })
})

/** The farthest that any method may go: as far again as the series ever moved, in as many stretches of a quarter of it. */
const farthest = (values: Float64Array, h: number): { low: number; high: number } => {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const far = 2 * (high - low) * Math.max(1, (h + 1) / Math.max(1, values.length >> 2))
  return { low: low - far, high: high + far }
}

const expectSane = (values: Float64Array, fits: FittedMethods, horizon: number): void => {
  const insane = fits.forecasts(horizon).flatMap((forecast, method) =>
    [...forecast].flatMap((value, h) => {
      const { low, high } = farthest(values, h)
      return value >= low && value <= high ? [] : [{ method: methods[method], h, value }]
    }),
  )
  expect(insane).toEqual([])
}

describe('forecasts stay within what the past can mean', () => {
  test('where a series grew twentyfold on the scale of logarithms', () => {
    const sales = [420, 424, 476, 577, 743, 882, 1345, 1371, 1552, 3146, 3112, 3573, 7151, 8288]
    const values = Float64Array.from(sales)
    const fits = new FittedMethods(values, { season: 1, mayLog: true, least: 0 })
    expect(fits.logged).toBe(true)
    for (const forecast of fits.forecasts(6)) expect(Math.max(...forecast)).toBeLessThan(2.5 * 8288)
    expect(Math.max(...modelSeries(values, { horizon: 6, seasons: [], least: 0, work: 100_000, refits: 4 }).forecasts)).toBeLessThan(
      2.5 * 8288,
    )
  })

  test('for random series that multiply, by every method and at every step', () => {
    let logged = 0
    for (let seed = 1; seed <= 120; seed++) {
      const random = noise(seed)
      const [length, growth, spread, season] = [
        10 + (seed % 5) * 9,
        0.3 * random(),
        0.05 + 0.4 * Math.abs(random()),
        seed % 3 === 0 ? 4 : 1,
      ]
      let level = Math.log(100)
      const values = series(length, (t) => {
        level += growth * (seed % 2 === 0 || t > length / 2 ? 1 : 0) + spread * random()
        return Math.exp(level) * (season > 1 ? 1 + 0.5 * Math.sin((Math.PI * t) / 2) : 1)
      })
      const fits = new FittedMethods(values, { season, mayLog: true, least: 0 })
      if (fits.logged) logged += 1
      expectSane(values, fits, 2 * length)
      const next = values.at(-1)! * 1.5
      fits.update(next)
      expectSane(Float64Array.from([...values, next]), fits, length)
    }
    expect(logged).toBeGreaterThan(30)
  })
})
