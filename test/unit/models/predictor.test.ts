import { beforeAll, describe, expect, it } from '@jest/globals'
import { decodeArtefact, encodeArtefact } from '../../../src/models/engines/tabular/artefact.js'
import { loadPredictor, outputs, type Predictor } from '../../../src/models/engines/tabular/predictor.js'
import { train } from '../../support/models/train.js'
import { asObjects, columnOf, friedman, matrixOf, mixture, penguins, type Table } from './tables.js'

const numbers = (values: Float64Array) => Array.from(new BigUint64Array(values.slice().buffer))

const inBatch = (
  predictor: Predictor,
  rows: readonly Record<string, unknown>[],
  predict: Predictor['predictPoints'] = predictor.predictBatch,
): Float64Array => {
  const features = new Float64Array(rows.length * predictor.width)
  const out = new Float64Array(rows.length * predictor.outputWidth)
  rows.forEach((row, index) => predictor.encodeRow(row, index, features, index * predictor.width))
  predict(features, rows.length, out)
  return out
}

const oneByOne = (predictor: Predictor, rows: readonly Record<string, unknown>[]): Float64Array =>
  Float64Array.from(rows.flatMap((row) => [...inBatch(predictor, [row])]))

const byColumns = (predictor: Predictor, table: Table): Float64Array => {
  const rows = table.rows.length
  const features = new Float64Array(rows * predictor.width)
  const out = new Float64Array(rows * predictor.outputWidth)
  const vectors = predictor.inputs.map(({ name, type }) => {
    const values = columnOf(table, name)
    const valid = Uint8Array.from(values, (value) => (value === null ? 0 : 1))
    return type === 'number' || type === 'integer'
      ? { values: Float64Array.from(values, (value) => Number(value)), valid }
      : { values, valid }
  })
  predictor.encodeColumns(vectors, rows, features)
  predictor.predictBatch(features, rows, out)
  return out
}

