/** Quantiles are kept for the levels .001, .002 … .999. */
export const quantileLevels = 999

/**
 * The quantiles of some numbers. `size` is the assumed count of the numbers: a larger one raises each level, which is the usual
 * finite-sample correction. For n numbers, the size n + 1 gives the ⌈(n + 1) × level⌉-th smallest.
 */
export const quantilesOf = (numbers: ArrayLike<number>, size: number): Float64Array => {
  const sorted = Float64Array.from(numbers).sort()
  return Float64Array.from({ length: quantileLevels }, (_, index) => {
    const rank = Math.ceil((size * (index + 1)) / 1000 - 1e-9)
    return sorted[Math.min(rank, sorted.length) - 1] ?? 0
  })
}

/** The stored quantile of a level. Between two stored levels it is the higher one, so that an interval is never too narrow. */
export const quantileAt = (quantiles: Float64Array, level: number): number =>
  quantiles[Math.min(Math.ceil(level * 1000 - 1e-9), quantileLevels) - 1]!
