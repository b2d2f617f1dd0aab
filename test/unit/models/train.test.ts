import { describe, expect, it } from '@jest/globals'
import { tableOptions } from '../../../src/catalogue/engine-options.js'
import { MatrixBuilder } from '../../../src/models/data/matrix.js'
import { loadPredictor, outputs, type Predictor } from '../../../src/models/engines/tabular/predictor.js'
import { trainTable } from '../../../src/models/engines/tabular/train.js'
import { train } from '../../support/models/train.js'
import { asObjects, cars, columnOf, friedman, matrixOf, mixture, penguins, split, vega, type Table } from './tables.js'

const predict = (predictor: Predictor, rows: readonly Record<string, unknown>[], level?: number): Float64Array[] => {
  const features = new Float64Array(rows.length * predictor.width)
  const out = new Float64Array(rows.length * predictor.outputWidth)
  rows.forEach((row, index) => predictor.encodeRow(row, index, features, index * predictor.width))
  predictor.predictBatch(features, rows.length, out, level)
  return rows.map((_, index) => out.slice(index * predictor.outputWidth, (index + 1) * predictor.outputWidth))
}

/** Trains on four fifths and measures on the rest, apart from what training says of itself. */
const measured = (table: Table, target: string, seed = 0) => {
  const { learn, test } = split(table)
  const { artefact, report } = train(matrixOf(learn, seed), { target, seed })
  const predictor = loadPredictor(artefact)
  const predicted = predict(predictor, asObjects(test, target))
  return { report, predictor, predicted, truth: columnOf(test, target) }
}

const determination = (predicted: readonly Float64Array[], truth: readonly unknown[]): number => {
  const values = truth.map(Number)
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const squares = (of: (value: number, index: number) => number) =>
    values.reduce((sum, value, index) => sum + of(value, index) * of(value, index), 0)
  return 1 - squares((value, index) => value - predicted[index]![outputs.value]!) / squares((value) => value - mean)
}

const hits = ({ predicted, truth, predictor }: ReturnType<typeof measured>): number =>
  predicted.filter((row, index) => predictor.target.classes?.[row[outputs.value]!] === truth[index]).length / truth.length

const covered = (predicted: readonly Float64Array[], truth: readonly unknown[]): number =>
  predicted.filter((row, index) => Number(truth[index]) >= row[outputs.min]! && Number(truth[index]) <= row[outputs.max]!).length /
  truth.length

