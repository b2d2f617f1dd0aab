import { expect, test } from '@jest/globals'
import { loadModule } from '../../support/console/load-module.js'

type Value = number | string | null
type Ranges = { points: { from: number; to: number; rows: number }[] }
type Store = { columns: { name: string; type: string }[]; fitting: () => AsyncGenerator<Value[][]> }
type Samples = { spreadOf: (store: Store, picture: Record<string, string>, signal: AbortSignal) => Promise<Ranges> }

const { spreadOf } = await loadModule<Samples>('pages/query/answer/sample.ts')

const rangesOf = async (values: readonly Value[]): Promise<Ranges['points']> => {
  async function* fitting(): AsyncGenerator<Value[][]> {
    yield values.map((value) => [value])
  }
  const store = { columns: [{ name: 'a', type: 'DOUBLE' }], fitting }
  return (await spreadOf(store, { kind: 'histogram', x: 'a', y: 'a', by: '' }, new AbortController().signal)).points
}

test('a number at the beginning of a range is in this range, also if it is a part of 1', async () => {
  const ranges = await rangesOf(Array.from({ length: 1_000 }, (_, i) => (i % 10) / 10))
  expect(ranges.toSorted((a, b) => a.from - b.from)).toEqual(
    Array.from({ length: 10 }, (_, i) => ({ from: i / 10, to: (i + 1) / 10, rows: 100 })),
  )
})

test.each([
  ['one number', [7, 7, 7]],
  ['a large one', [1e20, 1e20]],
  ['large ones close together', [1e15, 1e15 + 1]],
  ['numbers of both signs, texts and what is no number', [-3.5, -1, '2.25', null, 'inf', 40]],
])('%s: each number is in a range that has a width', async (_, values) => {
  const ranges = await rangesOf(values)
  const numbers = values.flatMap((value) => (value === null || value === 'inf' ? [] : [Number(value)]))
  expect(ranges.reduce((sum, { rows }) => sum + rows, 0)).toBe(numbers.length)
  for (const { from, to, rows } of ranges) {
    expect(to).toBeGreaterThan(from)
    expect(numbers.filter((value) => from <= value && value < to)).toHaveLength(rows)
  }
})
