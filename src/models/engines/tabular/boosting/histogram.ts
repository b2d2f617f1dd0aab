import type { BinnedTable } from './bins.js'

/**
 * The sums of gradients and hessians per bin of every feature, interleaved: bin b of feature f is at 2 × (offsets[f] + b). Counts are not
 * kept: a bin's share of its leaf's hessian stands for its share of the rows.
 */
export type Histogram = Float64Array

/** The rows start…end-1 of `rows`, with their gradients and hessians gathered in the same order. */
export type RowRange = { rows: Int32Array; start: number; end: number; gradients: Float64Array; hessians: Float64Array }

const addOne = (histogram: Histogram, range: RowRange, bins: Uint8Array, offset: number): void => {
  const { rows, start, end, gradients, hessians } = range
  for (let index = start; index < end; index++) {
    const at = 2 * (offset + bins[rows[index]!]!)
    histogram[at] = histogram[at]! + gradients[index]!
    histogram[at + 1] = histogram[at + 1]! + hessians[index]!
  }
}

/** Four features per pass: the row, its gradient and its hessian are read once for all four. */
const addFour = (histogram: Histogram, range: RowRange, bins: readonly Uint8Array[], offsets: readonly number[]): void => {
  const { rows, start, end, gradients, hessians } = range
  const [binsA, binsB, binsC, binsD] = [bins[0]!, bins[1]!, bins[2]!, bins[3]!]
  const [offsetA, offsetB, offsetC, offsetD] = [offsets[0]!, offsets[1]!, offsets[2]!, offsets[3]!]
  for (let index = start; index < end; index++) {
    const row = rows[index]!
    const gradient = gradients[index]!
    const hessian = hessians[index]!
    const a = 2 * (offsetA + binsA[row]!)
    histogram[a] = histogram[a]! + gradient
    histogram[a + 1] = histogram[a + 1]! + hessian
    const b = 2 * (offsetB + binsB[row]!)
    histogram[b] = histogram[b]! + gradient
    histogram[b + 1] = histogram[b + 1]! + hessian
    const c = 2 * (offsetC + binsC[row]!)
    histogram[c] = histogram[c]! + gradient
    histogram[c + 1] = histogram[c + 1]! + hessian
    const d = 2 * (offsetD + binsD[row]!)
    histogram[d] = histogram[d]! + gradient
    histogram[d + 1] = histogram[d + 1]! + hessian
  }
}

/** Adds rows to the histogram of the given features. */
export const addRows = (histogram: Histogram, table: BinnedTable, features: Int32Array, range: RowRange): void => {
  let next = 0
  for (; next + 4 <= features.length; next += 4) {
    const group = [features[next]!, features[next + 1]!, features[next + 2]!, features[next + 3]!]
    addFour(
      histogram,
      range,
      group.map((feature) => table.features[feature]!.bins),
      group.map((feature) => table.offsets[feature]!),
    )
  }
  for (; next < features.length; next++) {
    const feature = features[next]!
    addOne(histogram, range, table.features[feature]!.bins, table.offsets[feature]!)
  }
}

/** Turns a parent's histogram into that of one child by subtracting the other child's. */
export const subtractHistogram = (parent: Histogram, child: Histogram): void => {
  for (let index = 0; index < parent.length; index++) parent[index] = parent[index]! - child[index]!
}
