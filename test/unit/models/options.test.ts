import { describe, expect, it } from '@jest/globals'
import { foldSplitterOf } from '../../../src/models/data/fold-split.js'
import { findEngine } from '../../../src/models/engines/engines.js'
import { unpredicted } from '../../../src/models/data/folds.js'
import { loadInMemory } from '../../support/models/in-memory.js'
import type { GivenOptions } from '../../../src/catalogue/engine-options.js'
import { evaluateRows } from '../../../src/models/engines/tabular/evaluation.js'
import { outputs } from '../../../src/models/engines/tabular/predictor.js'
import { Random } from '../../../src/models/numerics/random.js'
import { defineTask } from '../../../src/models/data/task.js'
import type { TrainedModel } from '../../../src/models/engines/tabular/train.js'
import { train } from '../../support/models/train.js'
import { friedman, matrixOf, mixture, penguins, type Table } from './tables.js'

const trained = (table: Table, target: string, options: GivenOptions = {}) => train(matrixOf(table, 3), { ...options, target, seed: 3 })

const predicted = (artefact: Uint8Array, row: Record<string, unknown>): Float64Array => {
  const model = loadInMemory(artefact)
  const features = new Float64Array(model.width)
  const out = new Float64Array(model.outputWidth)
  model.encodeRow(row, 0, features, 0)
  model.predictBatch(features, 1, out)
  return out
}

const uniform = (random: Random) => random.next() / 4294967296

/** Customers with ten rows each; a row tells its customer, and the target is the customer's own. */
const customers = (): Table => {
  const random = new Random(5)
  const rows = Array.from({ length: 40 }, (_, customer) => {
    const [height, worth] = [uniform(random), uniform(random) * 100]
    return Array.from({ length: 10 }, () => [`c${customer}`, height, uniform(random), worth + uniform(random)])
  }).flat()
  const columns = [
    { name: 'customer', type: 'text' as const },
    { name: 'height', type: 'number' as const },
    { name: 'mood', type: 'number' as const },
    { name: 'worth', type: 'number' as const },
  ]
  return { columns, rows }
}

/** Days on which the target grows beyond what was seen before. */
const growing = (): Table => {
  const random = new Random(6)
  const rows = Array.from({ length: 400 }, (_, index) => {
    const day = new Date(Date.UTC(2024, 0, 1 + Math.floor(index / 2))).toISOString().slice(0, 10)
    return [day, uniform(random), index / 4 + uniform(random)]
  })
  const columns = [
    { name: 'day', type: 'date' as const },
    { name: 'x', type: 'number' as const },
    { name: 'y', type: 'number' as const },
  ]
  return { columns, rows }
}

/** One row of ten is bad, and x says more or less which. */
const fewBad = (): Table => {
  const random = new Random(7)
  const rows = Array.from({ length: 1000 }, (_, index) => {
    const bad = index % 10 === 0
    return [uniform(random) + (bad ? 0.5 : 0), uniform(random), bad ? 'bad' : 'good']
  })
  const columns = [
    { name: 'x', type: 'number' as const },
    { name: 'z', type: 'number' as const },
    { name: 'state', type: 'text' as const },
  ]
  return { columns, rows }
}

describe('include and exclude', () => {
  it('choose what is learned from; the rest may be sent and changes nothing', () => {
    const { artefact, report } = trained(friedman(200, 1), 'y', { include: ['X0', 'x1', 'x3'] })
    expect(report.inputs.map(({ name }) => name)).toEqual(['x0', 'x1', 'x3'])
    expect(report.excluded.map(({ name, reason }) => [name, reason])).toContainEqual(['x2', 'the statement does not include it'])
    const row = { x0: 0.5, x1: 0.2, x3: 0.7 }
    expect(predicted(artefact, { ...row, x2: 0.9 })).toEqual(predicted(artefact, row))
  })

  it('leave out one column by its name alone', () => {
    const { report } = trained(friedman(100, 1), 'y', { exclude: 'x3' })
    expect(report.excluded).toEqual([{ name: 'x3', type: 'number', reason: 'the statement excludes it' }])
  })
})

