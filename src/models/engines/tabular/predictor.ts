import type { ClassLabel, TargetType, Task } from '../../data/task.js'
import type { ColumnType } from '../../data/values.js'
import { quantileAt } from '../../numerics/quantiles.js'
import { decodeArtefact, type LinearPart, type TabularModel } from './artefact.js'
import { compileForest } from './boosting/kernel.js'
import { sigmoid } from './boosting/loss.js'
import { compileContributions, type RowExplainer } from './contributions.js'
import { Encoder, type ColumnVector } from './encode.js'
import { indexOf, valueOf } from './linear/design.js'
import { quarterPower } from './prediction-interval.js'

/** The rows that a series model can forecast: those after the last row of each series. */
type FutureRows = {
  /** The time column and the key columns, under the model's names. */
  readonly order: { name: string; type: 'date' | 'timestamp' | 'integer' }
  readonly keys: readonly { name: string; type: ColumnType }[]
  /** The rows in order: the time as a cell, and the keys' values. */
  each: () => Generator<{ cell: number; keys: readonly (string | number | null)[] }>
}

export type PredictorInput = {
  name: string
  type: ColumnType
  /** False for a column that was constant or near-unique text in training: clients may send it, but it has no effect. */
  used: boolean
  /** The known categories of a text column. */
  categories?: readonly string[]
}

/** The places of a row's numbers in the output of `predictBatch`; a classifier's probabilities start at `probabilities`. */
export const outputs = { value: 0, confidence: 1, min: 2, max: 3, probabilities: 4 } as const

/** A model in memory. It keeps no state between calls, so a prediction needs only its arguments and one buffer. */
export type Predictor = {
  kind: Task['kind']
  inputs: readonly PredictorInput[]
  target: { name: string; type: TargetType; classes?: readonly ClassLabel[] }
  /** Features per row. */
  width: number
  /** Numbers per row from `predictBatch`: value, confidence, min, max and one probability per class. */
  outputWidth: number
  /** The default level of the intervals; classes have no intervals and ignore it. */
  confidence: number
  /** True if numbers may be NaN because the model does not know them: missing bounds, rows without a prediction. */
  partial?: true
  /**
   * For a model that cannot predict some rows: the reasons. Such a row has an index into them after its other numbers, which are NaN (see
   * `outputWidth`).
   */
  reasons?: readonly string[]
  /** For a series model: the rows that it can forecast. */
  future?: FutureRows
  nameOf: Encoder['nameOf']
  encodeRow: Encoder['encodeRow']
  encodeColumns: (columns: readonly (ColumnVector | undefined)[], rows: number, into: Float64Array) => void
  /**
   * Predicts `rows` rows of features (row by row) into `out` (row by row, `outputWidth` numbers each). Regression: value, confidence (the
   * level), min, max. Classes: the class's index, its probability, NaN, NaN, all probabilities.
   */
  predictBatch: (features: Float64Array, rows: number, out: Float64Array, confidence?: number) => void
  /**
   * The same results in the same places, bit for bit, but with NaN instead of a regression's bounds: the trees for the width are not
   * evaluated. For callers that do not show bounds.
   */
  predictPoints: (features: Float64Array, rows: number, out: Float64Array) => void
  /**
   * The contribution of each input to a row's scores; absent if the model cannot explain. `mixes` means that the probabilities of two parts
   * are mixed.
   */
  contributions?: { of: RowExplainer; mixes: boolean }
}

/** The blend of two numbers: weight 0 is exactly the trees', weight 1 exactly the linear model's. */
export const mixed = (trees: number, linear: number, weight: number): number =>
  weight === 0 ? trees : weight === 1 ? linear : (1 - weight) * trees + weight * linear

/**
 * Turns scores into class probabilities: a single score by the logistic function, several by softmax. Training and prediction share it, so
 * that both get the same bits. Scores start at `at` and are `stride` apart.
 */
