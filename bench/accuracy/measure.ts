import { DuckDBInstance } from '@duckdb/node-api'
import { findEngine } from '../../src/models/engines/engines.js'
import { loadInMemory } from '../../test/support/models/in-memory.js'
import { MatrixBuilder } from '../../src/models/data/matrix.js'
import { outputs } from '../../src/models/engines/tabular/predictor.js'
import { columnTypeOf, type ColumnDescriptor } from '../../src/models/data/values.js'
import type { Metric, Table } from './tables.js'

type Row = readonly unknown[]

/** The rows of a table with a known target, in the order of its file. */
export type Data = { columns: readonly ColumnDescriptor[]; rows: readonly Row[]; target: number }

/** Whether a row (by its index) is a test row. */
export type Split = (row: number) => boolean

/** How often the truth lies between the bounds: over all test rows, and over the fifths with the narrowest and widest bounds. */
export type Coverage = { all: number; narrowest: number; widest: number }

export type Measured = {
  train: number
  test: number
  metric: number
  /** The time of the training: wall-clock, and the sum of all threads. */
  seconds: number
  cpuSeconds: number
  plan: string
  coverage: Coverage | undefined
}

/** Reads a table; its files are in `folder`. */
export const readTable = async ({ query, target }: Pick<Table, 'query' | 'target'>, folder: string): Promise<Data> => {
  const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect()
  const result = await connection.runAndReadAll(query.replaceAll('@', folder))
  connection.closeSync()
  const types = result.columnTypes()
  const columns = result.columnNames().map((name, index): ColumnDescriptor => {
    const type = columnTypeOf(String(types[index]))
    if (type) return { name, type }
    throw new Error(`"${name}" has a type that nothing can be learned from`)
  })
  const at = columns.findIndex(({ name }) => name === target)
  return { columns, rows: result.getRowsJS().filter((row) => row[at] !== null), target: at }
}

/** A fixed fifth of the rows. */
export const fixedSplit: Split = (row) => (row * 2_654_435_761) % 2 ** 32 < 0.2 * 2 ** 32

/** A fifth of the rows, chosen by a seed. */
export const seededSplit =
  (seed: number): Split =>
  (row) => {
    let hash = (Math.imul(row, 0x9e3779b1) ^ Math.imul(seed, 0x85ebca6b)) >>> 0
    hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b) >>> 0
    hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b) >>> 0
    return (hash ^ (hash >>> 16)) >>> 0 < 0.2 * 2 ** 32
  }

const determination = (predicted: readonly number[], truth: readonly number[]): number => {
  const mean = truth.reduce((sum, value) => sum + value, 0) / truth.length
  const squares = truth.reduce((sum, value, row) => sum + (value - predicted[row]!) ** 2, 0)
  return 1 - squares / truth.reduce((sum, value) => sum + (value - mean) ** 2, 0)
}

/** The share of pairs of a class 1 row and a class 0 row that the score orders correctly; ties count half. */
const areaUnderCurve = (scores: readonly number[], truth: readonly number[]): number => {
  const order = scores.map((_, row) => row).sort((a, b) => scores[a]! - scores[b]!)
  let [below, pairs, positives] = [0, 0, 0]
  for (let start = 0, end = 0; start < order.length; start = end) {
    let [zeros, ones] = [0, 0]
    for (; end < order.length && scores[order[end]!] === scores[order[start]!]; end++) {
      if (truth[order[end]!] === 1) ones++
      else zeros++
    }
    pairs += ones * (below + zeros / 2)
    below += zeros
    positives += ones
  }
  return pairs / (below * positives)
}

const coverageOf = (out: readonly Float64Array[], truth: readonly number[]): Coverage => {
  const rows = out.map((row, index) => ({
    width: row[outputs.max]! - row[outputs.min]!,
    covered: truth[index]! >= row[outputs.min]! && truth[index]! <= row[outputs.max]!,
  }))
  rows.sort((one, other) => one.width - other.width)
  const share = (part: typeof rows) => part.filter(({ covered }) => covered).length / part.length
  const fifth = Math.round(rows.length / 5)
  return { all: share(rows), narrowest: share(rows.slice(0, fifth)), widest: share(rows.slice(-fifth)) }
}

const predictRows = (artefact: Uint8Array, { columns, target }: Data, rows: readonly Row[]) => {
  const predictor = loadInMemory(artefact)
  const features = new Float64Array(rows.length * predictor.width)
  const out = new Float64Array(rows.length * predictor.outputWidth)
  const named = (row: Row) => Object.fromEntries(columns.flatMap(({ name }, at) => (at === target ? [] : [[name, row[at]] as const])))
  rows.forEach((row, index) => predictor.encodeRow(named(row), index, features, index * predictor.width))
  predictor.predictBatch(features, rows.length, out)
  return { predictor, out: rows.map((_, row) => out.subarray(row * predictor.outputWidth, (row + 1) * predictor.outputWidth)) }
}

const metricOf = (metric: Metric, out: readonly Float64Array[], truth: readonly number[]): number => {
  const of = (place: number) => out.map((row) => row[place]!)
  switch (metric) {
    case 'R²':
      return determination(of(outputs.value), truth)
    case 'AUC':
      return areaUnderCurve(of(outputs.probabilities + 1), truth)
    case 'accuracy':
      return of(outputs.value).filter((value, row) => value === truth[row]).length / truth.length
    default:
      return metric
  }
}

/** Trains the default engine without options on the training rows, and measures it on the test rows. */
export const measure = async (table: Table, data: Data, split: Split): Promise<Measured> => {
  const builder = new MatrixBuilder(data.columns)
  const learned = data.rows.filter((_, row) => !split(row))
  const held = data.rows.filter((_, row) => split(row))
  const [from, before] = [performance.now(), process.cpuUsage()]
  for (const row of learned) builder.addRow(row)
  const { artefact, report } = await findEngine().train(builder.build(0), { target: table.target }, () => undefined)
  const seconds = (performance.now() - from) / 1000
  const cpu = process.cpuUsage(before)
  const { predictor, out } = predictRows(artefact, data, held)
  const truth = held.map((row) => {
    const value = row[data.target]
    return predictor.target.classes ? predictor.target.classes.findIndex((label) => String(label) === String(value)) : Number(value)
  })
  const { rounds, trees, leaves, linearWeight } = report.plan
  return {
    train: learned.length,
    test: held.length,
    metric: metricOf(table.metric, out, truth),
    seconds,
    cpuSeconds: (cpu.user + cpu.system) / 1e6,
    plan: `${trees} trees of ${leaves} leaves in ${rounds} rounds, linear ${linearWeight}`,
    coverage: predictor.kind === 'regression' ? coverageOf(out, truth) : undefined,
  }
}