describe('group_by', () => {
  it('measures on groups that a model has not seen', () => {
    const options = { exclude: 'mood' }
    const chance = trained(customers(), 'worth', { ...options, exclude: ['mood', 'customer'] })
    const grouped = trained(customers(), 'worth', { ...options, group_by: 'customer' })
    expect(chance.report.metrics['r2']).toBeGreaterThan(0.9)
    expect(grouped.report.metrics['r2']).toBeLessThan(0.4)
    expect(grouped.report.dealt).toEqual({ by: 'group_by', columns: ['customer'], groups: 40 })
    expect(grouped.report.excluded.map(({ name }) => name)).toEqual(['customer', 'mood'])
  })

  it('keeps each group in one fold, and the folds about equally large', () => {
    const task = defineTask(matrixOf(customers()), 'worth')
    const folds = foldSplitterOf({ group_by: ['customer'] }, 1)!.split(task, 5)
    const customer = task.matrix.columns.find(({ name }) => name === 'customer')!
    const codes = customer.type === 'text' ? customer.codes : new Int32Array()
    const pairs = new Set(Array.from(codes, (code, row) => `${code} ${folds.of[row]!}`))
    expect(pairs.size).toBe(40)
    expect([0, 1, 2, 3, 4].map((fold) => folds.of.filter((of) => of === fold).length)).toEqual([80, 80, 80, 80, 80])
  })

  it('takes as many folds as there are groups', () => {
    const { report } = trained(penguins(), 'Species', { group_by: ['Island'] })
    expect(report.plan.folds).toBe(3)
  })
})

describe('time_column', () => {
  it('predicts each block of time from all that is before it, and tells how', () => {
    const [chance, timed] = [trained(growing(), 'y'), trained(growing(), 'y', { time_column: 'day', exclude: 'day' })]
    const { dealt } = timed.report
    if (dealt.by !== 'time_column') throw new Error('not dealt by time')
    expect(dealt.blocks.map(({ from, to, rows }) => [from, to, rows])).toEqual([
      ['2024-01-01', '2024-04-09', 200],
      ['2024-04-10', '2024-04-29', 40],
      ['2024-04-30', '2024-05-19', 40],
      ['2024-05-20', '2024-06-08', 40],
      ['2024-06-09', '2024-06-28', 40],
      ['2024-06-29', '2024-07-18', 40],
    ])
    expect(dealt.blocks[0]!.metrics).toBeNull()
    expect(chance.report.metrics['r2']).toBeGreaterThan(0.99)
    expect(timed.report.metrics['r2']).toBeLessThan(0)
    // The past of each block lies around the middle of its days, and days are worth half a point.
    const misses = dealt.blocks.slice(1).map(({ metrics }) => metrics!['mae']!)
    misses.forEach((miss, block) => expect(Math.abs(miss - (30 + 5 * block))).toBeLessThan(3))
    expect(timed.report.metrics['mae']).toBeCloseTo(misses.reduce((sum, miss) => sum + miss, 0) / 5, 10)
  })

  it.each(['linear', 'boosted_trees'])('measures what comes of rows that are later than all that was learned from: %s', (name) => {
    const options = { target: 'y', seed: 3, time_column: 'day' }
    const { artefact, report } = findEngine(name).train(matrixOf(growing(), 3), options, () => undefined) as TrainedModel
    // The twenty days after the last one; a block has as many.
    const later = Array.from({ length: 40 }, (_, index) => {
      const day = new Date(Date.UTC(2024, 6, 19 + Math.floor(index / 2))).toISOString().slice(0, 10)
      return Math.abs(predicted(artefact, { day, x: 0.5 })[outputs.value]! - (100.5 + index / 4))
    })
    const missed = later.reduce((sum, miss) => sum + miss, 0) / later.length
    expect(missed).toBeGreaterThan(4)
    expect(Math.abs(report.metrics['mae']! - missed)).toBeLessThan(0.25 * missed)
  })

  it('takes the widths of intervals from the blocks that were predicted', () => {
    const { artefact, report } = trained(growing(), 'y', { time_column: 'day' })
    const first = predicted(artefact, { day: '2024-07-19', x: 0.5 })
    expect(first[outputs.max]! - first[outputs.min]!).toBeGreaterThan(report.metrics['mae']!)
  })

  it('takes two moments: the model of the older one predicts the newer', () => {
    const rows = Array.from({ length: 40 }, (_, row) => [row < 25 ? 1 : 2, row % 9, row * 1.5])
    const columns = ['t', 'x', 'y'].map((name) => ({ name, type: 'number' as const }))
    const { report } = trained({ columns, rows }, 'y', { time_column: 't' })
    const { dealt } = report
    if (dealt.by !== 'time_column') throw new Error('not dealt by time')
    expect(dealt.blocks.map(({ rows: size, metrics }) => [size, metrics === null])).toEqual([
      [25, true],
      [15, false],
    ])
    expect(report.interval).toMatchObject({ exponent: 0 })
    expect(report.metrics['mae']).toBeGreaterThan(10)
  })

  it('keeps rows of one moment together', () => {
    const rows = Array.from({ length: 60 }, (_, row) => [row < 50 ? 1 : row, row % 7, row])
    const columns = ['t', 'x', 'y'].map((name) => ({ name, type: 'integer' as const }))
    const task = defineTask(matrixOf({ columns, rows }), 'y')
    const folds = foldSplitterOf({ time_column: 't' }, 1)!.split(task, 5)
    const t = task.matrix.columns[0]!
    const moments = t.type === 'text' ? [] : [...t.numbers]
    expect(new Set(moments.flatMap((moment, row) => (moment === 1 ? [folds.of[row]] : [])))).toEqual(new Set([unpredicted]))
    expect([folds.count, folds.of.filter((fold) => fold !== unpredicted).length]).toEqual([5, 10])
  })
})

