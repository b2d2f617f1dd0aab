import { describe, expect, it } from '@jest/globals'
import { foldsShare, TimeLimit } from '../../../src/models/engines/tabular/time-limit.js'
import type { TrainOptions } from '../../../src/models/engines/tabular/train.js'
import { train } from '../../support/models/train.js'
import { friedman, matrixOf } from './tables.js'

const bytes = (artefact: Uint8Array) => Buffer.from(artefact).toString('base64')
const trained = (options: Partial<TrainOptions>) => train(matrixOf(friedman(3000, 4), 3), { ...options, target: 'y', seed: 3 })

describe('a time limit', () => {
  it('lets a phase go on until its share of the time has passed, but does one round', () => {
    const limit = new TimeLimit(10_000, undefined, performance.now() - 6_000_000)
    expect([limit.goesOn('folds', 0, 0.5), limit.goesOn('interval', 50, 0.8)]).toEqual([true, true])
    expect(limit.stopped).toEqual({})
    expect(limit.goesOn('folds', 7, 0.5)).toBe(false)
    expect(limit.stopped).toEqual({ folds: 7 })
  })

  it('without one nothing is stopped', () => {
    expect(new TimeLimit(undefined, undefined, performance.now() - 1e9).goesOn('folds', 1_000_000, 0.5)).toBe(true)
  })

  it('leaves time to learn from all rows: more where that is done often, and where many threads share the folds', () => {
    const share = (members: number, threads: number) => foldsShare({ folds: 5, members, threads })
    expect(share(1, 2)).toBeCloseTo(0.51, 2)
    expect(share(3, 2)).toBeLessThan(share(1, 2))
    expect(share(1, 5)).toBeLessThan(share(1, 2))
  })

  it('that was not reached changes no byte', () => {
    const table = matrixOf(friedman(100, 4), 3)
    const [one, other] = [train(table, { target: 'y' }), train(table, { target: 'y', time_limit: 600 })]
    expect(bytes(other.artefact)).toBe(bytes(one.artefact))
    expect(other.report.plan).toEqual(one.report.plan)
  })

  it('that struck is told, and what was carried out gives the same bytes again', () => {
    const cut = trained({ time_limit: 1 })
    const { stopped, rounds } = cut.report.plan
    expect(stopped?.folds).toBeGreaterThan(0)
    expect(rounds).toBeLessThan(1.1 * stopped!.folds! + 1)
    expect(cut.report.warnings.map(({ kind }) => kind)).toEqual(['time_limit'])
    const again = trained({ time_limit: 3600, stopped: stopped! })
    expect(bytes(again.artefact)).toBe(bytes(cut.artefact))
    expect(again.report).toEqual(cut.report)
  })
})

describe('a preset', () => {
  it('decides how much is tried, and stands in the plan', () => {
    const plans = (['fast', 'balanced', 'best'] as const).map(
      (preset) => train(matrixOf(friedman(400, 4), 3), { target: 'y', preset }).report.plan,
    )
    expect(plans.map(({ preset, folds, members }) => [preset, folds, members])).toEqual([
      ['fast', 3, 1],
      ['balanced', 5, 1],
      ['best', 5, 3],
    ])
    expect(plans[2]!.trees).toBe(3 * plans[2]!.rounds)
  })
})
