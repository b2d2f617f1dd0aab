import { binCodes, type BinnedTable } from './bins.js'
import type { Histogram } from './histogram.js'

export type SplitRules = {
  minRows: number
  /** Added to every hessian sum, so that few rows have little influence. */
  l2: number
  /** Added to a category's hessian sum when categories are ordered, so that rare ones stay in the middle. */
  categorySmoothing: number
  /** Added to the hessian sums of a category split: subsets fit noise more easily than thresholds. */
  categoryL2: number
}

/** Sums over the rows of a leaf; `rows` is exact. */
export type LeafSums = { gradient: number; hessian: number; rows: number }

/**
 * A way to split a leaf. `threshold` is the last bin that goes left; for a category, the last index of `order` (the sorted bins of the
 * leaf) that does. The sums are those of the left side.
 */
export type Split = {
  feature: number
  gain: number
  gradient: number
  hessian: number
  threshold: number
  order: readonly number[] | undefined
  missingLeft: boolean
  /** The side of rows whose bin does not occur in the leaf: whether they go left. */
  unseenLeft: boolean
}

/** Smaller sums are rounding errors. */
const leastHessian = 1e-6

const score = (gradient: number, hessian: number, l2: number): number => (gradient * gradient) / (hessian + l2)

/** The score of a split into two sides: the sum of both scores, with a single division. */
const scoreSides = (left: number, leftHessian: number, right: number, rightHessian: number, l2: number): number => {
  const [ofLeft, ofRight] = [leftHessian + l2, rightHessian + l2]
  return (left * left * ofRight + right * right * ofLeft) / (ofLeft * ofRight)
}

/** The best cut of a sequence of bins in a given order, as found by `scan`. */
type Cut = { gain: number; after: number; missingLeft: boolean; gradient: number; hessian: number }

/**
 * Walks the bins of a numeric feature once and tries each edge with the missing rows on either side.
 * The first of equal gains wins, which keeps growth deterministic.
 */
const scanNumeric = (histogram: Histogram, offset: number, count: number, sums: LeafSums, rules: SplitRules, cut: Cut): void => {
  const { gradient, hessian } = sums
  const least = Math.max(leastHessian, (rules.minRows / sums.rows) * hessian * (1 - 1e-9))
  const l2 = rules.l2
  const missingAt = 2 * (offset + count)
  const missingGradient = histogram[missingAt]!
  const missingHessian = histogram[missingAt + 1]!
  const someMissing = missingHessian > leastHessian
  const last = someMissing ? count : count - 1
  let left = 0
  let leftHessian = 0
  for (let bin = 0; bin < last; bin++) {
    const at = 2 * (offset + bin)
    const inBin = histogram[at + 1]!
    // The leaf has no rows in this bin, so its edge cuts like the previous one. Most bins of a small leaf are empty.
    if (inBin <= leastHessian && bin < last - 1) continue
    left += histogram[at]!
    leftHessian += inBin
    const rightHessian = hessian - leftHessian
    if (leftHessian >= least && rightHessian >= least) {
      const gain = scoreSides(left, leftHessian, gradient - left, rightHessian, l2)
      if (gain > cut.gain) setCut(cut, gain, bin, false, left, leftHessian)
    }
    if (!someMissing) {
      if (rightHessian < least) return
      continue
    }
    const [both, withMissing] = [left + missingGradient, leftHessian + missingHessian]
    if (withMissing >= least && hessian - withMissing >= least) {
      const gain = scoreSides(both, withMissing, gradient - both, hessian - withMissing, l2)
      if (gain > cut.gain) setCut(cut, gain, bin, true, both, withMissing)
    }
  }
}

const setCut = (cut: Cut, gain: number, after: number, missingLeft: boolean, gradient: number, hessian: number): void => {
  cut.gain = gain
  cut.after = after
  cut.missingLeft = missingLeft
  cut.gradient = gradient
  cut.hessian = hessian
}