describe('class_weights', () => {
  it('decide which class is answered, and leave the probabilities as they are', () => {
    const [plain, balanced] = [trained(fewBad(), 'state'), trained(fewBad(), 'state', { class_weights: 'balanced' })]
    const recall = ({ report }: typeof plain) => report.by_class?.find((each) => each.class === 'bad')?.recall ?? 0
    expect(recall(balanced)).toBeGreaterThan(recall(plain) + 0.2)
    expect(balanced.report.metrics['balanced_accuracy']).toBeGreaterThan(plain.report.metrics['balanced_accuracy']!)
    expect(balanced.report.metrics['log_loss']).toBe(plain.report.metrics['log_loss'])
    expect(balanced.report.class_weights).toEqual([
      { class: 'bad', weight: 5 },
      { class: 'good', weight: 1000 / 1800 },
    ])
    const rows = Array.from({ length: 100 }, (_, step) => ({ x: 0.5 + step / 100, z: 0.5 }))
    const answers = rows.map((row) => [predicted(plain.artefact, row), predicted(balanced.artefact, row)] as const)
    const moved = answers.filter(([one, other]) => one[outputs.value] !== other[outputs.value])
    expect(moved.length).toBeGreaterThan(0)
    for (const [one, other] of answers) {
      expect(other.subarray(outputs.probabilities)).toEqual(one.subarray(outputs.probabilities))
      const [bad, good] = [one[outputs.probabilities]!, one[outputs.probabilities + 1]!]
      expect(other[outputs.value]).toBe(bad * 5 >= good * (1000 / 1800) ? 0 : 1)
      expect(other[outputs.confidence]).toBe(other[outputs.value] === 0 ? bad : good)
    }
  })

  it('weigh classes whose names every object has as a property', () => {
    const { columns, rows } = fewBad()
    const named = rows.map(([x, z, state]) => [x, z, state === 'bad' ? 'constructor' : 'toString'])
    const { report } = trained({ columns, rows: named }, 'state', { class_weights: { constructor: 5 } })
    expect(report.class_weights).toEqual([
      { class: 'constructor', weight: 5 },
      { class: 'toString', weight: 1 },
    ])
  })

  it('are given by the names of classes; what is not named weighs 1', () => {
    const { report } = trained(mixture(200, 4), 'garden', { class_weights: { true: 3 } })
    expect(report.class_weights?.map(({ weight }) => weight)).toEqual([1, 3])
  })
})

