/**
 * A grown tree. A child below 0 is the leaf ~child, otherwise a node's index. `left` says for each bin of the feature
 * (the last one is missing) whether its rows go left; `threshold` is the last bin that does, -1 for categories.
 */
export type TreeNode = {
  feature: number
  threshold: number
  missingLeft: boolean
  left: Uint8Array
  gain: number
  leftChild: number
  rightChild: number
}

/**
 * Leaf values are single precision from the start, so that the stored model is the trained model bit for bit. `covers` says how
 * many of the rows that it grew from each leaf holds.
 */
export type Tree = { nodes: TreeNode[]; leaves: Float32Array; covers: Uint32Array }
