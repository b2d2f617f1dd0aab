/**
 * The function that a booster minimises. Scores are stored output by output: the score of row r for output k is at k × rows + r. Labels are
 * values for regression and class indexes otherwise.
 */
export type Loss = {
  /** The number of classes; 0 for values. The number of outputs alone does not identify a loss; see `lossOf`. */
  classes: number
  outputs: number
  /** The constant scores to start from, learned from the given rows. */
  start(labels: Float64Array, rows: Int32Array): Float64Array
  /** Smaller gains of a split are rounding errors. Those of values depend on their unit. */
  leastGain(labels: Float64Array, rows: Int32Array): number
  /** First and second derivatives for one output, of the given rows. Output 0 must come first, with the same rows. */
  derive(
    scores: Float64Array,
    labels: Float64Array,
    output: number,
    rows: Int32Array,
    gradients: Float64Array,
    hessians: Float64Array,
  ): void
  /** The summed loss over the given rows. */
  sum(scores: Float64Array, labels: Float64Array, rows: Int32Array): number
}

const smallest = 1e-15
const leastGainOfClasses = () => 1e-9
/** The least gain for values, as a share of their squared deviations from the start. */
const leastShare = 1e-12

const meanOf = (labels: Float64Array, rows: Int32Array): number => rows.reduce((sum, row) => sum + labels[row]!, 0) / rows.length

/** The probability of class 1 for a score. */
export const sigmoid = (score: number): number => 1 / (1 + Math.exp(-score))

/** For values: squared error. Scores are the values. */
export const squaredLoss: Loss = {
  classes: 0,
  outputs: 1,
  start: (labels, rows) => Float64Array.of(meanOf(labels, rows)),
  leastGain(labels, rows) {
    const mean = meanOf(labels, rows)
    return leastShare * rows.reduce((sum, row) => sum + (labels[row]! - mean) * (labels[row]! - mean), 0)
  },
  derive(scores, labels, _output, rows, gradients, hessians) {
    for (const row of rows) {
      gradients[row] = scores[row]! - labels[row]!
      hessians[row] = 1
    }
  },
  sum: (scores, labels, rows) => rows.reduce((sum, row) => sum + (scores[row]! - labels[row]!) * (scores[row]! - labels[row]!), 0),
}

/** For two classes: log loss. Scores are the log odds of class 1. */
const logisticLoss: Loss = {
  classes: 2,
  outputs: 1,
  start(labels, rows) {
    const positive = rows.reduce((sum, row) => sum + labels[row]!, 0)
    return Float64Array.of(Math.log((positive + 0.5) / (rows.length - positive + 0.5)))
  },
  leastGain: leastGainOfClasses,
  derive(scores, labels, _output, rows, gradients, hessians) {
    for (const row of rows) {
      const probability = sigmoid(scores[row]!)
      gradients[row] = probability - labels[row]!
      hessians[row] = Math.max(probability * (1 - probability), smallest)
    }
  },
  // log(1 + exp(±score)), written so that neither side can overflow.
  sum: (scores, labels, rows) =>
    rows.reduce((sum, row) => {
      const margin = labels[row] === 1 ? scores[row]! : -scores[row]!
      return sum + (margin > 0 ? Math.log1p(Math.exp(-margin)) : Math.log1p(Math.exp(margin)) - margin)
    }, 0),
}

/** log Σ exp over the outputs of one row. */
const logSum = (scores: Float64Array, row: number, rows: number, outputs: number): number => {
  let largest = -Infinity
  for (let output = 0; output < outputs; output++) largest = Math.max(largest, scores[output * rows + row]!)
  let sum = 0
  for (let output = 0; output < outputs; output++) sum += Math.exp(scores[output * rows + row]! - largest)
  return largest + Math.log(sum)
}

/** For more than two classes: log loss, one score per class. It stores a round's sums between its outputs, so rounds must not overlap. */
const softmaxLoss = (outputs: number): Loss => {
  const factor = outputs / (outputs - 1)
  let logSums = new Float64Array()
  return {
    classes: outputs,
    outputs,
    start(labels, rows) {
      const counts = new Float64Array(outputs).fill(0.5)
      for (const row of rows) counts[labels[row]!] = counts[labels[row]!]! + 1
      return counts.map((count) => Math.log(count / (rows.length + 0.5 * outputs)))
    },
    leastGain: leastGainOfClasses,
    derive(scores, labels, output, rows, gradients, hessians) {
      const all = labels.length
      if (logSums.length < all) logSums = new Float64Array(all)
      // All trees of one round start from the same scores, so the sums are computed once, before the first of them.
      if (output === 0) for (const row of rows) logSums[row] = logSum(scores, row, all, outputs)
      for (const row of rows) {
        const probability = Math.exp(scores[output * all + row]! - logSums[row]!)
        gradients[row] = probability - (labels[row] === output ? 1 : 0)
        hessians[row] = Math.max(factor * probability * (1 - probability), smallest)
      }
    },
    sum: (scores, labels, rows) =>
      rows.reduce((sum, row) => sum + logSum(scores, row, labels.length, outputs) - scores[labels[row]! * labels.length + row]!, 0),
  }
}

/**
 * The loss for a number of classes, 0 for values. With several classes it returns a new object, because that object has the state of its
 * round.
 */
export const lossOf = (classes: number): Loss => (classes === 0 ? squaredLoss : classes === 2 ? logisticLoss : softmaxLoss(classes))