describe('task', () => {
  const stars: Table = {
    columns: [
      { name: 'x', type: 'number' },
      { name: 'stars', type: 'integer' },
    ],
    rows: Array.from({ length: 100 }, (_, row) => [row / 10, 1 + Math.floor(row / 20)]),
  }

  it('makes numbers of whole numbers that look like classes, and classes of those that do not', () => {
    expect(trained(stars, 'stars').report.task).toBe('multiclass')
    expect(trained(stars, 'stars', { task: 'regression' }).report.task).toBe('regression')
    const { report } = trained(stars, 'x', { task: 'classification', include: 'stars', max_rows: 60 })
    expect([report.task, report.classes.length]).toEqual(['multiclass', 60])
  })
})

describe('max_rows', () => {
  it('takes that many rows by the seed, and says so', () => {
    const { report } = trained(friedman(300, 2), 'y', { max_rows: 120 })
    expect([report.rows, report.plan.rows]).toEqual([120, 120])
    expect(report.warnings).toEqual([{ kind: 'sampled', detail: '120 of 300 rows took part, drawn by the seed: max_rows' }])
    const again = trained(friedman(300, 2), 'y', { max_rows: 120 })
    expect(again.report.metrics).toEqual(report.metrics)
  })
})

describe('an option that does not fit is refused', () => {
  it.each<[GivenOptions, string]>([
    [{ include: ['nope'] }, 'include names "nope", and the training data has no such column; its columns are "x0"'],
    [{ exclude: ['y'] }, 'exclude names "y", which is the column to predict'],
    [{ include: ['x1'], exclude: ['x1'] }, '"x1" stands in include and in exclude'],
    [{ include: [] }, '"include" is [], expected a column, or a list of columns'],
    [{ exclude: 'x0', include: 3 }, '"include" is 3'],
    [{ group_by: 'x', time_column: 'x1' }, 'group_by and time_column both'],
    [{ group_by: 'place' }, 'group_by names "place"'],
    [{ time_column: 'when' }, 'time_column names "when"'],
    [{ class_weights: 'balanced' }, 'class_weights are for classes, and "y" is predicted as a number'],
    [{ class_weights: { a: -1 } }, '"class_weights" is {"a":-1}, expected'],
    [{ task: 'clustering' }, `"task" is "clustering", expected 'regression' or 'classification'`],
    [{ task: 'classification' }, '"y" has 300 different values'],
    [{ max_rows: 5 }, '"max_rows" is 5, expected a whole number from 10 to 1000000'],
    [{ max_rows: '50' }, '"max_rows" is "50"'],
    [{ folds: 3 }, '"folds" is not an option of the engine auto'],
  ])('%j', (options, detail) => {
    expect(() => trained(friedman(300, 3), 'y', options)).toThrow(detail)
  })

  it.each<[GivenOptions, string]>([
    [{ task: 'regression' }, '"Species" is text, and a regression predicts numbers'],
    [{ class_weights: { Emperor: 2 } }, 'class_weights names "Emperor", which is no class of "Species"'],
    [{ time_column: 'Island' }, 'time_column names "Island", which is text'],
  ])('%j of penguins', (options, detail) => {
    expect(() => trained(penguins(), 'Species', options)).toThrow(detail)
  })

  it('a single group, and a single moment', () => {
    const table = friedman(50, 1)
    const same = { columns: [...table.columns, { name: 't', type: 'integer' as const }], rows: table.rows.map((row) => [...row, 1]) }
    expect(() => trained(same, 'y', { group_by: 't' })).toThrow('group_by has one group')
    expect(() => trained(same, 'y', { time_column: 't' })).toThrow('time_column "t" has one moment')
  })
})

