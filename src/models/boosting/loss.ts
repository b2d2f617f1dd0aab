/**
 * What a booster minimises. Scores are held output by output: score of row r for output k stands at k × rows + r.
 * Labels are values for regression and class indexes otherwise.
 */
export type Loss = {
  outputs: number
  /** The constant scores to start from, learned from the given rows. */
  start(labels: Float64Array, rows: Int32Array): Float64Array
  /** First and second derivatives of every row for one output. Called for output 0 first. */
  derive(scores: Float64Array, labels: Float64Array, output: number, gradients: Float64Array, hessians: Float64Array): void
  /** The summed loss over the given rows. */
  sum(scores: Float64Array, labels: Float64Array, rows: Int32Array): number
}

const smallest = 1e-15

/** The probability of class 1 that a score stands for. */
export const sigmoid = (score: number): number => 1 / (1 + Math.exp(-score))

/** For values: squared misses. Scores are the values. */
export const squaredLoss: Loss = {
  outputs: 1,
  start: (labels, rows) => Float64Array.of(rows.reduce((sum, row) => sum + labels[row]!, 0) / rows.length),
  derive(scores, labels, _output, gradients, hessians) {
    for (let row = 0; row < labels.length; row++) gradients[row] = scores[row]! - labels[row]!
    hessians.fill(1)
  },
  sum: (scores, labels, rows) => rows.reduce((sum, row) => sum + (scores[row]! - labels[row]!) * (scores[row]! - labels[row]!), 0),
}

/** For two classes: log loss. Scores are the log odds of class 1. */
export const logisticLoss: Loss = {
  outputs: 1,
  start(labels, rows) {
    const positive = rows.reduce((sum, row) => sum + labels[row]!, 0)
    return Float64Array.of(Math.log((positive + 0.5) / (rows.length - positive + 0.5)))
  },
  derive(scores, labels, _output, gradients, hessians) {
    for (let row = 0; row < labels.length; row++) {
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

/** For more than two classes: log loss, one score a class. It keeps a round's sums between its outputs, so rounds must not overlap. */
export const softmaxLoss = (outputs: number): Loss => {
  const factor = outputs / (outputs - 1)
  let logSums = new Float64Array()
  return {
    outputs,
    start(labels, rows) {
      const counts = new Float64Array(outputs).fill(0.5)
      for (const row of rows) counts[labels[row]!] = counts[labels[row]!]! + 1
      return counts.map((count) => Math.log(count / (rows.length + 0.5 * outputs)))
    },
    derive(scores, labels, output, gradients, hessians) {
      const rows = labels.length
      // The trees of one round all start from the same scores, so the sums are taken once, before the first of them.
      if (output === 0) logSums = Float64Array.from(labels, (_, row) => logSum(scores, row, rows, outputs))
      for (let row = 0; row < rows; row++) {
        const probability = Math.exp(scores[output * rows + row]! - logSums[row]!)
        gradients[row] = probability - (labels[row] === output ? 1 : 0)
        hessians[row] = Math.max(factor * probability * (1 - probability), smallest)
      }
    },
    sum: (scores, labels, rows) =>
      rows.reduce((sum, row) => sum + logSum(scores, row, labels.length, outputs) - scores[labels[row]! * labels.length + row]!, 0),
  }
}
