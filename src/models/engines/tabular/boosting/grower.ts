import { binCodes, type BinnedTable } from './bins.js'
import { addRows, subtractHistogram, type Histogram, type RowRange } from './histogram.js'
import { bestSplit, writeSides, type LeafSums, type Split, type SplitRules } from './split.js'
import type { Tree, TreeNode } from './tree.js'

export type GrowthRules = SplitRules & { leaves: number; learningRate: number }

/**
 * The input for one tree. `others` are rows that do not influence the tree but get its values. Both row arrays are reordered while the tree
 * grows, so that every leaf holds a range of each.
 */
export type Ground = {
  sampled: Int32Array
  others: Int32Array
  /** By row. */
  gradients: Float64Array
  hessians: Float64Array
  /** The features that the tree may use, ascending. */
  features: Int32Array
  /** Splits with less gain are left out; see `Loss`. */
  leastGain: number
}

type Span = { start: number; end: number }
type Side = 'leftChild' | 'rightChild'

/** The rows of a leaf and their sums. */
type Part = { sampled: Span; others: Span; sums: LeafSums }

/** A leaf while its tree grows. `parent` and `side` say which child of which node it is, so that a node can replace it. */
type Leaf = Part & { histogram: Histogram | undefined; split: Split | undefined; parent: number; side: Side }

/** The rows start…end-1 of `rows` that get `value`. */
export type LeafRows = { value: number; rows: Int32Array; start: number; end: number }

/** Moves the rows of a span that go left to its front, keeping the order on both sides. Returns where the right side starts. */
const partition = (rows: Int32Array, span: Span, bins: Uint8Array, left: Uint8Array, scratch: Int32Array): number => {
  let front = span.start
  let kept = 0
  for (let index = span.start; index < span.end; index++) {
    const row = rows[index]!
    const goesLeft = left[bins[row]!]!
    // Writes to both sides and advances one: a branch here would be mispredicted every other time.
    rows[front] = row
    scratch[kept] = row
    front += goesLeft
    kept += 1 - goesLeft
  }
  for (let index = 0; index < kept; index++) rows[front + index] = scratch[index]!
  return front
}

/** The leaf with the highest gain, the first of equal ones; -1 when none can be split. */
const mostGaining = (leaves: readonly Leaf[]): number =>
  leaves.reduce((best, { split }, index) => (split && split.gain > (leaves[best]?.split?.gain ?? 0) ? index : best), -1)

/**
 * Grows trees leaf by leaf, always splitting the leaf with the highest gain. One grower serves all folds of a training, one after the
 * other: it only holds scratch memory.
 */
export class Grower {
  private readonly scratch: Int32Array
  private readonly gradients: Float64Array
  private readonly hessians: Float64Array
  private readonly pool: Histogram[] = []
  /** By bin of the feature that splits a leaf: whether its rows go left. */
  private readonly sides = new Uint8Array(binCodes)

  constructor(
    private readonly table: BinnedTable,
    private readonly rules: GrowthRules,
  ) {
    this.scratch = new Int32Array(table.rows)
    this.gradients = new Float64Array(table.rows)
    this.hessians = new Float64Array(table.rows)
  }

  /** Grows one tree. `onLeaf` is called with every leaf's rows, both the sampled and the others. */
  grow(ground: Ground, onLeaf: (rows: LeafRows) => void): Tree {
    const nodes: TreeNode[] = []
    const leaves = [this.root(ground)]
    while (leaves.length < this.rules.leaves) {
      const index = mostGaining(leaves)
      const leaf = leaves[index]
      if (!leaf?.split) break
      const isLast = leaves.length === this.rules.leaves - 1
      leaves.splice(index, 1, ...this.divide(leaf, leaf.split, ground, nodes, isLast))
    }
    return this.finish(nodes, leaves, ground, onLeaf)
  }

  private root(ground: Ground): Leaf {
    const sums = { gradient: 0, hessian: 0, rows: ground.sampled.length }
    for (const row of ground.sampled) {
      sums.gradient += ground.gradients[row]!
      sums.hessian += ground.hessians[row]!
    }
    const part: Part = { sampled: { start: 0, end: ground.sampled.length }, others: { start: 0, end: ground.others.length }, sums }
    return this.leaf(part, this.count(ground, part.sampled), ground, -1, 'leftChild')
  }

  private leaf(part: Part, histogram: Histogram | undefined, { features, leastGain }: Ground, parent: number, side: Side): Leaf {
    const { sampled, others, sums } = part
    const split = histogram && this.splittable(part) ? bestSplit(histogram, this.table, features, sums, this.rules, leastGain) : undefined
    // The fields are assigned one by one: a spread here took a third of the time of a small training.
    return { sampled, others, sums, histogram, split, parent, side }
  }

  private splittable({ sums }: Part): boolean {
    return sums.rows >= 2 * this.rules.minRows
  }