export const probabilitiesOf = (
  scores: Float64Array,
  at: number,
  stride: number,
  classes: number,
  into: Float64Array,
  offset: number,
): void => {
  if (classes === 2) {
    const probability = sigmoid(scores[at]!)
    into[offset] = 1 - probability
    into[offset + 1] = probability
    return
  }
  let largest = -Infinity
  for (let index = 0; index < classes; index++) largest = Math.max(largest, scores[at + index * stride]!)
  let sum = 0
  for (let index = 0; index < classes; index++) sum += into[offset + index] = Math.exp(scores[at + index * stride]! - largest)
  for (let index = 0; index < classes; index++) into[offset + index] = into[offset + index]! / sum
}

/**
 * The predicted class: the one with the largest probability, or with weights the one with the largest probability times weight. The latter
 * has the least expected cost if a missed row of a class costs its weight. If several are equal, it is the first. The probabilities start
 * at `at`.
 */
export const decidedClass = (probabilities: Float64Array, at: number, classes: number, weights: ArrayLike<number> | undefined): number => {
  let best = 0
  let most = -Infinity
  for (let index = 0; index < classes; index++) {
    const worth = weights ? probabilities[at + index]! * weights[index]! : probabilities[at + index]!
    if (worth > most) {
      most = worth
      best = index
    }
  }
  return best
}

type Evaluation = Pick<Predictor, 'predictBatch' | 'predictPoints'>

type Scorer = (features: Float64Array, rows: number, scores: Float64Array) => void

const compileLinear = ({ terms, weights }: LinearPart, results: number): Scorer => {
  const size = weights.length / results
  return (features, rows, scores) => {
    for (let row = 0; row < rows; row++) {
      for (let result = 0; result < results; result++) {
        let sum = weights[result * size + size - 1]!
        for (let feature = 0; feature < terms.length; feature++) {
          const value = features[row * terms.length + feature]!
          const term = terms[feature]!
          sum += weights[result * size + indexOf(term, value)]! * valueOf(term, value)
        }
        scores[row * results + result] = sum
      }
    }
  }
}

/** One buffer that grows to the largest batch, so that small batches allocate nothing. */
const reusable = () => {
  let buffer = new Float64Array(64)
  return (size: number): Float64Array => {
    if (buffer.length < size) buffer = new Float64Array(size)
    return buffer
  }
}

/** The blend of a regression before rounding, one number per row; valid until the next call. */
const compileBlend = (model: TabularModel): ((features: Float64Array, rows: number) => Float64Array) => {
  const trees = model.trees && compileForest(model.trees, model.features.length)
  const linear = model.linear && compileLinear(model.linear, 1)
  const [treeBuffer, linearBuffer] = [reusable(), reusable()]
  return (features, rows) => {
    const [ofTrees, ofLinear] = [treeBuffer(rows), linearBuffer(rows)]
    trees?.(features, rows, ofTrees)
    linear?.(features, rows, ofLinear)
    for (let row = 0; row < rows; row++) ofTrees[row] = mixed(ofTrees[row]!, ofLinear[row]!, model.weight)
    return ofTrees
  }
}

const compileRegression = (model: TabularModel): Evaluation => {
  const { interval, rounded } = model
  const blend = compileBlend(model)
  const scale = interval?.scale && compileForest(interval.scale, model.features.length)
  const scaleBuffer = reusable()
  // Adding 0 turns the -0 that rounding can give into 0.
  const finished = (value: number) => (rounded ? Math.round(value) + 0 : value)
  const each = outputs.probabilities
  return {
    predictBatch(features, rows, out, confidence = model.confidence) {
      const [values, spreads] = [blend(features, rows), scaleBuffer(rows)]
      scale?.(features, rows, spreads)
      const factor = interval ? quantileAt(interval.quantiles, confidence) : NaN
      for (let row = 0; row < rows; row++) {
        const value = values[row]!
        const spread = interval && scale ? quarterPower(Math.max(spreads[row]!, interval.floor), interval.exponent) : 1
        out[row * each + outputs.value] = finished(value)
        out[row * each + outputs.confidence] = confidence
        out[row * each + outputs.min] = finished(value - factor * spread)
        out[row * each + outputs.max] = finished(value + factor * spread)
      }
    },
    predictPoints(features, rows, out) {
      const values = blend(features, rows)
      for (let row = 0; row < rows; row++) {
        out[row * each + outputs.value] = finished(values[row]!)
        out[row * each + outputs.confidence] = model.confidence
        out[row * each + outputs.min] = NaN
        out[row * each + outputs.max] = NaN
      }
    },
  }
}

