import type { FittedModel, PreparedTask } from './fit.js'
import { indexOf, valueOf } from './linear/design.js'

export type Importances = readonly { name: string; importance: number }[]

/** The summed gain of all splits on each feature. */
const gainsOf = ({ trees }: FittedModel, { features }: PreparedTask): Float64Array => {
  const gains = new Float64Array(features.length)
  for (const { nodes } of trees) for (const { feature, gain } of nodes) gains[feature] = gains[feature]! + gain
  return gains
}

/** The standard deviation over the training rows of a feature's contribution to the linear scores, summed over the scores. */
const spreadsOf = ({ linear }: FittedModel, { columns, loss }: PreparedTask): Float64Array => {
  const spreads = new Float64Array(columns.length)
  if (!linear) return spreads
  const size = linear.weights.length / loss.outputs
  linear.terms.forEach((term, feature) => {
    const column = columns[feature]!
    for (let output = 0; output < loss.outputs; output++) {
      let [sum, squares] = [0, 0]
      for (const value of column) {
        const part = linear.weights[output * size + indexOf(term, value)]! * valueOf(term, value)
        sum += part
        squares += part * part
      }
      const mean = sum / column.length
      spreads[feature] = spreads[feature]! + Math.sqrt(Math.max(0, squares / column.length - mean * mean))
    }
  })
  return spreads
}

const sharesOf = (amounts: Float64Array): Float64Array => {
  const total = amounts.reduce((sum, amount) => sum + amount, 0)
  return amounts.map((amount) => (total > 0 ? amount / total : 0))
}

/**
 * The importance of each input, largest first: for trees its share of the gain of all splits, for a linear model its share of the spread of
 * the inputs' contributions, for a blend both by their weights.
 *
 * @example importancesOf(fitted, prepared)[0] // { name: 'sqft', importance: .81 }
 */
export const importancesOf = (fitted: FittedModel, prepared: PreparedTask): Importances => {
  const { weight } = fitted
  const [ofTrees, ofLinear] = [sharesOf(gainsOf(fitted, prepared)), sharesOf(spreadsOf(fitted, prepared))]
  const importances = prepared.task.inputs.map(({ name }) => ({ name, importance: 0 }))
  prepared.features.forEach(({ input }, feature) => {
    importances[input]!.importance += (1 - weight) * ofTrees[feature]! + weight * ofLinear[feature]!
  })
  return importances.sort((one, other) => other.importance - one.importance)
}