  private divide(leaf: Leaf, split: Split, ground: Ground, nodes: TreeNode[], isLast: boolean): [Leaf, Leaf] {
    const { feature, order, missingLeft, gain } = split
    const { count } = this.table.features[feature]!
    writeSides(split, count, this.sides)
    const [threshold, subset] = order ? [-1, this.sides.slice(0, count)] : [split.threshold, undefined]
    const node = nodes.push({ feature, threshold, missingLeft, subset, gain, leftChild: 0, rightChild: 0 }) - 1
    if (leaf.parent >= 0) nodes[leaf.parent]![leaf.side] = node
    const [leftPart, rightPart] = this.cut(leaf, split, ground)
    const leftIsSmaller = leftPart.sums.rows <= rightPart.sums.rows
    const [small, large] = leftIsSmaller ? [leftPart, rightPart] : [rightPart, leftPart]
    const [ofSmall, ofLarge] = isLast ? this.drop(leaf) : this.share(leaf, small, large, ground)
    return [
      this.leaf(leftPart, leftIsSmaller ? ofSmall : ofLarge, ground, node, 'leftChild'),
      this.leaf(rightPart, leftIsSmaller ? ofLarge : ofSmall, ground, node, 'rightChild'),
    ]
  }

  /** Partitions the rows of a leaf by its split; `sides` says which bins go left. */
  private cut({ sampled, others, sums }: Part, split: Split, ground: Ground): [Part, Part] {
    const { bins } = this.table.features[split.feature]!
    const middle = partition(ground.sampled, sampled, bins, this.sides, this.scratch)
    const otherMiddle = partition(ground.others, others, bins, this.sides, this.scratch)
    const { gradient, hessian } = split
    return [
      {
        sampled: { start: sampled.start, end: middle },
        others: { start: others.start, end: otherMiddle },
        sums: { gradient, hessian, rows: middle - sampled.start },
      },
      {
        sampled: { start: middle, end: sampled.end },
        others: { start: otherMiddle, end: others.end },
        sums: { gradient: sums.gradient - gradient, hessian: sums.hessian - hessian, rows: sampled.end - middle },
      },
    ]
  }

  /** Only leaves that may be split have histograms. */
  private drop(leaf: Leaf): [undefined, undefined] {
    if (leaf.histogram) this.pool.push(leaf.histogram)
    return [undefined, undefined]
  }

  /**
   * The histograms of the two sides of a split. Only the smaller side's rows are counted; the larger side is the rest of the parent. If the
   * smaller side is too small to be split again, its rows are subtracted from the parent directly.
   */
  private share(leaf: Leaf, small: Part, large: Part, ground: Ground): [Histogram | undefined, Histogram | undefined] {
    if (!leaf.histogram || !this.splittable(large)) return this.drop(leaf)
    if (!this.splittable(small)) {
      this.gather(ground, small.sampled, -1)
      addRows(leaf.histogram, this.table, ground.features, this.range(ground, small.sampled))
      return [undefined, leaf.histogram]
    }
    const counted = this.count(ground, small.sampled)
    subtractHistogram(leaf.histogram, counted)
    return [counted, leaf.histogram]
  }

  private count(ground: Ground, span: Span): Histogram {
    const histogram = this.pool.pop() ?? new Float64Array(2 * this.table.totalBins)
    histogram.fill(0)
    this.gather(ground, span, 1)
    addRows(histogram, this.table, ground.features, this.range(ground, span))
    return histogram
  }

  private range({ sampled }: Ground, { start, end }: Span): RowRange {
    return { rows: sampled, start, end, gradients: this.gradients, hessians: this.hessians }
  }

  /** Gathers the derivatives of a span's rows, so that every pass over its features reads them in order. */
  private gather({ sampled, gradients, hessians }: Ground, { start, end }: Span, sign: 1 | -1): void {
    const [toGradients, toHessians] = [this.gradients, this.hessians]
    for (let index = start; index < end; index++) {
      const row = sampled[index]!
      toGradients[index] = sign * gradients[row]!
      toHessians[index] = sign * hessians[row]!
    }
  }

  private finish(nodes: TreeNode[], leaves: readonly Leaf[], { sampled, others }: Ground, onLeaf: (rows: LeafRows) => void): Tree {
    const values = Float32Array.from(leaves, ({ sums }) => (-this.rules.learningRate * sums.gradient) / (sums.hessian + this.rules.l2))
    leaves.forEach((leaf, index) => {
      const value = values[index]!
      onLeaf({ value, rows: sampled, start: leaf.sampled.start, end: leaf.sampled.end })
      onLeaf({ value, rows: others, start: leaf.others.start, end: leaf.others.end })
      if (leaf.parent >= 0) nodes[leaf.parent]![leaf.side] = ~index
      if (leaf.histogram) this.pool.push(leaf.histogram)
    })
    return { nodes, leaves: values, covers: Uint32Array.from(leaves, ({ sums }) => sums.rows) }
  }
}
