import { limits } from '../../../basics/limits.js'
import type { ClassLabel, Target } from '../../data/task.js'
import { classMetrics, regressionMetrics, type Metrics } from '../../numerics/metrics.js'
import { decidedClass } from './predictor.js'

/** The number of rows of a class that were predicted as another class, or as itself. */
export type ConfusionCell = { actual: ClassLabel; predicted: ClassLabel; rows: number }

/**
 * The share of correct predictions among those of a class (`precision`), and the share of the rows of the class that were found (`recall`);
 * null without any.
 */
export type ClassMetrics = { class: ClassLabel; rows: number; precision: number | null; recall: number | null }

/** The rows in a range of confidence: their mean confidence, and the share of correct predictions. */
export type CalibrationBin = { from: number; to: number; rows: number; confidence: number; accuracy: number }

/** A group of rows with similar predictions, in ascending order: the mean prediction, the mean truth, and the root mean squared error. */
export type ResidualBin = { rows: number; predicted: number; actual: number; rmse: number }

/** The evaluation of a training by its out-of-fold predictions. */
export type Evaluation = {
  metrics: Metrics
  /** Only for numbers: bins with equally many rows each, in the order of the predictions. */
  residuals?: readonly ResidualBin[]
  /** Only for classes, as are the next two: largest counts first, without counts of 0, and without the rarest where there are many. */
  confusion?: readonly ConfusionCell[]
  by_class?: readonly ClassMetrics[]
  /** Equally wide ranges of confidence, without empty ones. */
  calibration?: readonly CalibrationBin[]
}

/** Predictions of a task, and the class weights of the decision. */
type TaskPredictions = { predictions: Float64Array; weights: Float64Array | undefined }

const bins = 10

/** A bin of fewer rows would reveal single rows. */
const residualBinMinRows = 10
const residualBinsMax = 20

const decisionsOf = ({ labels, classes }: Target, { predictions, weights }: TaskPredictions): Int32Array =>
  Int32Array.from(labels, (_, row) => decidedClass(predictions, row * classes.length, classes.length, weights))

const confusionOf = ({ labels, classes }: Target, decided: Int32Array): ConfusionCell[] => {
  const counts = new Int32Array(classes.length * classes.length)
  decided.forEach((predicted, row) => {
    const at = labels[row]! * classes.length + predicted
    counts[at] = counts[at]! + 1
  })
  return Array.from(counts.keys())
    .filter((at) => counts[at]! > 0)
    .sort((one, other) => counts[other]! - counts[one]! || one - other)
    .map((at) => ({ actual: classes[Math.floor(at / classes.length)]!, predicted: classes[at % classes.length]!, rows: counts[at]! }))
}

/** The pairs with the most rows, as many as the event of a trained model has space for. */
const mostFrequent = (confusion: readonly ConfusionCell[]): ConfusionCell[] => {
  const kept: ConfusionCell[] = []
  let bytes = 0
  for (const pair of confusion.slice(0, limits.confusionMaxPairs)) {
    bytes += Buffer.byteLength(JSON.stringify(pair))
    if (bytes > limits.confusionMaxBytes) break
    kept.push(pair)
  }
  return kept
}

const byClass = ({ classes }: Target, confusion: readonly ConfusionCell[]): ClassMetrics[] => {
  const sum = (chosen: readonly ConfusionCell[]) => chosen.reduce((total, { rows }) => total + rows, 0)
  const share = (right: number, of: number) => (of === 0 ? null : right / of)
  return classes.map((label) => {
    const [actual, predicted] = [confusion.filter((each) => each.actual === label), confusion.filter((each) => each.predicted === label)]
    const right = sum(actual.filter((each) => each.predicted === label))
    return { class: label, rows: sum(actual), precision: share(right, sum(predicted)), recall: share(right, sum(actual)) }
  })
}

