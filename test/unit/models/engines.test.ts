import { describe, expect, it } from '@jest/globals'
import { findEngine } from '../../../src/models/engines/engines.js'
import { loadInMemory } from '../../support/models/in-memory.js'
import type { GivenOptions } from '../../../src/catalogue/engine-options.js'
import { outputs } from '../../../src/models/engines/tabular/predictor.js'
import { friedman, matrixOf, mixture, penguins, type Table } from './tables.js'

const trained = async (engine: string, table: Table, target: string, options: GivenOptions = {}) =>
  findEngine(engine).train(matrixOf(table, 3), { target, seed: 3, ...options }, () => undefined)

const firstOf = (artefact: Uint8Array, row: Record<string, unknown>): Float64Array => {
  const model = loadInMemory(artefact)
  const features = new Float64Array(model.width)
  const out = new Float64Array(model.outputWidth)
  model.encodeRow(row, 0, features, 0)
  model.predictBatch(features, 1, out)
  return out
}

describe('an engine of one learner', () => {
  it.each([
    ['boosted_trees', 0],
    ['linear', 1],
  ])('%s takes only its own', async (engine, weight) => {
    for (const [table, target] of [
      [friedman(200, 1), 'y'],
      [penguins(), 'Species'],
      [mixture(200, 4), 'garden'],
    ] as const) {
      const { report } = await trained(engine, table, target)
      expect(report.engine.name).toBe(engine)
      expect(report.plan.linearWeight).toBe(weight)
      expect(report.plan.trees > 0).toBe(weight === 0)
      expect(report.importances.reduce((sum, { importance }) => sum + importance, 0)).toBeCloseTo(1, 9)
    }
  })

  it('tells what auto tells where auto takes it alone', async () => {
    const [auto, linear] = [await trained('auto', penguins(), 'Species'), await trained('linear', penguins(), 'Species')]
    expect(auto.report.plan.linearWeight).toBe(1)
    expect(linear.report.metrics).toEqual(auto.report.metrics)
    expect(linear.report.importances).toEqual(auto.report.importances)
    const row = { Island: 'Dream', 'Body Mass (g)': 4000 }
    expect(firstOf(linear.artefact, row)).toEqual(firstOf(auto.artefact, row))
  })

  it.each([
    ['y', (row: number) => row * 1.5],
    ['kind', (row: number) => (row % 2 === 0 ? 'even' : 'odd')],
  ])('linear gives finite numbers for numbers as large as there are: %s', async (target, valueOf) => {
    const columns = [
      { name: 'huge', type: 'number' as const },
      { name: 'small', type: 'integer' as const },
      { name: target, type: target === 'y' ? ('number' as const) : ('text' as const) },
    ]
    const rows = Array.from({ length: 60 }, (_, row) => [(row % 3 === 0 ? -1.7e308 : 1e308) * (1 - row / 99), row, valueOf(row)])
    const { artefact, report } = await trained('linear', { columns, rows }, target)
    expect(Object.values(report.metrics).every(Number.isFinite)).toBe(true)
    for (const huge of [1.7e308, -1.7e308, 3])
      expect([...firstOf(artefact, { huge, small: 7 })].slice(0, 2).every(Number.isFinite)).toBe(true)
  })

  it('linear refuses a table of more coefficients than it can solve, and says what helps', async () => {
    const texts = Array.from({ length: 900 }, (_, row) => [`a${row % 240}`, `b${row % 239}`, `c${row % 241}`, row])
    const columns = [...['a', 'b', 'c'].map((name) => ({ name, type: 'text' as const })), { name: 'y', type: 'number' as const }]
    await expect(trained('linear', { columns, rows: texts }, 'y')).rejects.toMatchObject({
      detail: expect.stringContaining('coefficients on 900 rows'),
      extras: { hint: expect.stringContaining('exclude') },
    })
  })
})

describe('the constant engine', () => {
  it('answers the mean, whatever the row, with an interval that covers', async () => {
    const table = friedman(400, 2)
    const { artefact, report } = await trained('constant', table, 'y')
    const values = table.rows.map((row) => Number(row.at(-1)))
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    const [one, other] = [firstOf(artefact, {}), firstOf(artefact, { x0: 0.9 })]
    expect(one).toEqual(other)
    expect(one[outputs.value]).toBeCloseTo(mean, 6)
    const covered = values.filter((value) => value >= one[outputs.min]! && value <= one[outputs.max]!).length / values.length
    expect(Math.abs(covered - 0.9)).toBeLessThan(0.02)
    expect(report.metrics['r2']).toBeLessThan(0.001)
    expect(report.inputs).toEqual([])
  })

  it('answers the share of each class', async () => {
    const table = penguins()
    const { artefact } = await trained('constant', table, 'Species')
    const share = table.rows.filter(([species]) => species === 'Chinstrap').length / table.rows.length
    expect(firstOf(artefact, {})[outputs.probabilities + 1]).toBeCloseTo(share, 5)
  })

  it('learns from a target alone, where others have nothing to go by', async () => {
    const table: Table = { columns: [{ name: 'y', type: 'number' }], rows: Array.from({ length: 50 }, (_, row) => [row * row]) }
    await expect(trained('constant', table, 'y')).resolves.toBeDefined()
    await expect(trained('auto', table, 'y')).rejects.toThrow('the query has no other column')
  })
})
