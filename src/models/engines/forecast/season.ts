/** Values of a series in the order of its grid; NaN for a gap. */
export type Values = Float64Array

/** Fills gaps linearly between their neighbours; at the ends, with the only neighbour. */
export const filled = (values: Values): Values => {
  const out = values.slice()
  const first = values.findIndex((value) => !Number.isNaN(value))
  let last = Math.max(first, 0)
  out.fill(values[last]!, 0, last)
  for (let t = last + 1; t < out.length; t++) {
    if (Number.isNaN(values[t])) continue
    for (let gap = last + 1; gap < t; gap++) out[gap] = values[last]! + ((values[t]! - values[last]!) * (gap - last)) / (t - last)
    last = t
  }
  return out.fill(values[last]!, last)
}

/** The 90 % quantile of some sizes; 0 for none. Sorts them in place. */
export const usualSize = (sizes: Float64Array): number => sizes.sort()[Math.floor(0.9 * (sizes.length - 1))] ?? 0

/**
 * The mean over one season around each time; NaN at the ends. In a season of even length, the two outermost values have half the weight.
 */
const movingMean = (values: Values, season: number): Values => {
  const out = new Float64Array(values.length).fill(NaN)
  const half = Math.floor(season / 2)
  const even = season % 2 === 0
  for (let t = half; t + half < values.length; t++) {
    let sum = 0
    for (let at = t - half; at <= t + half; at++) sum += values[at]! * (even && (at === t - half || at === t + half) ? 0.5 : 1)
    out[t] = sum / season
  }
  return out
}

/** The least-squares line through values: its value at time 0, and its slope. */
export const lineThrough = (values: Values, count = values.length): { start: number; slope: number } => {
  let [times, sum, product, squares] = [0, 0, 0, 0]
  const middle = (count - 1) / 2
  for (let t = 0; t < count; t++) {
    times += t
    sum += values[t]!
    product += (t - middle) * values[t]!
    squares += (t - middle) * (t - middle)
  }
  const slope = squares > 0 ? product / squares : 0
  return { start: (sum - slope * times) / count, slope }
}

/** A series without its trend: a moving mean if there are three seasons, else a straight line. */
const detrended = (values: Values, season: number): Values => {
  if (values.length >= 3 * season) {
    const trend = movingMean(values, season)
    return values.map((value, t) => value - trend[t]!)
  }
  const { start, slope } = lineThrough(values)
  return values.map((value, t) => value - start - slope * t)
}

/** The mean of the values at each position of the season, without NaN. */
const meansBySeason = (values: Values, season: number): Float64Array => {
  const [sums, counts] = [new Float64Array(season), new Float64Array(season)]
  values.forEach((value, t) => {
    if (Number.isNaN(value)) return
    sums[t % season] = sums[t % season]! + value
    counts[t % season] = counts[t % season]! + 1
  })
  return sums.map((sum, place) => (counts[place]! > 0 ? sum / counts[place]! : 0))
}

/** The share of the variation around the trend that a season of this length explains. */
const fitOf = (values: Values, season: number): { ratio: number; criterion: number } => {
  const rest = detrended(values, season)
  const means = meansBySeason(rest, season)
  let [before, after, count] = [0, 0, 0]
  rest.forEach((value, t) => {
    if (Number.isNaN(value)) return
    before += value * value
    after += (value - means[t % season]!) * (value - means[t % season]!)
    count++
  })
  const spare = count - season
  if (spare < 1 || before <= 0) return { ratio: 0, criterion: Infinity }
  const floor = Math.max(after, before * 1e-12)
  return { ratio: (before - after) / (season - 1) / (floor / spare), criterion: Math.log(floor / count) + (2 * season) / count }
}

/** About the 1 % critical value of the ratio without a season, whose variance is about 2 / (season - 1). */
const leastRatio = (season: number): number => 1 + 3 * Math.sqrt(2 / (season - 1))

/**
 * The clear season of a series among the possible ones, or 1 for none. The series must have two whole seasons, and the season must explain
 * more than chance would (an F ratio). If several qualify, the one with the lowest information criterion is chosen.
 *
 * @example findSeason(values, [12]) // 12
 */
export const findSeason = (values: Values, seasons: readonly number[]): number => {
  let best = { season: 1, criterion: Infinity }
  const whole = filled(values)
  for (const season of seasons) {
    if (whole.length < 2 * season + 2) continue
    const { ratio, criterion } = fitOf(whole, season)
    if (ratio > leastRatio(season) && criterion < best.criterion) best = { season, criterion }
  }
  return best.season
}

/**
 * The shape of a season: for each position the number to add to the trend (their sum is 0), or the factor of the trend (their mean is 1).
 * The values must have no gaps.
 */
export const seasonShape = (values: Values, season: number, multiplicative: boolean): Float64Array => {
  const trend = movingMean(values, season)
  const means = meansBySeason(
    values.map((value, t) => (multiplicative ? value / trend[t]! : value - trend[t]!)),
    season,
  )
  const mean = means.reduce((sum, value) => sum + value, 0) / season
  return means.map((value) => (multiplicative ? value / mean : value - mean))
}
