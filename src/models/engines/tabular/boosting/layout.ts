import { isCategory, nodeKinds, type Forest } from './forest.js'

/** The code of a missing category; the codes of categories are below it. */
const missingCode = 254
const codes = 255
const words = 8

/**
 * How a column of prepared numbers is derived from a feature. A number stays as it is, or becomes `missing`. A category becomes its code.
 * In a column for one set of categories it becomes 1 if it goes right, else 0.
 */
type Column = { feature: number; kind: 'number' | 'category' | 'set'; missing: number; right: Uint8Array }

/**
 * A forest prepared for scoring. The two children of a node are adjacent: the next node is the node's `next`, plus 1 if its test says
 * right. A leaf is its own left child and its test always says left, so finished rows stay there while others continue. A row has one
 * number for each of `columns`, and none of the numbers is missing. If the trees use few sets of categories, each set has its own column,
 * and all tests are of numbers.
 */
export type Layout = {
  roots: Int32Array
  columns: readonly Column[]
  /** By node: the column that it tests, and the number above which it says right. */
  column: Uint16Array
  threshold: Float64Array
  next: Int32Array
  /** By node: 1 for a leaf, and the leaf's score. */
  leaf: Uint8Array
  score: Float32Array
  /** By node: where the 256 bits of its categories start; a set bit says right. For numbers the bits have no effect. */
  subset: Int32Array
  subsets: Int32Array
  /** Whether any test of categories uses bits. */
  bits: boolean
}

/** The categories that go right at a node: 1 for those that do. */
const rightOf = (forest: Forest, node: number): Uint8Array => {
  const from = forest.subsetOf[node]!
  const right = Uint8Array.from({ length: codes }, (_, code) => 1 - ((forest.subsets[from + (code >> 3)]! >> (code & 7)) & 1))
  right[missingCode] = forest.kinds[node] === nodeKinds.categoryMissingRight ? 1 : 0
  return right
}

/** The distinct columns of a forest, in the order in which nodes use them. */
class Columns {
  readonly all: Column[] = []
  private readonly places = new Map<string, number>()

  place(feature: number, kind: Column['kind'], missing: number, right: Uint8Array = new Uint8Array()): number {
    const key = `${feature} ${kind} ${missing} ${Buffer.from(right).toString('latin1')}`
    const place = this.places.get(key) ?? this.all.push({ feature, kind, missing, right }) - 1
    this.places.set(key, place)
    return place
  }
}

/**
 * Whether there are at most as many sets of categories as trees. Then computing the sets' columns for each row takes less time than it
 * saves.
 */
const hasFewSets = (forest: Forest): boolean => {
  const columns = new Columns()
  for (let node = 0; node < forest.kinds.length && columns.all.length <= forest.roots.length; node++)
    if (isCategory(forest.kinds[node]!)) columns.place(forest.features[node]!, 'set', missingCode, rightOf(forest, node))
  return columns.all.length <= forest.roots.length
}

const pushBits = (subsets: number[], right: Uint8Array): number => {
  const at = subsets.push(...Array.from({ length: words }, () => 0)) - words
  right.forEach((bit, code) => (subsets[at + (code >> 5)]! |= bit << (code & 31)))
  return at
}

/** Lays out a forest tree by tree, and each tree level by level. */
export const layOut = (forest: Forest): Layout => {
  const size = forest.kinds.length + forest.leaves.length
  const columns = new Columns()
  const subsets: number[] = Array.from({ length: words }, () => 0)
  const bits = !hasFewSets(forest)
  const layout = {
    roots: new Int32Array(forest.roots.length),
    column: new Uint16Array(size),
    threshold: new Float64Array(size).fill(Infinity),
    next: new Int32Array(size),
    leaf: new Uint8Array(size),
    score: new Float32Array(size),
    subset: new Int32Array(size),
  }
  const test = (node: number, at: number): void => {
    const feature = forest.features[node]!
    const kind = forest.kinds[node]!
    if (!isCategory(kind)) {
      layout.column[at] = columns.place(feature, 'number', kind === nodeKinds.missingLeft ? -Infinity : Infinity)
      // A missing value must be able to go right, even if every number goes left.
      layout.threshold[at] = Math.min(forest.thresholds[node]!, Number.MAX_VALUE)
    } else if (bits) {
      layout.column[at] = columns.place(feature, 'category', missingCode)
      layout.subset[at] = pushBits(subsets, rightOf(forest, node))
    } else {
      layout.column[at] = columns.place(feature, 'set', missingCode, rightOf(forest, node))
      layout.threshold[at] = 0.5
    }
  }
  let free = 0
  forest.roots.forEach((root, tree) => {
    const waiting: [number, number][] = [[root, free]]
    layout.roots[tree] = free++
    for (let item = waiting.shift(); item; item = waiting.shift()) {
      const [node, at] = item
      if (node < 0) {
        layout.next[at] = at
        layout.leaf[at] = 1
        layout.score[at] = forest.leaves[~node]!
        continue
      }
      test(node, at)
      layout.next[at] = free
      waiting.push([forest.children[2 * node]!, free], [forest.children[2 * node + 1]!, free + 1])
      free += 2
    }
  })
  return { ...layout, columns: columns.all, subsets: Int32Array.from(subsets), bits }
}

/** Rows prepared for a layout: one number for each of its columns, and, if it tests by bits, the codes in the same places. */
export type Block = { numbers: Float64Array; codes: Int32Array }

/** Writes rows into a block. `features` has `width` numbers per row; the block begins with its row `first`. */
export const prepareRows = ({ columns }: Layout, features: Float64Array, width: number, first: number, rows: number, into: Block): void => {
  const { numbers, codes } = into
  for (let column = 0; column < columns.length; column++) {
    const { feature, kind, missing, right } = columns[column]!
    let from = first * width + feature
    const end = rows * columns.length
    for (let at = column; at < end; at += columns.length, from += width) {
      const value = features[from]!
      const present = Number.isNaN(value) ? missing : value
      if (kind === 'category') codes[at] = present
      numbers[at] = kind === 'set' ? right[present]! : present
    }
  }
}
