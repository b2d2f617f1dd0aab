import { describe, expect, it } from '@jest/globals'
import { makePlan } from '../../../src/models/engines/tabular/plan.js'
import { defineTask, type Task } from '../../../src/models/data/task.js'
import type { ColumnDescriptor } from '../../../src/models/data/values.js'
import { matrixOf } from './tables.js'
import { noise } from './series.js'

type Columns = Record<string, [ColumnDescriptor['type'], (row: number) => unknown]>

const taskOf = (rows: number, columns: Columns, target = 'y'): Task => {
  const entries = Object.entries(columns)
  return defineTask(
    matrixOf({
      columns: entries.map(([name, [type]]) => ({ name, type })),
      rows: Array.from({ length: rows }, (_, row) => entries.map(([, [, value]]) => value(row))),
    }),
    target,
  )
}

const x: Columns[string] = ['number', (row) => (row * 7919) % 101]

describe('what is to be learned', () => {
  it.each<[string, Columns[string], Task['kind'], readonly unknown[]]>([
    ['text', ['text', (row) => 'cab'[row % 3]], 'multiclass', ['a', 'b', 'c']],
    ['booleans', ['boolean', (row) => row % 2 === 0], 'binary', [false, true]],
    ['few whole numbers', ['integer', (row) => (row % 10) - 2], 'multiclass', [-2, -1, 0, 1, 2, 3, 4, 5, 6, 7]],
    ['two whole numbers as DOUBLE', ['number', (row) => row % 2], 'binary', [0, 1]],
    ['eleven whole numbers', ['integer', (row) => row % 11], 'regression', []],
    ['few fractions', ['number', (row) => (row % 3) / 2], 'regression', []],
  ])('takes %s for what it is', (_, y, kind, classes) => {
    expect(taskOf(100, { x, y })).toMatchObject({ kind, classes })
  })

  it('refuses classes of whole numbers that would be rounded into one another', () => {
    const y: Columns[string] = ['integer', (row) => (row % 2 === 0 ? '100000000000000001' : '100000000000000002')]
    expect(() => taskOf(100, { x, y })).toThrow('"y" has whole numbers beyond 9007199254740991')
  })

  it('refuses classes whose texts are too long together', () => {
    const y: Columns[string] = ['text', (row) => String(row % 100).padStart(4500, 'x')]
    expect(() => taskOf(500, { x, y })).toThrow('The 100 different values of "y" have 450000 bytes together')
  })

  it('leaves out constants and near-unique text and says why', () => {
    const task = taskOf(100, {
      x,
      constant: ['number', () => 5],
      empty: ['text', () => null],
      key: ['text', (row) => `key ${row}`],
      id: ['integer', (row) => row],
      sometimes: ['number', (row) => (row % 2 === 0 ? 1 : null)],
      y: ['number', (row) => row / 3],
    })
    expect(task.inputs.map(({ name }) => name)).toEqual(['x', 'id', 'sometimes'])
    expect(task.excluded).toEqual([
      { name: 'constant', type: 'number', reason: 'constant' },
      { name: 'empty', type: 'text', reason: 'constant' },
      { name: 'key', type: 'text', reason: 'nearly every text is different' },
    ])
  })

  it('keeps a column that tells the target, and warns of it', () => {
    const task = taskOf(400, { x, leak: ['number', (row) => row * 2 + 1], y: ['number', (row) => row / 7] })
    expect(task.inputs.map(({ name }) => name)).toContain('leak')
    expect(task.warnings).toEqual([{ kind: 'suspicious_input', detail: expect.stringMatching(/^"leak" alone explains (99|100)/) }])
  })

  const random = noise(7)
  const hidden = Array.from({ length: 2_000 }, random)
  const shares = [0.05, 0.3, 0.485]

  it.each(shares)('warns of a number from which a class of %p of the rows follows', (share) => {
    const threshold = hidden.toSorted((a, b) => a - b)[Math.floor(2_000 * (1 - share))]!
    const isYes = (row: number) => hidden[row]! > threshold
    const task = taskOf(2_000, {
      x: ['number', (row) => hidden[row]! + random()],
      noisy: ['number', (row) => (isYes(row) ? 1 : 0) + random() * 0.05],
      scaled: ['number', (row) => (isYes(row) ? -300 : 20) + random()],
      paid: ['number', (row) => (isYes(row) ? 50 + 10 * random() : 0)],
      when: ['number', (row) => (isYes(row) ? random() : null)],
      y: ['text', (row) => (isYes(row) ? 'yes' : 'no')],
    })
    const told = task.warnings.map(({ kind, detail }) => [kind, /^"(\w+)"/.exec(detail)?.[1]])
    expect(told).toEqual(['noisy', 'scaled', 'paid', 'when'].map((name) => ['suspicious_input', name]))
  })

  it.each([
    ['a copy', (y: number) => y],
    ['a scaled one', (y: number) => 3 - 0.2 * y],
    ['a rounded one', (y: number) => Math.round(y)],
    ['a noisy one', (y: number) => y * (1 + 0.05 * random())],
  ])('warns of %s of a number, in small and large tables', (_, leak) => {
    for (const rows of [40, 300, 2_000]) {
      const y = (row: number) => 10 * Math.exp(hidden[row]!)
      const task = taskOf(rows, {
        x: ['number', (row) => hidden[row]! + random()],
        leak: ['number', (row) => leak(y(row))],
        y: ['number', y],
      })
      expect(task.warnings.map(({ detail }) => detail)).toEqual([expect.stringMatching(/^"leak" alone/)])
    }
  })

  it.each([225, 2_000])('does not warn of marks that make grades, nor of strong inputs, in %p rows', (rows) => {
    const task = taskOf(rows, {
      mark: ['number', (row) => 50 + 15 * hidden[row]!],
      skewed: ['number', (row) => Math.exp(hidden[row]!)],
      strong: ['number', (row) => hidden[row]! + 0.15 * random()],
      y: ['text', (row) => 'dcba'.charAt([-0.7, 0, 0.7].filter((bound) => hidden[row]! > bound).length)],
    })
    expect(task.warnings).toEqual([])
    const number = taskOf(rows, { strong: ['number', (row) => hidden[row]! + 0.25 * random()], y: ['number', (row) => hidden[row]!] })
    expect(number.warnings).toEqual([])
  })

  it('warns of repeated rows, rare classes and rows without a target', () => {
    const task = taskOf(100, {
      x: ['integer', (row) => row % 30],
      y: ['text', (row) => (row < 10 ? null : row === 99 ? 'rare' : 'ab'[row % 2])],
    })
    expect(task.warnings.map(({ kind }) => kind)).toEqual(['missing_target', 'duplicate_rows', 'rare_class'])
    expect(task.labels).toHaveLength(90)
  })

  it('finds the target without case', () => {
    expect(taskOf(20, { x, Price: ['number', (row) => row / 3] }, 'price').target.name).toBe('Price')
  })

  it.each<[string, number, Columns, string]>([
    ['a missing target by naming the columns', 20, { x, z: x }, 'no column "y" to predict; its columns are "x", "z"'],
    ['too few rows', 12, { x, y: ['number', (row) => (row < 9 ? row / 2 : null)] }, 'Only 9 rows have a value of "y"'],
    ['one class', 20, { x, y: ['text', () => 'a'] }, '"y" is always "a"'],
    ['one number', 20, { x, y: ['number', () => 1.5] }, '"y" is always 1.5'],
    ['numbers beyond what leaves can hold', 20, { x, y: ['number', (row) => row * -1e39] }, '; numbers up to 1e+30 can be predicted'],
    ['a date', 20, { x, y: ['date', (row) => row] }, '"y" is a date'],
    ['too many classes', 600, { x, y: ['text', (row) => `c${row % 300}`] }, '"y" has 300 different values'],
    ['no other column', 20, { y: x }, 'the query has no other column'],
    ['only unusable columns', 20, { c: ['number', () => 1], y: x }, '"c" (constant)'],
  ])('refuses %s', (_, rows, columns, detail) => {
    expect(() => taskOf(rows, columns)).toThrow(detail)
  })
})