describe('a trained model', () => {
  it('has the same bytes for the same rows in any order and the same seed, and others for another seed', () => {
    const table = mixture(100, 4)
    const turned = { ...table, rows: [...table.rows].reverse() }
    const artefactOf = (rows: Table, seed: number) => Buffer.from(train(matrixOf(rows, seed), { target: 'garden', seed }).artefact)
    const one = artefactOf(table, 3)
    expect(artefactOf(turned, 3).equals(one)).toBe(true)
    expect(artefactOf(table, 4).equals(one)).toBe(false)
  })

  it('predicts a number that it has learned (Friedman)', () => {
    const result = measured(friedman(1500, 1), 'y')
    expect(determination(result.predicted, result.truth)).toBeGreaterThan(0.91)
    expect(Math.abs(determination(result.predicted, result.truth) - result.report.metrics['r2']!)).toBeLessThan(0.02)
    const top = result.report.importances.slice(0, 5).map(({ name }) => name)
    expect(top.sort()).toEqual(['x0', 'x1', 'x2', 'x3', 'x4'])
  })

  it('grows the same trees whatever the unit of the target', () => {
    const { columns, rows } = friedman(1000, 1)
    const at = columns.findIndex(({ name }) => name === 'y')
    const r2 = (unit: number) => {
      const scaled = rows.map((row) => row.map((cell, index) => (index === at ? Number(cell) * unit : cell)))
      const trees = { engine: 'boosted_trees', learners: 'trees', options: tableOptions } as const
      return trainTable(trees, matrixOf({ columns, rows: scaled }), { target: 'y' }, () => undefined).report.metrics['r2']!
    }
    const usual = r2(1)
    for (const unit of [1e-9, 1e9]) expect(r2(unit)).toBeCloseTo(usual, 2)
  })

  it('predicts what cars use, with dates and missing values', () => {
    const result = measured(cars(), 'Miles_per_Gallon')
    expect(determination(result.predicted, result.truth)).toBeGreaterThan(0.8)
    expect(result.report.task).toBe('regression')
  })

  it('leaves a straight line to the linear model', () => {
    const { columns, rows } = friedman(120, 8)
    const line = rows.map((row) => [...row.slice(0, 10), 3 * Number(row[0]) - 2 * Number(row[1]) + Number(row[9]) / 10])
    const { report, predicted, truth } = measured({ columns, rows: line }, 'y')
    expect(report.plan.linearWeight).toBe(1)
    expect(determination(predicted, truth)).toBeGreaterThan(0.999)
  })

  it('tells three classes apart (penguins)', () => {
    const result = measured(penguins(), 'Species')
    expect(result.report.task).toBe('multiclass')
    expect(hits(result)).toBeGreaterThan(0.96)
    for (const row of result.predicted) {
      const probabilities = row.subarray(outputs.probabilities)
      expect(probabilities.reduce((sum, probability) => sum + probability, 0)).toBeCloseTo(1, 12)
      expect(row[outputs.confidence]).toBe(Math.max(...probabilities))
    }
  })

  it('tells two classes apart, with an honest log loss and AUC', () => {
    const table = penguins('Sex')
    const known = { ...table, rows: table.rows.filter((row) => row[6] === 'MALE' || row[6] === 'FEMALE') }
    const result = measured(known, 'Sex')
    expect(result.report.task).toBe('binary')
    expect(result.predictor.target.classes).toEqual(['FEMALE', 'MALE'])
    expect(hits(result)).toBeGreaterThan(0.85)
    expect(result.report.metrics['auc']).toBeGreaterThan(0.95)
    expect(result.report.metrics['log_loss']).toBeLessThan(0.3)
  })

  it('learns from missing values (movies)', () => {
    const table = vega('movies.json', 'IMDB Rating', [
      { name: 'Title', type: 'text' },
      { name: 'Production Budget', type: 'number' },
      { name: 'Running Time min', type: 'integer' },
      { name: 'Distributor', type: 'text' },
      { name: 'Major Genre', type: 'text' },
      { name: 'Rotten Tomatoes Rating', type: 'integer' },
      { name: 'IMDB Rating', type: 'number' },
      { name: 'IMDB Votes', type: 'integer' },
    ])
    const plain = {
      ...table,
      rows: table.rows.map((row) =>
        row.map((value, index) => (index === 0 || index === 3 || index === 4 ? (value === null ? null : JSON.stringify(value)) : value)),
      ),
    }
    const result = measured(plain, 'IMDB Rating')
    expect(result.report.excluded.map(({ name }) => name)).toEqual(['Title'])
    expect(determination(result.predicted, result.truth)).toBeGreaterThan(0.55)
  })

  it('learns from every type of input', () => {
    const result = measured(mixture(1000, 5), 'price')
    expect(determination(result.predicted, result.truth)).toBeGreaterThan(0.97)
    expect(result.report.inputs.map(({ type, role }) => [type, role])).toEqual([
      ['number', 'number'],
      ['text', 'category'],
      ['boolean', 'number'],
      ['date', 'date'],
      ['timestamp', 'date'],
    ])
  })

  it('keeps the type of a class that is a boolean or a number', () => {
    const table = mixture(200, 6)
    const { artefact } = train(matrixOf(table), { target: 'garden' })
    expect(loadPredictor(artefact).target).toEqual({ name: 'garden', type: 'boolean', classes: [false, true] })
  })

  it('learns more categories than a feature has bins', () => {
    const rows = Array.from({ length: 1500 }, (_, index) => [`c${(index * index) % 701}`, ((index * index) % 701) % 7 < 3 ? 'yes' : 'no'])
    const builder = new MatrixBuilder([
      { name: 'c', type: 'text' },
      { name: 'y', type: 'text' },
    ])
    for (const row of rows) builder.addRow(row)
    const { artefact, report } = train(builder.build(0), { target: 'y' })
    expect(report.metrics['accuracy']).toBeGreaterThan(0.75)
    const predictor = loadPredictor(artefact)
    expect(predictor.inputs[0]?.categories).toHaveLength(253)
    const [rest] = predict(predictor, [{ c: 'never seen' }])
    expect(rest![outputs.confidence]).toBeLessThan(0.9)
  })

  it('trains on ten rows', () => {
    const table = { ...friedman(10, 3) }
    expect(train(matrixOf(table), { target: 'y' }).report.rows).toBe(10)
    const classes = matrixOf({
      columns: [
        { name: 'x', type: 'number' },
        { name: 'y', type: 'text' },
      ],
      rows: table.rows.map((row, index) => [row[0], index === 0 ? 'a' : 'b']),
    })
    expect(train(classes, { target: 'y' }).report.plan.folds).toBe(2)
  })

  it('tells how far it is, phase by phase', () => {
    const phases = new Set<string>()
    train(matrixOf(friedman(100, 3)), { target: 'y' }, ({ phase, done, total }) => {
      expect(done).toBeLessThanOrEqual(total)
      phases.add(phase)
    })
    expect([...phases]).toEqual(['prepare', 'folds', 'linear', 'refit', 'interval'])
  })

  it.each([
    [{ target: 'y', seed: -1 }, '"seed" is -1'],
    [{ target: 'y', confidence: 1 }, '"confidence" is 1'],
  ])('refuses %j', (options, detail) => {
    expect(() => train(matrixOf(friedman(20, 3)), options)).toThrow(detail)
  })
})

describe('intervals', () => {
  it('cover what they promise at every level', () => {
    const { predictor, truth } = measured(friedman(1200, 11), 'y')
    const rows = asObjects(split(friedman(1200, 11)).test, 'y')
    for (const level of [0.5, 0.8, 0.9, 0.95]) expect(Math.abs(covered(predict(predictor, rows, level), truth) - level)).toBeLessThan(0.06)
  })

  it('are wider where the noise is larger', () => {
    const table = friedman(3000, 12, { deviation: 2, growing: true })
    const { report, predicted, truth } = measured(table, 'y')
    const x3 = columnOf(split(table).test, 'x3').map(Number)
    const meanWidth = (rows: readonly Float64Array[]) =>
      rows.reduce((sum, row) => sum + row[outputs.max]! - row[outputs.min]!, 0) / rows.length
    const calm = predicted.filter((_, index) => x3[index]! < 0.3)
    const wild = predicted.filter((_, index) => x3[index]! > 0.7)
    expect(meanWidth(wild)).toBeGreaterThan(1.5 * meanWidth(calm))
    const coveredWild = covered(
      wild,
      truth.filter((_, index) => x3[index]! > 0.7),
    )
    expect(coveredWild).toBeGreaterThan(0.8)
    expect(covered(predicted, truth)).toBeGreaterThan(0.87)
    expect(report.interval).toMatchObject({ method: 'cv-normalised', confidence: 0.9 })
    expect(report.interval?.about).toContain('no exact finite-sample guarantee')
  })
})
