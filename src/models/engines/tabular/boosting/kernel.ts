import type { Forest } from './forest.js'
import { layOut, prepareRows, type Block, type Layout } from './layout.js'

/** Rows that are scored together: their numbers and scores stay in the processor's cache while all trees pass over them. */
const mostRows = 512
const mostNumbers = 32_768

/**
 * Adds the trees' scores to those of `rows` rows of a block; `at` is the first row's place in `scores` (row by row, one per output). Four
 * paths are walked side by side, because each step of a path depends on the one before.
 */
type Kernel = (layout: Layout, block: Block, rows: number, scores: Float64Array, at: number, outputs: number) => void

/** Four rows per tree; needs a number of rows divisible by four. */
const fourRows: Kernel = ({ roots, columns, column, threshold, next, leaf, score }, { numbers }, rows, scores, at, outputs) => {
  const width = columns.length
  for (let tree = 0; tree < roots.length; tree++) {
    const root = roots[tree]!
    let to = at + (tree % outputs)
    for (let row = 0; row < rows; row += 4) {
      const rowA = row * width
      const rowB = rowA + width
      const rowC = rowB + width
      const rowD = rowC + width
      let [a, b, c, d] = [root, root, root, root]
      do {
        a = next[a]! + Number(numbers[rowA + column[a]!]! > threshold[a]!)
        b = next[b]! + Number(numbers[rowB + column[b]!]! > threshold[b]!)
        c = next[c]! + Number(numbers[rowC + column[c]!]! > threshold[c]!)
        d = next[d]! + Number(numbers[rowD + column[d]!]! > threshold[d]!)
      } while ((leaf[a]! & leaf[b]! & leaf[c]! & leaf[d]!) === 0)
      scores[to] = scores[to]! + score[a]!
      scores[to + outputs] = scores[to + outputs]! + score[b]!
      scores[to + 2 * outputs] = scores[to + 2 * outputs]! + score[c]!
      scores[to + 3 * outputs] = scores[to + 3 * outputs]! + score[d]!
      to += 4 * outputs
    }
  }
}

/** One row after the other, four trees at once. The last group is filled by walking the first tree again, without effect. */
const fourTrees: Kernel = ({ roots, columns, column, threshold, next, leaf, score }, { numbers }, rows, scores, at, outputs) => {
  const width = columns.length
  const trees = roots.length
  for (let row = 0; row < rows; row++) {
    const base = row * width
    const to = at + row * outputs
    for (let tree = 0; tree < trees; tree += 4) {
      let a = roots[tree]!
      let b = roots[tree + 1 < trees ? tree + 1 : 0]!
      let c = roots[tree + 2 < trees ? tree + 2 : 0]!
      let d = roots[tree + 3 < trees ? tree + 3 : 0]!
      do {
        a = next[a]! + Number(numbers[base + column[a]!]! > threshold[a]!)
        b = next[b]! + Number(numbers[base + column[b]!]! > threshold[b]!)
        c = next[c]! + Number(numbers[base + column[c]!]! > threshold[c]!)
        d = next[d]! + Number(numbers[base + column[d]!]! > threshold[d]!)
      } while ((leaf[a]! & leaf[b]! & leaf[c]! & leaf[d]!) === 0)
      addScore(scores, to + (tree % outputs), score[a]!)
      if (tree + 1 < trees) addScore(scores, to + ((tree + 1) % outputs), score[b]!)
      if (tree + 2 < trees) addScore(scores, to + ((tree + 2) % outputs), score[c]!)
      if (tree + 3 < trees) addScore(scores, to + ((tree + 3) % outputs), score[d]!)
    }
  }
}

const addScore = (scores: Float64Array, at: number, score: number): void => {
  scores[at] = scores[at]! + score
}

/** Two rows per tree, with tests by bits: for numbers the bits have no effect, and a category is never above its threshold. */
const byBits: Kernel = (layout, { numbers, codes }, rows, scores, at, outputs) => {
  const { roots, columns, column, threshold, next, leaf, score, subset, subsets } = layout
  const width = columns.length
  for (let tree = 0; tree < roots.length; tree++) {
    const root = roots[tree]!
    for (let row = 0; row < rows; row += 2) {
      const other = row + 1 < rows ? row + 1 : row
      let [a, b] = [root, root]
      do {
        const inA = row * width + column[a]!
        const inB = other * width + column[b]!
        const codeA = codes[inA]!
        const codeB = codes[inB]!
        a = next[a]! + (Number(numbers[inA]! > threshold[a]!) | ((subsets[subset[a]! + (codeA >> 5)]! >>> (codeA & 31)) & 1))
        b = next[b]! + (Number(numbers[inB]! > threshold[b]!) | ((subsets[subset[b]! + (codeB >> 5)]! >>> (codeB & 31)) & 1))
      } while ((leaf[a]! & leaf[b]!) === 0)
      addScore(scores, at + row * outputs + (tree % outputs), score[a]!)
      if (other !== row) addScore(scores, at + other * outputs + (tree % outputs), score[b]!)
    }
  }
}

const byNumbers: Kernel = (layout, block, rows, scores, at, outputs) => {
  const inFours = rows - (rows % 4)
  fourRows(layout, block, inFours, scores, at, outputs)
  if (inFours === rows) return
  const rest = { ...block, numbers: block.numbers.subarray(inFours * layout.columns.length) }
  fourTrees(layout, rest, rows - inFours, scores, at + inFours * outputs, outputs)
}

/**
 * A function that fills `scores` (row by row, one per output) with a forest's scores. It lays out the forest once, and chooses the kernel
 * for its kinds of tests. A row gets the same bits alone and among any number of others: its trees' scores are always added in the same
 * order.
 */
export const compileForest = (forest: Forest, width: number) => {
  const outputs = forest.start.length
  const layout = layOut(forest)
  const columns = layout.columns.length
  const kernel = layout.bits ? byBits : byNumbers
  const blockRows = Math.max(32, Math.min(mostRows, (mostNumbers / Math.max(columns, 1)) & ~3))
  let block: Block = { numbers: new Float64Array(columns), codes: new Int32Array(columns) }
  return (features: Float64Array, rows: number, scores: Float64Array): void => {
    for (let row = 0; row < rows; row++)
      for (let output = 0; output < outputs; output++) scores[row * outputs + output] = forest.start[output]!
    const size = Math.min(rows, blockRows) * columns
    if (block.numbers.length < size) block = { numbers: new Float64Array(size), codes: new Int32Array(layout.bits ? size : 0) }
    for (let first = 0; first < rows; first += blockRows) {
      const taken = Math.min(blockRows, rows - first)
      prepareRows(layout, features, width, first, taken, block)
      kernel(layout, block, taken, scores, first * outputs, outputs)
    }
  }
}