describe('the plan', () => {
  const shape = { rows: 5000, features: 10, classes: 0, smallestClass: 5000, coefficients: 20 }

  it('takes as many folds as the smallest class of a small table can fill', () => {
    const small = { ...shape, rows: 100, classes: 2 }
    expect([1, 3, 40].map((smallestClass) => makePlan({ ...small, smallestClass }).folds)).toEqual([2, 3, 5])
  })

  it('asks for more rows a leaf in larger tables', () => {
    expect([100, 320, 5000].map((rows) => makePlan({ ...shape, rows }).boosting[0].minRows)).toEqual([5, 8, 10])
  })

  it('samples a table that is too large to learn from in whole, and bounds its trees', () => {
    expect(makePlan({ ...shape, rows: 1_000_000, features: 1000 }).rows).toBe(100_000)
    expect(makePlan({ ...shape, classes: 256 }).boosting[0].mostRounds).toBe(78)
  })

  it('takes less time by the preset fast and more by best, and is balanced unless told', () => {
    const [fast, balanced, best] = (['fast', 'balanced', 'best'] as const).map((preset) => makePlan(shape, preset))
    const rounds = (plan = balanced) => plan!.boosting.reduce((sum, { mostRounds }) => sum + mostRounds, 0)
    expect(rounds(fast)).toBeLessThan(rounds(balanced))
    expect(rounds(best)).toBeGreaterThan(rounds(balanced))
    expect([fast?.folds, balanced?.folds, best?.folds]).toEqual([3, 5, 5])
    expect([fast?.members, balanced?.members, best?.members]).toEqual([1, 1, 3])
    expect(makePlan(shape)).toEqual(balanced)
  })
})