/** By bin: the mean of a category, while categories are sorted. */
const means = new Float64Array(binCodes)
const byMean = (one: number, other: number): number => means[one]! - means[other]! || one - other

/** The bins that occur in the leaf (including the one for missing values), ordered by their smoothed mean gradient. */
const orderCategories = (histogram: Histogram, offset: number, count: number, smoothing: number): number[] => {
  const present: number[] = []
  for (let bin = 0; bin <= count; bin++) {
    const hessian = histogram[2 * (offset + bin) + 1]!
    if (hessian <= leastHessian) continue
    present.push(bin)
    means[bin] = histogram[2 * (offset + bin)]! / (hessian + smoothing)
  }
  return present.sort(byMean)
}

/** Tries each prefix of the ordered categories as the left side. The best subset is always such a prefix (Fisher 1958). */
const scanCategories = (
  histogram: Histogram,
  offset: number,
  order: readonly number[],
  sums: LeafSums,
  rules: SplitRules,
  cut: Cut,
): void => {
  const least = Math.max(leastHessian, (rules.minRows / sums.rows) * sums.hessian * (1 - 1e-9))
  const l2 = rules.l2 + rules.categoryL2
  let left = 0
  let leftHessian = 0
  for (let index = 0; index < order.length - 1; index++) {
    const at = 2 * (offset + order[index]!)
    left += histogram[at]!
    leftHessian += histogram[at + 1]!
    if (leftHessian < least) continue
    if (sums.hessian - leftHessian < least) return
    const gain = scoreSides(left, leftHessian, sums.gradient - left, sums.hessian - leftHessian, l2)
    if (gain > cut.gain) setCut(cut, gain, index, false, left, leftHessian)
  }
}

/**
 * Writes for each bin of the split's feature whether its rows go left; the bin `count` means missing. Called only for splits that are used,
 * which most found splits are not.
 */
export const writeSides = ({ order, threshold, missingLeft, unseenLeft }: Split, count: number, left: Uint8Array): void => {
  if (order) {
    left.fill(unseenLeft ? 1 : 0, 0, count + 1)
    for (let index = 0; index < order.length; index++) left[order[index]!] = index <= threshold ? 1 : 0
    return
  }
  left.fill(1, 0, threshold + 1).fill(0, threshold + 1, count)
  left[count] = missingLeft ? 1 : 0
}

/** The split of a leaf with the highest gain, or `undefined` when no allowed split has more than the least gain. */
export const bestSplit = (
  histogram: Histogram,
  table: BinnedTable,
  features: Int32Array,
  sums: LeafSums,
  rules: SplitRules,
  leastGain: number,
): Split | undefined => {
  const floor = score(sums.gradient, sums.hessian, rules.l2)
  const cut: Cut = { gain: floor + leastGain, after: -1, missingLeft: false, gradient: 0, hessian: 0 }
  let found = -1
  let foundOrder: readonly number[] | undefined
  for (const feature of features) {
    const { count, category } = table.features[feature]!
    const offset = table.offsets[feature]!
    const before = cut.gain
    const order = category ? orderCategories(histogram, offset, count, rules.categorySmoothing) : undefined
    if (order) scanCategories(histogram, offset, order, sums, rules, cut)
    else scanNumeric(histogram, offset, count, sums, rules, cut)
    if (cut.gain > before) {
      found = feature
      foundOrder = order
    }
  }
  if (found < 0) return undefined
  const { gradient, hessian, after } = cut
  const { count } = table.features[found]!
  const unseenLeft = hessian * 2 >= sums.hessian
  const someMissing = histogram[2 * (table.offsets[found]! + count) + 1]! > leastHessian
  const seenLeft = foundOrder ? foundOrder.indexOf(count) <= after : cut.missingLeft
  const missingLeft = someMissing ? seenLeft : unseenLeft
  return { feature: found, gain: cut.gain - floor, gradient, hessian, threshold: after, order: foundOrder, missingLeft, unseenLeft }
}
