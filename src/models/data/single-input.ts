import type { MatrixColumn } from './matrix.js'

/** The most rows that are examined: they are shuffled, so the first ones are a fair sample. */
const rowsLookedAt = 20_000
/** The number of equally filled ranges that numbers are divided into, and the most distinct values that are treated one by one. */
const ranges = 32
/** Groups need this many rows on average. With fewer, their relation to the target may be chance. */
const rowsPerGroup = 10
/** Classes with fewer rows do not show the range of their numbers. */
const rowsOfClass = 5
const rowsOfLine = 20
/** Most numbers of a class lie between these quantiles. */
const [low, high] = [0.05, 0.95]
/** The least gap between the numbers of two classes, relative to the width of the narrower class, at which the number reveals the class. */
const farApart = 0.5

type Groups = { group: ArrayLike<number>; count: number }

const missing = 0

/** The bounds that divide the sorted numbers into equally filled ranges. */
const equalBounds = (numbers: Float64Array): number[] => {
  const sorted = numbers.filter((value) => !Number.isNaN(value)).sort()
  return Array.from({ length: ranges - 1 }, (_, i) => sorted[Math.floor(((i + 1) * sorted.length) / ranges)]!)
}

const byBounds = (numbers: Float64Array, bounds: readonly number[]): Groups => ({
  group: numbers.map((value) => (Number.isNaN(value) ? missing : 1 + bounds.filter((bound) => bound <= value).length)),
  count: bounds.length + 2,
})

/** The distinct numbers as bounds, if they are few enough to be treated one by one. */
const fewValues = (numbers: Float64Array): number[] | undefined => {
  const values = new Set<number>()
  for (const value of numbers) {
    if (!Number.isNaN(value)) values.add(value)
    if (values.size > ranges) return undefined
  }
  return [...values]
}

/**
 * Bounds between the classes, if each class has a separate range of numbers. Undefined if the ranges only touch, as when a threshold
 * decides the class: a score that determines a grade is not a leak.
 */
const boundsOfClasses = (numbers: Float64Array, labels: Float64Array, classes: number): number[] | undefined => {
  const places = Array.from({ length: classes }, (_, place) => {
    const own = numbers.filter((value, row) => labels[row] === place && !Number.isNaN(value)).sort()
    const at = (share: number) => own[Math.floor(share * (own.length - 1))]!
    return own.length < rowsOfClass ? undefined : { from: at(low), to: at(high) }
  })
  const known = places.filter((place) => place !== undefined).sort((one, other) => one.from - other.from || one.to - other.to)
  const pairs = known.slice(1).map((upper, i) => ({ lower: known[i]!, upper }))
  const areApart = pairs.every(({ lower, upper }) => {
    const gap = upper.from - lower.to
    return gap > 0 && gap >= farApart * Math.min(lower.to - lower.from, upper.to - upper.from)
  })
  return areApart ? pairs.map(({ lower, upper }) => (lower.to + upper.from) / 2) : undefined
}

const groupsOf = (column: MatrixColumn, labels: Float64Array, classes: number): Groups | undefined => {
  if (column.type === 'text')
    return { group: column.codes.subarray(0, labels.length).map((code) => code + 1), count: column.dictionary.length + 1 }
  const numbers = column.numbers.subarray(0, labels.length)
  const bounds = fewValues(numbers) ?? (classes > 0 ? boundsOfClasses(numbers, labels, classes) : equalBounds(numbers))
  return bounds && byBounds(numbers, bounds)
}

/** The share of the target's variance (of the classes' Gini impurity) that the groups explain. */
const shareOfGroups = ({ group, count }: Groups, labels: Float64Array, classes: number): number => {
  if (count * rowsPerGroup > labels.length) return 0
  const outputs = Math.max(classes, 1)
  const sums = new Float64Array(count * outputs)
  const sizes = new Float64Array(count)
  const totals = new Float64Array(outputs)
  let squares = 0
  for (let row = 0; row < labels.length; row++) {
    const [output, value] = classes > 0 ? [labels[row]!, 1] : [0, labels[row]!]
    const at = group[row]!
    sums[at * outputs + output] = sums[at * outputs + output]! + value
    sizes[at] = sizes[at]! + 1
    totals[output] = totals[output]! + value
    squares += value * value
  }
  const between = sums.reduce((total, sum, index) => total + (sum === 0 ? 0 : (sum * sum) / sizes[Math.floor(index / outputs)]!), 0)
  const mean = totals.reduce((total, sum) => total + sum * sum, 0) / labels.length
  return squares > mean ? (between - mean) / (squares - mean) : 0
}

/** The share of the target's variance that a straight line explains. All rows count; in rows without a number it explains nothing. */
const shareOfLine = (numbers: Float64Array, labels: Float64Array): number => {
  const rows = [...labels.keys()].filter((row) => !Number.isNaN(numbers[row]))
  if (rows.length < rowsOfLine) return 0
  const mean = (values: Float64Array) => rows.reduce((sum, row) => sum + values[row]!, 0) / rows.length
  const [meanNumber, meanLabel] = [mean(numbers), mean(labels)]
  let [numberSquares, labelSquares, products] = [0, 0, 0]
  for (const row of rows) {
    const [x, y] = [numbers[row]! - meanNumber, labels[row]! - meanLabel]
    numberSquares += x * x
    labelSquares += y * y
    products += x * y
  }
  const share = numberSquares > 0 && labelSquares > 0 ? (products / numberSquares) * (products / labelSquares) : 0
  return (share * rows.length) / labels.length
}

/**
 * The share of the target that one input explains on its own: of its variance, or of the Gini impurity of its classes.
 *
 * @param all the target's values, or the indexes of its `classes`; `classes` is 0 for values
 * @example shareExplained(column, labels, 0) // 0.998 for a copy with little noise
 */
export const shareExplained = (column: MatrixColumn, all: Float64Array, classes: number): number => {
  const labels = all.subarray(0, rowsLookedAt)
  const groups = groupsOf(column, labels, classes)
  const share = groups ? shareOfGroups(groups, labels, classes) : 0
  return column.type === 'text' || classes > 0 ? share : Math.max(share, shareOfLine(column.numbers, labels))
}
