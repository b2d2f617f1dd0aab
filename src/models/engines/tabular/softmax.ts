import { sigmoid } from './boosting/loss.js'

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
