import { maxBins, type Feature } from '../../../data/features.js'
import { sharedBytes } from '../../../numerics/thread-memory.js'

/**
 * A feature cut into bins for training. Row r falls into `bins[r]`; the bin `count` means missing. A number falls into the first bin whose
 * `edges` value is not below it (the last edge is Infinity), a category into the bin of its index. `bins` is in memory that threads share.
 */
export type BinnedFeature = { bins: Uint8Array; count: number; edges: Float64Array; category: boolean }

export type BinnedTable = {
  rows: number
  features: readonly BinnedFeature[]
  /** The start of each feature's bins in a histogram. */
  offsets: Int32Array
  totalBins: number
}

/** The number of values of a byte: no feature has more bins, including the bin for missing values. */
export const binCodes = 256

/** Enough rows to place 253 edges; the rows are shuffled already, so the first ones are a fair sample. */
const rowsForEdges = 200_000

/** Distinct values and how often they occur, ascending. */
const countDistinct = (values: Float64Array): { distinct: number[]; counts: number[] } => {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort()
  const distinct: number[] = []
  const counts: number[] = []
  for (const value of sorted) {
    const last = distinct.length - 1
    if (last >= 0 && distinct[last] === value) counts[last] = counts[last]! + 1
    else {
      distinct.push(value)
      counts.push(1)
    }
  }
  return { distinct, counts }
}

/** A number between two neighbours that never equals the upper one, even if they are adjacent. */
const between = (lower: number, upper: number): number => {
  const middle = lower + (upper - lower) / 2
  return middle >= lower && middle < upper ? middle : lower
}

/** The edges of equally filled bins, except that a very frequent value has a bin of its own. */
const edgesOf = (values: Float64Array): Float64Array => {
  const { distinct, counts } = countDistinct(values.subarray(0, rowsForEdges))
  const edges: number[] = []
  let left = counts.reduce((sum, count) => sum + count, 0)
  let inBin = 0
  for (let index = 0; index < distinct.length - 1; index++) {
    inBin += counts[index]!
    const full = left / (maxBins - edges.length)
    const closes = distinct.length <= maxBins || inBin >= full || (counts[index + 1]! >= full && inBin > full / 2)
    if (!closes || edges.length === maxBins - 1) continue
    edges.push(between(distinct[index]!, distinct[index + 1]!))
    left -= inBin
    inBin = 0
  }
  return Float64Array.from([...edges, Infinity])
}

const binOf = (edges: Float64Array, value: number): number => {
  let low = 0
  let high = edges.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (value <= edges[middle]!) high = middle
    else low = middle + 1
  }
  return low
}

/** Bins the numbers of one feature (NaN is missing). */
export const binFeature = (feature: Feature, values: Float64Array): BinnedFeature => {
  const bins = sharedBytes(values.length)
  if (feature.kind === 'category') {
    const count = feature.categories.length + (feature.rest ? 1 : 0)
    for (let row = 0; row < bins.length; row++) bins[row] = Number.isNaN(values[row]) ? count : values[row]!
    return { bins, count, edges: new Float64Array(), category: true }
  }
  const edges = edgesOf(values)
  for (let row = 0; row < bins.length; row++) bins[row] = Number.isNaN(values[row]) ? edges.length : binOf(edges, values[row]!)
  return { bins, count: edges.length, edges, category: false }
}

/** A table of binned features, with the offsets of their bins in a histogram. */
export const binTable = (rows: number, features: readonly BinnedFeature[]): BinnedTable => {
  const offsets = new Int32Array(features.length)
  let totalBins = 0
  features.forEach((feature, index) => {
    offsets[index] = totalBins
    totalBins += feature.count + 1
  })
  return { rows, features, offsets, totalBins }
}