const calibrationOf = ({ labels, classes }: Target, decided: Int32Array, { predictions }: TaskPredictions): CalibrationBin[] => {
  const sums = Array.from({ length: bins }, () => ({ rows: 0, confidence: 0, right: 0 }))
  decided.forEach((predicted, row) => {
    const confidence = predictions[row * classes.length + predicted]!
    const sum = sums[Math.min(bins - 1, Math.floor(confidence * bins))]!
    sum.rows++
    sum.confidence += confidence
    sum.right += predicted === labels[row] ? 1 : 0
  })
  return sums.flatMap(({ rows, confidence, right }, bin) =>
    rows === 0 ? [] : [{ from: bin / bins, to: (bin + 1) / bins, rows, confidence: confidence / rows, accuracy: right / rows }],
  )
}

/** Means of rows with similar predictions; none if the rows are too few for two bins. */
const residualsOf = ({ labels }: Target, predictions: Float64Array): ResidualBin[] => {
  const count = Math.min(residualBinsMax, Math.floor(labels.length / residualBinMinRows))
  if (count < 2) return []
  const order = Int32Array.from(labels.keys()).sort((one, other) => predictions[one]! - predictions[other]!)
  return Array.from({ length: count }, (_, bin) => {
    const rows = order.subarray(Math.floor((bin * order.length) / count), Math.floor(((bin + 1) * order.length) / count))
    const sum = { predicted: 0, actual: 0, squares: 0 }
    for (const row of rows) {
      sum.predicted += predictions[row]!
      sum.actual += labels[row]!
      sum.squares += (predictions[row]! - labels[row]!) ** 2
    }
    return {
      rows: rows.length,
      predicted: sum.predicted / rows.length,
      actual: sum.actual / rows.length,
      rmse: Math.sqrt(sum.squares / rows.length),
    }
  })
}

/** The expected calibration error: the mean difference between confidence and accuracy, weighted by rows. */
const calibrationError = (calibration: readonly CalibrationBin[], rows: number): number =>
  calibration.reduce((sum, bin) => sum + bin.rows * Math.abs(bin.confidence - bin.accuracy), 0) / rows

/** The mean recall of the classes that have rows. */
const balancedAccuracy = (classes: readonly ClassMetrics[]): number => {
  const recalls = classes.flatMap(({ recall }) => recall ?? [])
  return recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length
}

/**
 * Evaluates out-of-fold predictions: values for regression, otherwise the probabilities of all classes row by row.
 *
 * @example evaluate(task, { predictions, weights: undefined }).metrics // { accuracy: .93, log_loss: .2, auc: .97, … }
 */
const evaluate = (task: Target, predicted: TaskPredictions): Evaluation => {
  const { labels, classes } = task
  if (task.kind === 'regression')
    return { metrics: regressionMetrics(predicted.predictions, labels), residuals: residualsOf(task, predicted.predictions) }
  const decided = decisionsOf(task, predicted)
  const confusion = confusionOf(task, decided)
  const [ofClasses, calibration] = [byClass(task, confusion), calibrationOf(task, decided, predicted)]
  const metrics = {
    ...classMetrics(predicted.predictions, decided, labels, classes.length),
    balanced_accuracy: balancedAccuracy(ofClasses),
    ece: calibrationError(calibration, labels.length),
  }
  return { metrics, confusion: mostFrequent(confusion), by_class: ofClasses, calibration }
}

/** Evaluates the predictions of some of the rows. */
export const evaluateRows = (task: Target, { predictions, weights }: TaskPredictions, rows: Int32Array): Evaluation => {
  const width = Math.max(1, task.classes.length)
  const some = new Float64Array(rows.length * width)
  rows.forEach((row, place) => some.set(predictions.subarray(row * width, (row + 1) * width), place * width))
  const labels = Float64Array.from(rows, (row) => task.labels[row]!)
  return evaluate({ ...task, labels }, { predictions: some, weights })
}