const compileClassification = (model: TabularModel): Evaluation => {
  const width = model.features.length
  const { classWeights } = model
  const classes = model.classes.length
  const scored = classes === 2 ? 1 : classes
  const trees = model.trees && compileForest(model.trees, width)
  const linear = model.linear && compileLinear(model.linear, scored)
  const [treeBuffer, linearBuffer] = [reusable(), reusable()]
  const [ofTrees, ofLinear] = [new Float64Array(classes), new Float64Array(classes)]
  const each = outputs.probabilities + classes
  const predict: Predictor['predictPoints'] = (features, rows, out) => {
    const [treeScores, linearScores] = [treeBuffer(rows * scored), linearBuffer(rows * scored)]
    trees?.(features, rows, treeScores)
    linear?.(features, rows, linearScores)
    for (let row = 0; row < rows; row++) {
      const at = row * each + outputs.probabilities
      if (trees) probabilitiesOf(treeScores, row * scored, 1, classes, ofTrees, 0)
      if (linear) probabilitiesOf(linearScores, row * scored, 1, classes, ofLinear, 0)
      for (let index = 0; index < classes; index++) out[at + index] = mixed(ofTrees[index]!, ofLinear[index]!, model.weight)
      const best = decidedClass(out, at, classes, classWeights)
      out[row * each + outputs.value] = best
      out[row * each + outputs.confidence] = out[at + best]!
      out[row * each + outputs.min] = NaN
      out[row * each + outputs.max] = NaN
    }
  }
  // The class can only be chosen from all probabilities.
  return { predictBatch: predict, predictPoints: predict }
}

const describeInputs = ({ inputs, features }: TabularModel): PredictorInput[] =>
  inputs.map((input, index) => {
    const feature = features.find((each) => each.input === index)
    return feature?.kind === 'category' ? { ...input, categories: feature.categories } : input
  })

/**
 * Makes an artefact ready to predict. Other bytes are an `internal` problem.
 *
 * @example
 * const predictor = loadPredictor(artefact)
 * const features = new Float64Array(predictor.width)
 * const out = new Float64Array(predictor.outputWidth)
 * predictor.encodeRow({ sqft: '823', location: 'good' }, 0, features, 0)
 * predictor.predictBatch(features, 1, out)
 * out[outputs.value] // 2847
 */
export const loadPredictor = (artefact: Uint8Array): Predictor => {
  const model = decodeArtefact(artefact)
  const encoder = new Encoder(model.inputs, model.features, model.target.name)
  const classified = model.kind !== 'regression'
  let explain: RowExplainer | undefined
  return {
    kind: model.kind,
    inputs: describeInputs(model),
    target: classified ? { ...model.target, classes: model.classes } : model.target,
    width: encoder.width,
    outputWidth: outputs.probabilities + model.classes.length,
    confidence: model.confidence,
    nameOf: (sent, rowIndex) => encoder.nameOf(sent, rowIndex),
    encodeRow: (row, rowIndex, into, offset) => encoder.encodeRow(row, rowIndex, into, offset),
    encodeColumns: (columns, rows, into) => encoder.encodeColumns(columns, rows, into),
    ...(classified ? compileClassification(model) : compileRegression(model)),
    contributions: {
      of: (features, offset) => (explain ??= compileContributions(model))(features, offset),
      mixes: classified && model.weight > 0 && model.weight < 1,
    },
  }
}
