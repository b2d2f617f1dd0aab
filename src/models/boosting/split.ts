import type { BinnedTable } from './bins.js'
import type { Histogram } from './histogram.js'

export type SplitRules = {
  minRows: number
  /** Added to every hessian sum, so that few rows cannot claim much. */
  l2: number
  /** Added to a category's hessian sum when categories are ordered, so that rare ones stay in the middle. */
  categorySmoothing: number
  /** Added to the hessian sums of a category split: subsets fit noise more easily than thresholds. */
  categoryL2: number
}

/** Sums over the rows of a leaf; `rows` is exact. */
export type LeafSums = { gradient: number; hessian: number; rows: number }

/** `left[bin]` is 1 where rows of this bin go left; the bin `count` stands for missing. */
export type Split = {
  feature: number
  gain: number
  left: Uint8Array
  gradient: number
  hessian: number
  threshold: number
  missingLeft: boolean
}

/** Sums below this are what rounding leaves of nothing. */
const leastHessian = 1e-6
const leastGain = 1e-9

const score = (gradient: number, hessian: number, l2: number): number => (gradient * gradient) / (hessian + l2)

/** What a cut into two sides scores, `score` of both added up with a single division. */
const scoreSides = (left: number, leftHessian: number, right: number, rightHessian: number, l2: number): number => {
  const [ofLeft, ofRight] = [leftHessian + l2, rightHessian + l2]
  return (left * left * ofRight + right * right * ofLeft) / (ofLeft * ofRight)
}

/** The best cut of a row of bins in a given order, as found by `scan`. */
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
    // Nothing of the leaf is in this bin, so its edge cuts like the one before. Most bins of a small leaf are empty.
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

/** The bins present in the leaf (missing is one of them), ordered by their smoothed mean gradient. */
const orderCategories = (histogram: Histogram, offset: number, count: number, smoothing: number): number[] => {
  const present: number[] = []
  const means = new Float64Array(count + 1)
  for (let bin = 0; bin <= count; bin++) {
    const hessian = histogram[2 * (offset + bin) + 1]!
    if (hessian <= leastHessian) continue
    present.push(bin)
    means[bin] = histogram[2 * (offset + bin)]! / (hessian + smoothing)
  }
  return present.sort((one, other) => means[one]! - means[other]! || one - other)
}

/** Tries each prefix of the ordered categories as the left side: the best subset is one of them (Fisher 1958). */
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

const numericSides = (count: number, cut: Cut): Uint8Array => {
  const left = new Uint8Array(count + 1).fill(1, 0, cut.after + 1)
  left[count] = cut.missingLeft ? 1 : 0
  return left
}

/** Categories that the leaf has not seen go with the larger side. */
const categorySides = (count: number, order: readonly number[], cut: Cut, hessian: number): Uint8Array => {
  const leftIsLarger = cut.hessian * 2 >= hessian
  const left = new Uint8Array(count + 1).fill(leftIsLarger ? 1 : 0)
  order.forEach((bin, index) => (left[bin] = index <= cut.after ? 1 : 0))
  return left
}

/** The split of a leaf that gains most, or `undefined` when none gains anything within the rules. */
export const bestSplit = (
  histogram: Histogram,
  table: BinnedTable,
  features: Int32Array,
  sums: LeafSums,
  rules: SplitRules,
): Split | undefined => {
  const floor = score(sums.gradient, sums.hessian, rules.l2)
  const cut: Cut = { gain: floor + leastGain, after: -1, missingLeft: false, gradient: 0, hessian: 0 }
  let found = -1
  let foundOrder: readonly number[] = []
  for (const feature of features) {
    const { count, category } = table.features[feature]!
    const offset = table.offsets[feature]!
    const before = cut.gain
    const order = category ? orderCategories(histogram, offset, count, rules.categorySmoothing) : []
    if (category) scanCategories(histogram, offset, order, sums, rules, cut)
    else scanNumeric(histogram, offset, count, sums, rules, cut)
    if (cut.gain > before) {
      found = feature
      foundOrder = order
    }
  }
  if (found < 0) return undefined
  return describeSplit(table, found, foundOrder, histogram, cut, sums, cut.gain - floor)
}

const describeSplit = (
  table: BinnedTable,
  feature: number,
  order: readonly number[],
  histogram: Histogram,
  cut: Cut,
  sums: LeafSums,
  gain: number,
): Split => {
  const { count, category } = table.features[feature]!
  const { gradient, hessian } = cut
  if (!category) {
    const noneMissing = histogram[2 * (table.offsets[feature]! + count) + 1]! <= leastHessian
    // Nothing was learned about missing here: it goes with the larger side.
    if (noneMissing) cut.missingLeft = hessian * 2 >= sums.hessian
    return { feature, gain, gradient, hessian, threshold: cut.after, missingLeft: cut.missingLeft, left: numericSides(count, cut) }
  }
  const left = categorySides(count, order, cut, sums.hessian)
  return { feature, gain, gradient, hessian, threshold: -1, missingLeft: left[count] === 1, left }
}
