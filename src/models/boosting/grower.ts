import type { BinnedTable } from './bins.js'
import { fillHistogram, subtractHistogram, type Histogram } from './histogram.js'
import { bestSplit, type LeafSums, type Split, type SplitRules } from './split.js'
import type { Tree, TreeNode } from './tree.js'

export type GrowthRules = SplitRules & { leaves: number; learningRate: number }

/** Rows of one kind, kept in leaf order while a tree grows: a leaf holds a range of them. */
type Span = { start: number; end: number }

type Leaf = {
  sampled: Span
  others: Span
  sums: LeafSums
  histogram: Histogram
  split: Split | undefined
  /** Where the node that holds this leaf keeps it, so that a split can put a node in its place. */
  parent: number
  side: 'leftChild' | 'rightChild'
}

/** A fresh copy of a leaf's outcome for the scores: which rows get which value. */
export type LeafRows = { value: number; rows: Int32Array; start: number; end: number }

/** Moves the rows of a span that go left to its front, keeping both sides in order. Answers where the right side starts. */
const partition = (rows: Int32Array, span: Span, bins: Uint8Array, left: Uint8Array, scratch: Int32Array): number => {
  let front = span.start
  let kept = 0
  for (let index = span.start; index < span.end; index++) {
    const row = rows[index]!
    const goesLeft = left[bins[row]!]!
    // Written to both sides and counted on one: a branch here would be mispredicted every other time.
    rows[front] = row
    scratch[kept] = row
    front += goesLeft
    kept += 1 - goesLeft
  }
  rows.set(scratch.subarray(0, kept), front)
  return front
}

/**
 * Grows trees leaf by leaf, always splitting the leaf that gains most. One grower serves all folds of a training,
 * one after the other: it only holds scratch memory.
 */
export class Grower {
  private readonly scratch: Int32Array
  private readonly orderedGradients: Float64Array
  private readonly orderedHessians: Float64Array
  private readonly pool: Histogram[] = []

  constructor(
    private readonly table: BinnedTable,
    private readonly rules: GrowthRules,
  ) {
    this.scratch = new Int32Array(table.rows)
    this.orderedGradients = new Float64Array(table.rows)
    this.orderedHessians = new Float64Array(table.rows)
  }

  /**
   * Grows one tree on the sampled rows. `others` are rows that only take part in the outcome. Both arrays are reordered.
   * `onLeaf` is told of every leaf's rows of both kinds.
   */
  grow(
    sampled: Int32Array,
    others: Int32Array,
    gradients: Float64Array,
    hessians: Float64Array,
    features: Int32Array,
    onLeaf: (rows: LeafRows) => void,
  ): Tree {
    const nodes: TreeNode[] = []
    const leaves = [this.root(sampled, others, gradients, hessians, features)]
    while (leaves.length < this.rules.leaves) {
      const index = this.mostGaining(leaves)
      const leaf = leaves[index]
      if (!leaf?.split) break
      leaves.splice(index, 1, ...this.divide(leaf, leaf.split, { sampled, others, gradients, hessians, features, nodes }))
    }
    return this.finish(nodes, leaves, sampled, others, onLeaf)
  }

  private root(sampled: Int32Array, others: Int32Array, gradients: Float64Array, hessians: Float64Array, features: Int32Array): Leaf {
    const sums = { gradient: 0, hessian: 0, rows: sampled.length }
    for (const row of sampled) {
      sums.gradient += gradients[row]!
      sums.hessian += hessians[row]!
    }
    const histogram = this.pool.pop() ?? new Float64Array(2 * this.table.totalBins)
    const span = { start: 0, end: sampled.length }
    this.fill(histogram, sampled, span, gradients, hessians, features)
    const split = bestSplit(histogram, this.table, features, sums, this.rules)
    return { sampled: span, others: { start: 0, end: others.length }, sums, histogram, split, parent: -1, side: 'leftChild' }
  }

