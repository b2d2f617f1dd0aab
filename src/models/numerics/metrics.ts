/** Out-of-fold metrics. Regression has r2, rmse and mae; classes have accuracy, balanced_accuracy, log_loss and ece, two classes also auc. */
export type Metrics = Readonly<Record<string, number>>

/** One prediction and one label per row; if all labels are equal, r2 is NaN. */
export const regressionMetrics = (predicted: Float64Array, labels: Float64Array): Metrics => {
  const rows = labels.length
  const mean = labels.reduce((sum, label) => sum + label, 0) / rows
  let [squares, misses, spread] = [0, 0, 0]
  for (let row = 0; row < rows; row++) {
    const miss = predicted[row]! - labels[row]!
    squares += miss * miss
    misses += Math.abs(miss)
    spread += (labels[row]! - mean) * (labels[row]! - mean)
  }
  return { r2: 1 - squares / spread, rmse: Math.sqrt(squares / rows), mae: misses / rows }
}

/** The probability that a row of class 1 gets a higher probability than one of class 0; ties count half. */
const areaUnderCurve = (probabilities: Float64Array, labels: Float64Array): number => {
  const order = Int32Array.from({ length: labels.length }, (_, row) => row)
  order.sort((one, other) => probabilities[one]! - probabilities[other]!)
  let [positives, ranks, start] = [0, 0, 0]
  while (start < order.length) {
    let end = start
    while (end < order.length && probabilities[order[end]!] === probabilities[order[start]!]) end++
    for (let place = start; place < end; place++) {
      if (labels[order[place]!] !== 1) continue
      positives++
      ranks += (start + end + 1) / 2
    }
    start = end
  }
  return (ranks - (positives * (positives + 1)) / 2) / (positives * (labels.length - positives))
}

/** `probabilities` row by row, one per class; `decided` is the predicted class of each row. */
export const classMetrics = (probabilities: Float64Array, decided: Int32Array, labels: Float64Array, classes: number): Metrics => {
  let [right, loss] = [0, 0]
  for (let row = 0; row < labels.length; row++) {
    right += decided[row] === labels[row] ? 1 : 0
    loss -= Math.log(Math.max(probabilities[row * classes + labels[row]!]!, 1e-15))
  }
  const metrics = { accuracy: right / labels.length, log_loss: loss / labels.length }
  if (classes > 2) return metrics
  return {
    ...metrics,
    auc: areaUnderCurve(
      labels.map((_, row) => probabilities[row * 2 + 1]!),
      labels,
    ),
  }
}
