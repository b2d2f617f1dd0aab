/** One corner of the simplex: its point and the function's value there. */
type Corner = { at: Float64Array; value: number }

const clipped = (at: Float64Array, lower: readonly number[], upper: readonly number[]): Float64Array =>
  at.map((value, i) => Math.min(Math.max(value, lower[i]!), upper[i]!))

/**
 * Minimises a function inside a box by Nelder and Mead's simplex, which needs no derivative: steps are reflected, expanded or shrunk, and
 * clipped to the box. Ends when the corners agree to 1e-5 of the value or the evaluations are used up.
 *
 * @example minimise(([x]) => (x - 2) * (x - 2), [0], [-5], [5], 200).at // [2.000…]
 */
export const minimise = (
  score: (at: Float64Array) => number,
  start: readonly number[],
  lower: readonly number[],
  upper: readonly number[],
  most: number,
): Corner => {
  let spent = 0
  const corner = (at: Float64Array): Corner => {
    spent++
    const inside = clipped(at, lower, upper)
    const value = score(inside)
    return { at: inside, value: Number.isFinite(value) ? value : Infinity }
  }
  const first = Float64Array.from(start)
  const corners = [corner(first)]
  for (let i = 0; i < start.length; i++) {
    const at = first.slice()
    const step = (upper[i]! - lower[i]!) / 4
    at[i] = first[i]! + (first[i]! + step > upper[i]! ? -step : step)
    corners.push(corner(at))
  }
  while (spent < most) {
    corners.sort((one, other) => one.value - other.value)
    const [best, worst] = [corners[0]!, corners.at(-1)!]
    if (worst.value - best.value <= 1e-5 * (1 + Math.abs(best.value))) break
    const rest = corners.slice(0, -1)
    const centre = first.map((_, i) => rest.reduce((sum, { at }) => sum + at[i]!, 0) / rest.length)
    const towards = (factor: number) => corner(centre.map((middle, i) => middle + factor * (middle - worst.at[i]!)))
    const reflected = towards(1)
    if (reflected.value < best.value) {
      const stretched = towards(2)
      corners[corners.length - 1] = stretched.value < reflected.value ? stretched : reflected
    } else if (reflected.value < rest.at(-1)!.value) corners[corners.length - 1] = reflected
    else {
      const nearer = towards(reflected.value < worst.value ? 0.5 : -0.5)
      if (nearer.value < Math.min(worst.value, reflected.value)) corners[corners.length - 1] = nearer
      else for (let i = 1; i < corners.length; i++) corners[i] = corner(corners[i]!.at.map((value, k) => (value + best.at[k]!) / 2))
    }
  }
  return corners.reduce((one, other) => (other.value < one.value ? other : one))
}