describe('a predictor', () => {
  it.each<[string, Table, string]>([
    ['numbers only', friedman(700, 1), 'y'],
    ['every type and missing values', mixture(700, 2), 'price'],
    ['classes', penguins(), 'Species'],
  ])('gives the same bits for one row, a batch and column vectors: %s', (_, table, target) => {
    const predictor = loadPredictor(train(matrixOf({ ...table, rows: table.rows.slice(-150) }), { target, preset: 'fast' }).artefact)
    const rows = asObjects(table, target)
    const batch = inBatch(predictor, rows)
    expect(numbers(oneByOne(predictor, rows))).toEqual(numbers(batch))
    expect(numbers(byColumns(predictor, table))).toEqual(numbers(batch))
  })

  it.each<[string, Table, string]>([
    ['numbers', friedman(700, 1, { deviation: 2, growing: true }), 'y'],
    ['every type and missing values', mixture(700, 2), 'price'],
    ['classes', penguins(), 'Species'],
  ])('gives points the bits of a batch, and no bounds: %s', (_, table, target) => {
    const predictor = loadPredictor(train(matrixOf(table), { target, preset: 'fast' }).artefact)
    const rows = asObjects(table, target)
    const batch = inBatch(predictor, rows)
    const points = inBatch(predictor, rows, predictor.predictPoints)
    for (let row = 0; row < batch.length; row += predictor.outputWidth) batch.fill(NaN, row + outputs.min, row + outputs.max + 1)
    expect(numbers(points)).toEqual(numbers(batch))
  })

  it('does not walk the trees behind the bounds where none are wanted', () => {
    const table = friedman(700, 1, { deviation: 2, growing: true })
    const { artefact, report } = train(matrixOf(table), { target: 'y' })
    expect(report.interval?.exponent).toBeGreaterThan(0)
    const predictor = loadPredictor(artefact)
    const rows = asObjects(table, 'y').slice(0, 50)
    const readsOf = (predict: Predictor['predictPoints']): number => {
      let reads = 0
      inBatch(predictor, rows, (features, count, out) => {
        const get = (target: Float64Array, key: string | symbol): unknown => {
          reads++
          return Reflect.get(target, key, target)
        }
        predict(new Proxy(features, { get }), count, out)
      })
      return reads
    }
    const unbounded = loadPredictor(encodeArtefact({ ...decodeArtefact(artefact), interval: undefined }))
    expect(readsOf(predictor.predictPoints)).toBe(readsOf(unbounded.predictBatch))
    expect(readsOf(predictor.predictBatch)).toBeGreaterThan(readsOf(unbounded.predictBatch))
  })

  describe('reads rows strictly', () => {
    let predictor: Predictor
    beforeAll(() => {
      predictor = loadPredictor(train(matrixOf(mixture(150, 2)), { target: 'price', preset: 'fast' }).artefact)
    })
    const value = (row: Record<string, unknown>) => inBatch(predictor, [row])[outputs.value]

    it('takes numbers as text, and the same in any spelling of the column', () => {
      expect(value({ size: '50.5' })).toBe(value({ size: 50.5 }))
      expect(value({ SIZE: 50.5 })).toBe(value({ size: 50.5 }))
    })

    it('takes an unknown category, null and nothing for missing', () => {
      expect(value({ size: 5, place: 'nowhere' })).toBe(value({ size: 5 }))
      expect(value({ size: 5, place: null })).toBe(value({ size: 5 }))
      expect(value({ size: 5, place: 'west' })).not.toBe(value({ size: 5 }))
    })

    it('takes dates in every form', () => {
      expect(value({ day: '2021-03-04' })).toBe(value({ day: '2021-03-04T23:00:00Z' }))
      expect(value({ day: '2021-03-04' })).toBe(value({ day: new Date('2021-03-04') }))
      expect(value({ seen: '2021-03-04 23:30:00' })).toBe(value({ seen: '2021-03-05T01:30:00+02:00' }))
    })

    it.each<[Record<string, unknown>, string]>([
      [{ size: 'abc' }, 'Row 0, column "size": "abc" is not usable as number'],
      [{ garden: 'perhaps' }, 'Row 0, column "garden": "perhaps" is not usable as boolean'],
      [{ day: '2021-02-30' }, 'Row 0, column "day": "2021-02-30" is not usable as date'],
      [{ place: ['north'] }, 'Row 0, column "place": ["north"] is not usable as text'],
      [{ sizes: 1 }, 'Row 0: the model has no column "sizes"'],
      [{ size: 1, Size: 2 }, 'Row 0: the column "size" is there twice'],
      [JSON.parse('{"__proto__": 1}') as Record<string, unknown>, 'Row 0: the model has no column "__proto__"'],
    ])('refuses %j', (row, detail) => {
      expect(() => value(row)).toThrow(detail)
    })

    it('names the column that was meant', () => {
      expect(() => value({ palce: 'north' })).toThrow(
        expect.objectContaining({ extras: { hint: expect.stringContaining('Did you mean "place"?') } }),
      )
    })

    it('knows its inputs', () => {
      expect(predictor.inputs.map(({ name, type }) => `${name} ${type}`)).toEqual([
        'size number',
        'place text',
        'garden boolean',
        'day date',
        'seen timestamp',
      ])
      expect(predictor.inputs[1]?.categories).toEqual(['east', 'north', 'south', 'west'])
      expect(predictor.target).toEqual({ name: 'price', type: 'number' })
    })
  })

  it('takes a column that training left out, and does not use it', () => {
    const table = friedman(100, 2)
    const keyed: Table = {
      columns: [{ name: 'key', type: 'text' }, ...table.columns],
      rows: table.rows.map((row, index) => [`k${index}`, ...row]),
    }
    const predictor = loadPredictor(train(matrixOf(keyed), { target: 'y', preset: 'fast' }).artefact)
    expect(predictor.inputs[0]).toEqual({ name: 'key', type: 'text', used: false })
    expect(inBatch(predictor, [{ key: 'new', x0: 0.5 }])).toEqual(inBatch(predictor, [{ x0: 0.5 }]))
  })

  it('predicts whole numbers for a whole-number target of some spread', () => {
    const { columns, rows } = friedman(60, 5)
    const whole: Table = {
      columns: columns.map((column) => (column.name === 'y' ? { name: 'y', type: 'integer' } : column)),
      rows: rows.map((row) => [...row.slice(0, -1), Math.round(100 * Number(row.at(-1)))]),
    }
    const predictor = loadPredictor(train(matrixOf(whole), { target: 'y', preset: 'fast' }).artefact)
    const [value, , min, max] = inBatch(predictor, [{ x0: 0.5, x3: 0.9 }])
    expect([value, min, max].every(Number.isInteger)).toBe(true)
  })

  it.each([
    ['bytes of something else', new Uint8Array(100)],
    ['nothing', new Uint8Array()],
  ])('refuses %s', (_, bytes) => {
    expect(() => loadPredictor(bytes)).toThrow('The model artefact cannot be read')
  })
})
