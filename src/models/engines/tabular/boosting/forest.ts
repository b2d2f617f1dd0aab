import type { ByteReader, ByteWriter } from '../../../numerics/bytes.js'
import type { BinnedFeature } from './bins.js'
import type { Tree } from './tree.js'

/** The side for missing values at a node, and whether the node tests a number or a category. */
export const nodeKinds = { missingRight: 0, missingLeft: 1, categoryMissingRight: 2, categoryMissingLeft: 3 } as const

const subsetBytes = 32

/**
 * All trees of a model in flat arrays, as they are stored and evaluated. Trees are ordered by round, within a round by output. A child
 * below 0 is the leaf ~child. Node n sends a number left unless it is above `thresholds[n]`; a category goes left when its bit is set in
 * the 32 bytes of `subsets` starting at `subsetOf[n]`.
 */
export type Forest = {
  start: Float64Array
  roots: Int32Array
  features: Uint16Array
  kinds: Uint8Array
  bins: Uint8Array
  /** Left and right child of node n at 2n and 2n + 1. */
  children: Int32Array
  leaves: Float32Array
  subsets: Uint8Array
  subsetOf: Int32Array
  thresholds: Float64Array
}

/** Whether a node sends a value right, including missing values and categories. */
export const goesRight = (forest: Forest, node: number, value: number): boolean => {
  switch (forest.kinds[node]) {
    // Every comparison with NaN is false. With this order of operands, missing values go to the side that the kind of the node says.
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

/** The edges of each feature's bins; none for categories. */
export type Edges = readonly Float64Array[]

const kindOf = (category: boolean, missingLeft: boolean): number => (category ? 2 : 0) + (missingLeft ? 1 : 0)

/** Whether a node tests a category, and not a number. */
export const isCategory = (kind: number): boolean => kind >= nodeKinds.categoryMissingRight

/** Adds the arrays that are derived from the stored ones. */
const complete = (stored: Omit<Forest, 'subsetOf' | 'thresholds'>, edges: Edges): Forest => {
  let subsets = 0
  const subsetOf = Int32Array.from(stored.kinds, (kind) => (isCategory(kind) ? subsets++ * subsetBytes : -1))
  const thresholds = Float64Array.from(stored.features, (feature, node) =>
    isCategory(stored.kinds[node]!) ? NaN : edges[feature]![stored.bins[node]!]!,
  )
  return { ...stored, subsetOf, thresholds }
}

const bitsOf = (subset: Uint8Array): Uint8Array => {
  const bits = new Uint8Array(subsetBytes)
  subset.forEach((goesLeft, bin) => (bits[bin >> 3] = bits[bin >> 3]! | (goesLeft << (bin & 7))))
  return bits
}

/** Stores grown trees in flat arrays. */
export const flatten = (start: Float64Array, trees: readonly Tree[], features: readonly BinnedFeature[]): Forest => {
  const nodes = trees.flatMap((tree) => tree.nodes)
  const children = new Int32Array(nodes.length * 2)
  const roots = new Int32Array(trees.length)
  let [firstNode, firstLeaf] = [0, 0]
  trees.forEach((tree, index) => {
    const place = (child: number) => (child < 0 ? ~(~child + firstLeaf) : child + firstNode)
    roots[index] = tree.nodes.length === 0 ? ~firstLeaf : firstNode
    tree.nodes.forEach((node, at) => {
      children[2 * (firstNode + at)] = place(node.leftChild)
      children[2 * (firstNode + at) + 1] = place(node.rightChild)
    })
    firstNode += tree.nodes.length
    firstLeaf += tree.leaves.length
  })
  const found = nodes.flatMap(({ subset }) => (subset ? [subset] : []))
  const subsets = new Uint8Array(found.length * subsetBytes)
  found.forEach((subset, index) => subsets.set(bitsOf(subset), index * subsetBytes))
  const stored = {
    start,
    roots,
    features: Uint16Array.from(nodes, ({ feature }) => feature),
    kinds: Uint8Array.from(nodes, (node) => kindOf(features[node.feature]!.category, node.missingLeft)),
    bins: Uint8Array.from(nodes, ({ threshold }) => Math.max(threshold, 0)),
    children,
    leaves: Float32Array.from(trees.flatMap((tree) => [...tree.leaves])),
    subsets,
  }
  return complete(
    stored,
    features.map(({ edges }) => edges),
  )
}

/** Writes counts (trees, nodes, leaves, subset bytes, outputs: u32 each), then the arrays; thresholds are stored as bin numbers. */
export const writeForest = (writer: ByteWriter, forest: Forest): void => {
  for (const array of [forest.roots, forest.features, forest.leaves, forest.subsets, forest.start]) writer.u32(array.length)
  const { start, roots, features, kinds, bins, children, leaves, subsets } = forest
  for (const array of [start, roots, features, kinds, bins, children, leaves, subsets]) writer.array(array)
}

/** Reads what `writeForest` wrote; `edges` turns bin numbers into thresholds. Damaged bytes are an `internal` problem. */
export const readForest = (reader: ByteReader, edges: Edges): Forest => {
  const [trees, nodes, leaves, subsets, outputs] = [reader.u32(), reader.u32(), reader.u32(), reader.u32(), reader.u32()]
  const stored = {
    start: reader.array(Float64Array, outputs),
    roots: reader.array(Int32Array, trees),
    features: reader.array(Uint16Array, nodes),
    kinds: reader.array(Uint8Array, nodes),
    bins: reader.array(Uint8Array, nodes),
    children: reader.array(Int32Array, 2 * nodes),
    leaves: reader.array(Float32Array, leaves),
    subsets: reader.array(Uint8Array, subsets),
  }
  if (stored.features.some((feature) => feature >= edges.length)) throw reader.damaged('a node names a feature that does not exist')
  return complete(stored, edges)
}
