import { nodeKinds, type Forest } from './forest.js'

/** Rows that are scored together: their features and scores stay in the processor's cache while all trees pass over them. */
const blockRows = 512

/**
 * Adds the trees' scores of `rows` rows to `scores` (row by row, one a output). `features` is row by row, `width` numbers a
 * row, from row `first` on. The trees are the outer loop: a tree stays in the cache while a block of rows passes.
 */
type Kernel = (
  forest: Forest,
  features: Float64Array,
  width: number,
  first: number,
  rows: number,
  scores: Float64Array,
  outputs: number,
) => void

/** For blocks without missing values in forests without categories: a comparison a node and nothing else. */
const numericKernel: Kernel = (forest, features, width, first, rows, scores, outputs) => {
  const { roots, thresholds, children, leaves } = forest
  const featureOf = forest.features
  for (let tree = 0; tree < roots.length; tree++) {
    const root = roots[tree]!
    let at = first * outputs + (tree % outputs)
    const end = (first + rows) * width
    for (let base = first * width; base < end; base += width) {
      let node = root
      while (node >= 0) node = children[2 * node + (features[base + featureOf[node]!]! > thresholds[node]! ? 1 : 0)]!
      scores[at] = scores[at]! + leaves[~node]!
      at += outputs
    }
  }
}

/** Whether a value goes right, missing values and categories included. */
export const goesRight = (forest: Forest, node: number, value: number): boolean => {
  switch (forest.kinds[node]) {
    // Every comparison with NaN is false: asked this way round, missing goes where its kind says.
    case nodeKinds.missingLeft:
      return value > forest.thresholds[node]!
    case nodeKinds.missingRight:
      return !(value <= forest.thresholds[node]!)
    case nodeKinds.categoryMissingLeft:
      return value === value && (forest.subsets[forest.subsetOf[node]! + (value >> 3)]! & (1 << (value & 7))) === 0
    default:
      return value !== value || (forest.subsets[forest.subsetOf[node]! + (value >> 3)]! & (1 << (value & 7))) === 0
  }
}

const genericKernel: Kernel = (forest, features, width, first, rows, scores, outputs) => {
  const { roots, children, leaves } = forest
  const featureOf = forest.features
  for (let tree = 0; tree < roots.length; tree++) {
    const root = roots[tree]!
    let at = first * outputs + (tree % outputs)
    const end = (first + rows) * width
    for (let base = first * width; base < end; base += width) {
      let node = root
      while (node >= 0) node = children[2 * node + (goesRight(forest, node, features[base + featureOf[node]!]!) ? 1 : 0)]!
      scores[at] = scores[at]! + leaves[~node]!
      at += outputs
    }
  }
}

const someMissing = (features: Float64Array, start: number, end: number): boolean => {
  for (let at = start; at < end; at++) if (Number.isNaN(features[at])) return true
  return false
}

/**
 * A function that fills `scores` (row by row, one an output) with a forest's scores. Which kernel runs is chosen for each
 * block; both give the same bits, and so does any number of rows at once.
 */
export const compileForest = (forest: Forest, width: number) => {
  const outputs = forest.start.length
  const numericOnly = forest.kinds.every((kind) => kind <= nodeKinds.missingLeft)
  return (features: Float64Array, rows: number, scores: Float64Array): void => {
    for (let row = 0; row < rows; row++)
      for (let output = 0; output < outputs; output++) scores[row * outputs + output] = forest.start[output]!
    for (let first = 0; first < rows; first += blockRows) {
      const block = Math.min(blockRows, rows - first)
      const fast = numericOnly && !someMissing(features, first * width, (first + block) * width)
      const kernel = fast ? numericKernel : genericKernel
      kernel(forest, features, width, first, block, scores, outputs)
    }
  }
}
