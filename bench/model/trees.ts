import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { binFeature, binTable } from '../../src/models/engines/tabular/boosting/bins.js'
import { refit } from '../../src/models/engines/tabular/boosting/cross-fit.js'
import { flatten, type Forest } from '../../src/models/engines/tabular/boosting/forest.js'
import { compileForest } from '../../src/models/engines/tabular/boosting/kernel.js'
import { squaredLoss } from '../../src/models/engines/tabular/boosting/loss.js'
import { Random } from '../../src/models/numerics/random.js'
import { median } from '../harness/harness.js'
import { toOnnx } from './onnx.js'

const width = 20
const rounds = 9

/** The part of onnxruntime-node that is used here. The package is optional, and so is this comparison. */
type Runtime = {
  InferenceSession: { create: (model: Uint8Array, options: object) => Promise<OnnxSession> }
  Tensor: new (type: 'float32', data: Float32Array, dims: readonly number[]) => object
}
type OnnxSession = { run: (feeds: Record<string, object>) => Promise<{ y: { data: Float32Array } }> }

const runtime = (): Runtime | undefined => {
  const require = createRequire(process.env['ONNXRUNTIME_IN'] ?? import.meta.url)
  try {
    return existsSync(require.resolve('onnxruntime-node')) ? (require('onnxruntime-node') as Runtime) : undefined
  } catch {
    return undefined
  }
}

/** Numbers that single precision represents exactly, row by row. */
const numbers = (rows: number, random: Random) => Float64Array.from({ length: rows * width }, () => Math.fround(random.next() / 4294967296))

const columnsOf = (features: Float64Array, rows: number) =>
  Array.from({ length: width }, (_, column) => Float64Array.from({ length: rows }, (__, row) => features[row * width + column]!))

const truthOf = (columns: readonly Float64Array[], row: number): number => {
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = columns.map((column) => column[row]!)
  return 10 * Math.sin(Math.PI * a * b) + 20 * (c - 0.5) * (c - 0.5) + 10 * d + 5 * e
}

/** Boosts trees on Friedman's first function; `seconds` is the processor time of the fit. */
const boost = (rows: number, trees: number, leaves: number): { forest: Forest; seconds: number } => {
  const random = new Random(3)
  const columns = columnsOf(numbers(rows, random), rows)
  const labels = Float64Array.from({ length: rows }, (_, row) => truthOf(columns, row) + random.below(400) / 100)
  const table = binTable(
    rows,
    columns.map((column, input) => binFeature({ input, kind: 'number', part: 'value' }, column)),
  )
  const rules = { leaves, learningRate: 0.1, minRows: 10, l2: 0, categorySmoothing: 20, categoryL2: 10 }
  const before = process.cpuUsage()
  const { start, trees: grown } = refit({ table, labels, loss: squaredLoss, seed: 1 }, rules, { rounds: trees, onRound: () => undefined })
  const { user, system } = process.cpuUsage(before)
  return { forest: flatten(start, grown, table.features), seconds: (user + system) / 1e6 }
}

const timed = async (work: () => unknown): Promise<number> => {
  const from = performance.now()
  await work()
  return performance.now() - from
}

/** Both score the same rows in turn, so that other load affects both equally. */
const compareWith = async ({ InferenceSession, Tensor }: Runtime, forest: Forest, features: Float64Array, rows: number) => {
  const session = await InferenceSession.create(toOnnx(forest, width), { intraOpNumThreads: 1, interOpNumThreads: 1 })
  const x = new Tensor('float32', Float32Array.from(features), [rows, width])
  const run = compileForest(forest, width)
  const scores = new Float64Array(rows)
  const [ours, theirs]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    ours.push(await timed(() => run(features, rows, scores)))
    theirs.push(await timed(() => session.run({ x })))
  }
  const { y } = await session.run({ x })
  const differ = scores.reduce((most, score, row) => Math.max(most, Math.abs(score - y.data[row]!)), 0)
  if (!(differ < 1e-3)) throw new Error(`the two differ by ${differ}`)
  return { ours: median(ours), theirs: median(theirs), ratio: median(ours.map((time, round) => time / theirs[round]!)) }
}

/** Microseconds of processor time per row, one row at a time. */
const oneByOne = (forest: Forest, features: Float64Array, rows: number): number => {
  const run = compileForest(forest, width)
  const [row, score] = [new Float64Array(width), new Float64Array(1)]
  const times = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage()
    for (let at = 0; at < rows; at++) {
      row.set(features.subarray(at * width, (at + 1) * width))
      run(row, 1, score)
    }
    const { user, system } = process.cpuUsage(before)
    return (user + system) / rows
  })
  return median(times)
}

/** The speed of trees in process: growing, scoring one row, and scoring many beside onnxruntime, one thread each. */
export const trees = async (): Promise<void> => {
  const { seconds } = boost(100_000, 100, 31)
  console.log(`model: 100 rounds of 31 leaves on 100,000 × ${width} in ${seconds.toFixed(1)} s of processor time, one thread`)
  const found = runtime()
  const rows = 100_000
  const features = numbers(rows, new Random(9))
  for (const [count, leaves] of [
    [100, 31],
    [100, 15],
    [500, 31],
  ] as const) {
    const { forest } = boost(20_000, count, leaves)
    console.log(`  ${count} trees of ${leaves} leaves: one row ${oneByOne(forest, features, 5000).toFixed(1)} µs of processor time`)
    if (!found) continue
    const { ours, theirs, ratio } = await compareWith(found, forest, features, rows)
    console.log(`    100,000 rows ${ours.toFixed(0)} ms, onnxruntime ${theirs.toFixed(0)} ms, ${ratio.toFixed(2)} times`)
  }
  if (!found) console.log('  onnxruntime-node is not installed: nothing to compare with')
}
