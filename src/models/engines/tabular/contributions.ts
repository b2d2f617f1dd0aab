import type { LinearPart, TabularModel } from './artefact.js'
import type { Forest } from './boosting/forest.js'
import { goesRight } from './boosting/forest.js'
import { indexOf, valueOf } from './linear/design.js'

/**
 * The contribution of each input to a prediction, on the model's own scale; the base and all contributions add up to `score`. One set per
 * output.
 */
export type Contributions = { base: Float64Array; inputs: Float64Array; score: Float64Array }

/** Explains the row of features at an offset. `inputs` of the result has one number per input for each output, output by output. */
export type RowExplainer = (features: Float64Array, offset: number) => Contributions

type Adder = (features: Float64Array, offset: number, share: number, into: Contributions) => void

/**
 * The expectation of a forest at each node: the mean of its leaves, weighted by their training rows. An artefact of an earlier release does
 * not have these counts: then both sides of a node count the same.
 */
const expectations = ({ roots, children, leaves }: Forest, covers: Uint32Array | undefined): Float64Array => {
  const nodes = children.length / 2
  const means = new Float64Array(nodes)
  const rows = new Float64Array(nodes)
  const meanOf = (child: number) => (child < 0 ? leaves[~child]! : means[child]!)
  const rowsOf = (child: number) => (covers === undefined ? 1 : child < 0 ? covers[~child]! : rows[child]!)
  const visit = (node: number): void => {
    const [left, right] = [children[2 * node]!, children[2 * node + 1]!]
    for (const child of [left, right]) if (child >= 0) visit(child)
    const [ofLeft, ofRight] = [rowsOf(left), rowsOf(right)]
    rows[node] = ofLeft + ofRight
    means[node] = (meanOf(left) * ofLeft + meanOf(right) * ofRight) / (ofLeft + ofRight)
  }
  for (const root of roots) if (root >= 0) visit(root)
  return means
}

/** Walks the paths of a row: at each split, the change of the expectation is added to the split's input. */
const forestAdder = (forest: Forest, covers: Uint32Array | undefined, inputOf: readonly number[], width: number): Adder => {
  const { start, roots, children, leaves } = forest
  const means = expectations(forest, covers)
  const results = start.length
  return (features, offset, share, { base, inputs }) => {
    for (let result = 0; result < results; result++) base[result] = base[result]! + share * start[result]!
    for (let tree = 0; tree < roots.length; tree++) {
      const result = tree % results
      let node = roots[tree]!
      let expected = node < 0 ? leaves[~node]! : means[node]!
      base[result] = base[result]! + share * expected
      while (node >= 0) {
        const feature = forest.features[node]!
        const next = children[2 * node + (goesRight(forest, node, features[offset + feature]!) ? 1 : 0)]!
        const known = next < 0 ? leaves[~next]! : means[next]!
        const at = result * width + inputOf[feature]!
        inputs[at] = inputs[at]! + share * (known - expected)
        expected = known
        node = next
      }
    }
  }
}

const linearAdder = ({ terms, weights }: LinearPart, results: number, inputOf: readonly number[], width: number): Adder => {
  const size = weights.length / results
  return (features, offset, share, { base, inputs }) => {
    for (let result = 0; result < results; result++) {
      base[result] = base[result]! + share * weights[result * size + size - 1]!
      terms.forEach((term, feature) => {
        const value = features[offset + feature]!
        const at = result * width + inputOf[feature]!
        inputs[at] = inputs[at]! + share * weights[result * size + indexOf(term, value)]! * valueOf(term, value)
      })
    }
  }
}

/**
 * Prepares a model to explain the contribution of each input to a prediction: along the paths of the trees (Saabas) and by the terms of the
 * linear part, weighted as in the blend. It takes little more time than a prediction, and favours splits near the leaves.
 *
 * @example const { base, inputs } = compileContributions(model)(features, 0) // base[0] + sum of inputs = the blended score
 */
export const compileContributions = (model: TabularModel): RowExplainer => {
  const { inputs, features, classes, weight, trees, linear } = model
  const results = classes.length > 2 ? classes.length : 1
  const inputOf = features.map(({ input }) => input)
  const ofTrees = trees && forestAdder(trees, model.covers, inputOf, inputs.length)
  const ofLinear = linear && linearAdder(linear, results, inputOf, inputs.length)
  return (row, offset) => {
    const said: Contributions = {
      base: new Float64Array(results),
      inputs: new Float64Array(results * inputs.length),
      score: new Float64Array(results),
    }
    if (weight < 1) ofTrees?.(row, offset, 1 - weight, said)
    if (weight > 0) ofLinear?.(row, offset, weight, said)
    for (let result = 0; result < results; result++) {
      const own = said.inputs.subarray(result * inputs.length, (result + 1) * inputs.length)
      said.score[result] = own.reduce((sum, part) => sum + part, said.base[result]!)
    }
    return said
  }
}
