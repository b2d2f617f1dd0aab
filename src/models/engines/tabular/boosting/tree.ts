/**
 * A grown tree. A child below 0 is the leaf ~child, otherwise a node's index. `threshold` is the last bin whose rows go left; for
 * categories it is -1, and `subset` says for each bin whether its rows go left.
 */
export type TreeNode = {
  feature: number
  threshold: number
  missingLeft: boolean
  subset: Uint8Array | undefined
  gain: number
  leftChild: number
  rightChild: number
}

/**
 * Leaf values are single precision from the start, so that the stored model is the trained model bit for bit. `covers` is the number of
 * rows in each leaf that the tree grew from.
 */
export type Tree = { nodes: TreeNode[]; leaves: Float32Array; covers: Uint32Array }
