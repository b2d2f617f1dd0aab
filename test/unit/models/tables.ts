import { readFileSync } from 'node:fs'
import { MatrixBuilder, type Matrix } from '../../../src/models/data/matrix.js'
import { Random } from '../../../src/models/numerics/random.js'
import type { ColumnDescriptor } from '../../../src/models/data/values.js'

/** A table to learn from: descriptors and rows in their order. */
export type Table = { columns: readonly ColumnDescriptor[]; rows: readonly (readonly unknown[])[] }

export const matrixOf = ({ columns, rows }: Table, seed = 0): Matrix => {
  const builder = new MatrixBuilder(columns)
  for (const row of rows) builder.addRow(row)
  return builder.build(seed)
}

/** Every fifth row is for testing. */
export const split = ({ columns, rows }: Table): { learn: Table; test: Table } => ({
  learn: { columns, rows: rows.filter((_, index) => index % 5 !== 0) },
  test: { columns, rows: rows.filter((_, index) => index % 5 === 0) },
})

/** The rows as objects, without the named column. */
export const asObjects = ({ columns, rows }: Table, without?: string): Record<string, unknown>[] =>
  rows.map((row) => Object.fromEntries(columns.map(({ name }, index) => [name, row[index]] as const).filter(([name]) => name !== without)))

export const columnOf = ({ columns, rows }: Table, name: string): unknown[] => {
  const index = columns.findIndex((column) => column.name === name)
  return rows.map((row) => row[index])
}

/** A table that ships with the development package vega-datasets. Rows without a target are left out. */
export const vega = (file: string, target: string, columns: readonly ColumnDescriptor[]): Table => {
  const path = new URL(`../../../../node_modules/vega-datasets/data/${file}`, import.meta.url)
  const records = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>[]
  return {
    columns,
    rows: records.filter((record) => record[target] !== null).map((record) => columns.map(({ name }) => record[name] ?? null)),
  }
}

export const cars = (): Table =>
  vega('cars.json', 'Miles_per_Gallon', [
    { name: 'Name', type: 'text' },
    { name: 'Miles_per_Gallon', type: 'number' },
    { name: 'Cylinders', type: 'integer' },
    { name: 'Displacement', type: 'number' },
    { name: 'Horsepower', type: 'integer' },
    { name: 'Weight_in_lbs', type: 'integer' },
    { name: 'Acceleration', type: 'number' },
    { name: 'Year', type: 'date' },
    { name: 'Origin', type: 'text' },
  ])

export const penguins = (target = 'Species'): Table =>
  vega('penguins.json', target, [
    { name: 'Species', type: 'text' },
    { name: 'Island', type: 'text' },
    { name: 'Beak Length (mm)', type: 'number' },
    { name: 'Beak Depth (mm)', type: 'number' },
    { name: 'Flipper Length (mm)', type: 'integer' },
    { name: 'Body Mass (g)', type: 'integer' },
    { name: 'Sex', type: 'text' },
  ])

/** A number of 0…1 in steps of 2⁻³². */
const uniform = (random: Random) => random.next() / 4294967296

/** Nearly normal: the sum of twelve uniform numbers. */
const noise = (random: Random) => Array.from({ length: 12 }, () => uniform(random)).reduce((sum, value) => sum + value, -6)

/**
 * Friedman's first function of five of ten inputs, with noise of deviation `deviation`, or of one that grows with x3 from
 * nothing to twice that.
 */
export const friedman = (rows: number, seed: number, { deviation = 1, growing = false } = {}): Table => {
  const random = new Random(seed)
  const names = Array.from({ length: 10 }, (_, index) => `x${index}`)
  return {
    columns: [...names.map((name): ColumnDescriptor => ({ name, type: 'number' })), { name: 'y', type: 'number' }],
    rows: Array.from({ length: rows }, () => {
      const x = names.map(() => uniform(random))
      const [a = 0, b = 0, c = 0, d = 0, e = 0] = x
      const spread = growing ? 2 * d * deviation : deviation
      return [...x, 10 * Math.sin(Math.PI * a * b) + 20 * (c - 0.5) * (c - 0.5) + 10 * d + 5 * e + spread * noise(random)]
    }),
  }
}

/** Inputs of every type, some of them missing, and a target that depends on all. */
export const mixture = (rows: number, seed: number): Table => {
  const random = new Random(seed)
  const places = ['north', 'south', 'east', 'west']
  const columns: ColumnDescriptor[] = [
    { name: 'size', type: 'number' },
    { name: 'place', type: 'text' },
    { name: 'garden', type: 'boolean' },
    { name: 'day', type: 'date' },
    { name: 'seen', type: 'timestamp' },
    { name: 'price', type: 'number' },
  ]
  return {
    columns,
    rows: Array.from({ length: rows }, () => {
      const size = random.below(1000) / 10
      const place = random.below(4)
      const garden = random.below(2) === 1
      const day = new Date(Date.UTC(2020, random.below(36), 1 + random.below(28)))
      const seen = new Date(day.getTime() + random.below(24) * 3_600_000)
      const sizeKnown = random.below(10) > 0
      const price =
        (sizeKnown ? 3 * size : 80) +
        40 * place +
        (garden ? 60 : 0) +
        10 * day.getUTCMonth() +
        (seen.getUTCHours() > 12 ? 50 : 0) +
        random.below(20)
      const text = random.below(20) > 0 ? places[place] : null
      return [sizeKnown ? size : null, text, garden, day.toISOString().slice(0, 10), seen.toISOString(), price]
    }),
  }
}