describe('what is told of classes', () => {
  it('leaves out the rarest pairs if the texts of classes are long', () => {
    const classes = Array.from({ length: 32 }, (_, n) => String(n).padStart(8_000, 'x'))
    // Each pair has one row, and only the pair of the last row has two.
    const rows = Int32Array.from({ length: 32 * 32 + 1 }, (_, row) => row)
    const labels = Float64Array.from(rows, (row) => row % 32)
    const predictions = new Float64Array(rows.length * 32)
    for (const row of rows) predictions[row * 32 + (Math.floor(row / 32) % 32)] = 1
    const target = { kind: 'multiclass' as const, target: { name: 'y', type: 'text' as const }, classes, labels }
    const { confusion = [], by_class: ofClasses } = evaluateRows(target, { predictions, weights: undefined }, rows)
    expect(ofClasses).toHaveLength(32)
    expect(confusion[0]?.rows).toBe(2)
    expect(confusion.length).toBeGreaterThan(50)
    expect(JSON.stringify(confusion).length).toBeLessThan(1.01 * 1024 * 1024)
  })

  it('adds up', () => {
    const { report } = trained(penguins(), 'Species')
    const { confusion = [], by_class: ofClasses = [], calibration = [], metrics } = report
    const sum = (rows: readonly { rows: number }[]) => rows.reduce((total, each) => total + each.rows, 0)
    expect([sum(confusion), sum(ofClasses), sum(calibration)]).toEqual([report.rows, report.rows, report.rows])
    expect(sum(confusion.filter(({ actual, predicted }) => actual === predicted)) / report.rows).toBeCloseTo(metrics['accuracy']!, 12)
    expect(calibration.reduce((total, { rows, accuracy }) => total + rows * accuracy, 0) / report.rows).toBeCloseTo(
      metrics['accuracy']!,
      12,
    )
    const gap = calibration.reduce((total, { rows, accuracy, confidence }) => total + rows * Math.abs(accuracy - confidence), 0)
    expect(metrics['ece']).toBeCloseTo(gap / report.rows, 12)
    for (const { from, to, confidence } of calibration) expect(confidence >= from && confidence <= to).toBe(true)
  })
})

describe('what is told of numbers', () => {
  it('adds up: rows of like predictions, with what was true of them', () => {
    const { residuals = [], metrics, rows } = trained(friedman(305, 5), 'y').report
    expect(residuals).toHaveLength(20)
    expect(residuals.reduce((total, each) => total + each.rows, 0)).toBe(rows)
    const squares = residuals.reduce((total, { rows: some, rmse }) => total + some * rmse ** 2, 0)
    expect(Math.sqrt(squares / rows)).toBeCloseTo(metrics['rmse']!, 10)
    expect(residuals.map(({ predicted }) => predicted)).toEqual(residuals.map(({ predicted }) => predicted).sort((a, b) => a - b))
    const [least, greatest] = [residuals[0]!, residuals.at(-1)!]
    expect(greatest.actual).toBeGreaterThan(least.actual)
  })

  it('has the coverage of intervals at several levels, learned from rows of other folds', () => {
    const { coverage = [], rows } = trained(friedman(500, 5), 'y', { confidence: 0.7 }).report
    expect(coverage.map(({ confidence }) => confidence)).toEqual([0.5, 0.7, 0.8, 0.9, 0.95, 0.99])
    for (const one of coverage) {
      expect(one.rows).toBe(rows)
      // Within three standard deviations of what is promised.
      expect(Math.abs(one.coverage - one.confidence)).toBeLessThan(3 * Math.sqrt((one.confidence * (1 - one.confidence)) / rows) + 1 / rows)
    }
    const widths = coverage.map((one) => one.mean_width)
    expect(widths).toEqual(widths.toSorted((a, b) => a - b))
    // Otherwise these were the shares in the rows that the quantiles are of.
    expect(coverage.every((one) => Math.abs(one.coverage - one.confidence) < 1 / rows)).toBe(false)
  })

  it('never tells of fewer than ten rows', () => {
    const told = trained(friedman(39, 6), 'y').report.residuals ?? []
    expect(told.map(({ rows }) => rows)).toEqual([13, 13, 13])
    expect(trained(friedman(19, 6), 'y').report.residuals).toEqual([])
  })
})
