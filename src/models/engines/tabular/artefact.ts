import { ByteReader, ByteWriter } from '../../numerics/bytes.js'
import { readForest, writeForest, type Edges, type Forest } from './boosting/forest.js'
import type { Feature } from '../../data/features.js'
import type { LinearTerm } from './linear/design.js'
import type { ClassLabel, Task } from '../../data/task.js'
import type { ColumnType } from '../../data/values.js'

/** The magic of the artefacts of trees, linear models and their blends. */
export const boostMagic = 'MLBOOST'
const version = 1

/** A column of the model. Unused columns were constant or near-unique text in training. */
export type ModelInput = { name: string; type: ColumnType; used: boolean }

/** The weights of a linear model: for each output, its coefficients and then its intercept. */
export type LinearPart = { terms: readonly LinearTerm[]; weights: Float64Array }

export type IntervalPart = { exponent: number; floor: number; quantiles: Float64Array; scale: Forest | undefined }

/** Everything a prediction needs. `features` refer to their input by its index in `inputs`. */
export type TabularModel = {
  engineVersion: string
  kind: Task['kind']
  target: Task['target']
  classes: readonly ClassLabel[]
  inputs: readonly ModelInput[]
  features: readonly Feature[]
  confidence: number
  /** Whether predicted values and bounds are rounded to whole numbers. */
  rounded: boolean
  /** The weights of the classes in the decision, if they differ; the probabilities are not affected. */
  classWeights?: readonly number[] | undefined
  /** The weight of the linear part: 0 is only trees, 1 only linear. */
  weight: number
  edges: Edges
  trees: Forest | undefined
  /** The number of training rows in each leaf of the trees, for explanations; an earlier release did not store it. */
  covers?: Uint32Array | undefined
  linear: LinearPart | undefined
  interval: IntervalPart | undefined
}

/** The small parts, as JSON: it keeps doubles exactly, and its order is that of this function. */
const headerOf = (model: TabularModel) => ({
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
 * Encodes a model: magic `MLBOOST`, version (u16), a JSON header (length u32, UTF-8), then what the header announces, in this order: the
 * edges of each feature's bins, the trees, the linear weights, the interval's quantiles and scale trees, the row counts of the trees'
 * leaves. Little endian. The same data, seed and engine version give the same bytes.
 */
export const encodeArtefact = (model: TabularModel): Uint8Array => {
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

/** Decodes what `encodeArtefact` wrote; other bytes are an `internal` problem that says why. */
export const decodeArtefact = (bytes: Uint8Array): TabularModel => {
  const reader = new ByteReader(bytes, 'model artefact')
  reader.expect(boostMagic, version)
  // The header has the version that wrote it, and the artefact's hash was checked before.
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