  private mostGaining(leaves: readonly Leaf[]): number {
    let best = -1
    leaves.forEach(({ split }, index) => {
      if (split && (best < 0 || split.gain > (leaves[best]?.split?.gain ?? 0))) best = index
    })
    return best
  }

  private divide(
    leaf: Leaf,
    split: Split,
    tree: {
      sampled: Int32Array
      others: Int32Array
      gradients: Float64Array
      hessians: Float64Array
      features: Int32Array
      nodes: TreeNode[]
    },
  ): [Leaf, Leaf] {
    const { bins } = this.table.features[split.feature]!
    const middle = partition(tree.sampled, leaf.sampled, bins, split.left, this.scratch)
    const otherMiddle = partition(tree.others, leaf.others, bins, split.left, this.scratch)
    const { feature, threshold, missingLeft, gain, left } = split
    const node = tree.nodes.push({ feature, threshold, missingLeft, left, gain, leftChild: 0, rightChild: 0 }) - 1
    if (leaf.parent >= 0) tree.nodes[leaf.parent]![leaf.side] = node
    const leftSide = {
      sampled: { start: leaf.sampled.start, end: middle },
      others: { start: leaf.others.start, end: otherMiddle },
      sums: { gradient: split.gradient, hessian: split.hessian, rows: middle - leaf.sampled.start },
    }
    const rightSide = {
      sampled: { start: middle, end: leaf.sampled.end },
      others: { start: otherMiddle, end: leaf.others.end },
      sums: {
        gradient: leaf.sums.gradient - split.gradient,
        hessian: leaf.sums.hessian - split.hessian,
        rows: leaf.sampled.end - middle,
      },
    }
    // Only the smaller side is counted; the larger one is what remains of the parent.
    const leftIsSmaller = leftSide.sums.rows <= rightSide.sums.rows
    const counted = this.pool.pop() ?? new Float64Array(2 * this.table.totalBins)
    this.fill(counted, tree.sampled, (leftIsSmaller ? leftSide : rightSide).sampled, tree.gradients, tree.hessians, tree.features)
    subtractHistogram(leaf.histogram, counted)
    const leafOf = (side: typeof leftSide, histogram: Histogram, name: Leaf['side']): Leaf => ({
      ...side,
      histogram,
      split: bestSplit(histogram, this.table, tree.features, side.sums, this.rules),
      parent: node,
      side: name,
    })
    return [
      leafOf(leftSide, leftIsSmaller ? counted : leaf.histogram, 'leftChild'),
      leafOf(rightSide, leftIsSmaller ? leaf.histogram : counted, 'rightChild'),
    ]
  }

  private fill(
    histogram: Histogram,
    rows: Int32Array,
    { start, end }: Span,
    gradients: Float64Array,
    hessians: Float64Array,
    features: Int32Array,
  ): void {
    const { orderedGradients, orderedHessians } = this
    for (let index = start; index < end; index++) {
      orderedGradients[index] = gradients[rows[index]!]!
      orderedHessians[index] = hessians[rows[index]!]!
    }
    fillHistogram(histogram, this.table, features, { rows, start, end, gradients: orderedGradients, hessians: orderedHessians })
  }

  private finish(nodes: TreeNode[], leaves: Leaf[], sampled: Int32Array, others: Int32Array, onLeaf: (rows: LeafRows) => void): Tree {
    const values = new Float32Array(leaves.length)
    leaves.forEach((leaf, index) => {
      const { gradient, hessian } = leaf.sums
      values[index] = (-this.rules.learningRate * gradient) / (hessian + this.rules.l2)
      const value = values[index]
      onLeaf({ value, rows: sampled, ...leaf.sampled })
      onLeaf({ value, rows: others, ...leaf.others })
      if (leaf.parent >= 0) nodes[leaf.parent]![leaf.side] = ~index
      this.pool.push(leaf.histogram)
    })
    return { nodes, leaves: values }
  }
}
