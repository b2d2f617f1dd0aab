import { ByteReader, ByteWriter } from '../../numerics/bytes.js'
import { readForest, writeForest, type Edges, type Forest } from './boosting/forest.js'
import type { Feature } from '../../data/features.js'
import type { LinearTerm } from './linear/design.js'
import type { ClassLabel, Task } from '../../data/task.js'
import type { ColumnType } from '../../data/values.js'

/** How the artefacts of trees, of linear models and of their blends begin. */
export const boostMagic = 'MLBOOST'
const version = 1

/** A column the model knows. One that is not used was constant or near-unique text when it was trained. */
export type ModelInput = { name: string; type: ColumnType; used: boolean }

/** The weights of a linear model: per output its coefficients and then its intercept. */
export type LinearPart = { terms: readonly LinearTerm[]; weights: Float64Array }

export type IntervalPart = { exponent: number; floor: number; quantiles: Float64Array; scale: Forest | undefined }

/** Everything a prediction needs. `features` name their input by its place in `inputs`. */
export type Model = {
  engineVersion: string
  kind: Task['kind']
  target: Task['target']
  classes: readonly ClassLabel[]
  inputs: readonly ModelInput[]
  features: readonly Feature[]
  confidence: number
  /** Whether predicted values and bounds are rounded to whole numbers. */
  rounded: boolean
  /** What the classes weigh where one is chosen, if not all the same; the probabilities are not touched by it. */
  classWeights?: readonly number[] | undefined
  /** The weight of the linear part: 0 is trees alone, 1 linear alone. */
  weight: number
  edges: Edges
  trees: Forest | undefined
  /** How many training rows each leaf of the trees holds, for explanations; an earlier release did not keep it. */
  covers?: Uint32Array | undefined
  linear: LinearPart | undefined
  interval: IntervalPart | undefined
}

/** The small parts, kept as JSON: doubles survive it exactly, and its order is that of this function. */
const headerOf = (model: Model) => ({
  engineVersion: model.engineVersion,
  kind: model.kind,
  target: { name: model.target.name, type: model.target.type },
  classes: model.classes,
  inputs: model.inputs.map(({ name, type, used }) => ({ name, type, used })),
  features: model.features,
  confidence: model.confidence,
  rounded: model.rounded,
  ...(model.classWeights && { classWeights: model.classWeights }),
  weight: model.weight,
  trees: model.trees !== undefined,
  linear: model.linear?.terms ?? null,
  interval: model.interval
    ? { exponent: model.interval.exponent, floor: model.interval.floor, scale: model.interval.scale !== undefined }
    : null,
  ...(model.covers && { covers: model.covers.length }),
})

const writeNumbers = (writer: ByteWriter, numbers: Float64Array): void => {
  writer.u32(numbers.length)
  writer.array(numbers)
}

const readNumbers = (reader: ByteReader): Float64Array => reader.array(Float64Array, reader.u32())

/**
 * A model as bytes: magic `MLBOOST`, version (u16), a JSON header (length u32, UTF-8), then in this order what the header
 * announces: the edges of each feature's bins, the trees, the linear weights, the interval's quantiles and scale trees,
 * the rows of the trees' leaves.
 * Little endian. The same data, seed and engine version give the same bytes.
 */
export const encodeArtefact = (model: Model): Uint8Array => {
  const writer = new ByteWriter()
  writer.raw(new TextEncoder().encode(boostMagic))
  writer.u16(version)
  writer.text(JSON.stringify(headerOf(model)))
  for (const edges of model.edges) writeNumbers(writer, edges)
  if (model.trees) writeForest(writer, model.trees)
  if (model.linear) writeNumbers(writer, model.linear.weights)
  if (model.interval) writeNumbers(writer, model.interval.quantiles)
  if (model.interval?.scale) writeForest(writer, model.interval.scale)
  if (model.covers) writer.array(model.covers)
  return writer.finish()
}

/** The model that `encodeArtefact` wrote; bytes that are not one are an `internal` problem that says why. */
export const decodeArtefact = (bytes: Uint8Array): Model => {
  const reader = new ByteReader(bytes, 'model artefact')
  reader.expect(boostMagic, version)
  // The header is read by the version that wrote it, and the artefact's hash is checked before it comes here.
  const header = JSON.parse(reader.text()) as ReturnType<typeof headerOf>
  const edges = header.features.map(() => readNumbers(reader))
  const trees = header.trees ? readForest(reader, edges) : undefined
  const linear = header.linear ? { terms: header.linear, weights: readNumbers(reader) } : undefined
  const quantiles = header.interval ? readNumbers(reader) : undefined
  const scale = header.interval?.scale ? readForest(reader, edges) : undefined
  const covers = header.covers === undefined ? undefined : reader.array(Uint32Array, header.covers)
  reader.end()
  const interval =
    header.interval && quantiles ? { exponent: header.interval.exponent, floor: header.interval.floor, quantiles, scale } : undefined
  return { ...header, edges, trees, covers, linear, interval }
}
