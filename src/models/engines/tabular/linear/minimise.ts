const remembered = 8
const mostSteps = 60
const enough = 1e-4

/** A smooth function: fills the gradient and returns the value. */
export type SmoothFunction = (point: Float64Array, gradient: Float64Array) => number

const product = (one: Float64Array, other: Float64Array): number => {
  let sum = 0
  for (let index = 0; index < one.length; index++) sum += one[index]! * other[index]!
  return sum
}

const addScaled = (into: Float64Array, factor: number, from: Float64Array): void => {
  for (let index = 0; index < into.length; index++) into[index] = into[index]! + factor * from[index]!
}

type Memory = { step: Float64Array; change: Float64Array; curvature: number }

/** The quasi-Newton direction from the last steps and their changes of the gradient (the two loops of L-BFGS). */
const direction = (gradient: Float64Array, memory: readonly Memory[]): Float64Array => {
  const result = gradient.map((value) => -value)
  const factors = memory.map(() => 0)
  for (let index = memory.length - 1; index >= 0; index--) {
    const { step, change, curvature } = memory[index]!
    factors[index] = product(step, result) / curvature
    addScaled(result, -factors[index]!, change)
  }
  const last = memory.at(-1)
  const scale = last ? last.curvature / product(last.change, last.change) : 1 / Math.max(1, Math.sqrt(product(gradient, gradient)))
  for (let index = 0; index < result.length; index++) result[index] = result[index]! * scale
  memory.forEach(({ step, change, curvature }, index) => addScaled(result, factors[index]! - product(change, result) / curvature, step))
  return result
}

/** Minimises a convex function from zero by L-BFGS with backtracking. The limit is a fixed number of steps, never the clock. */
export const minimise = (size: number, smooth: SmoothFunction): Float64Array => {
  let point = new Float64Array(size)
  let gradient = new Float64Array(size)
  let value = smooth(point, gradient)
  const small = enough * Math.sqrt(product(gradient, gradient))
  const memory: Memory[] = []
  for (let taken = 0; taken < mostSteps && Math.sqrt(product(gradient, gradient)) > small; taken++) {
    const way = direction(gradient, memory)
    const slope = product(way, gradient)
    const nextGradient = new Float64Array(size)
    let length = 1
    let next = point
    let nextValue = Infinity
    for (let halved = 0; halved < 30 && !(nextValue <= value + 1e-4 * length * slope); halved++) {
      if (halved > 0) length /= 2
      next = Float64Array.from(point)
      addScaled(next, length, way)
      nextValue = smooth(next, nextGradient)
    }
    if (!(nextValue < value)) break
    const step = next.map((coordinate, index) => coordinate - point[index]!)
    const change = nextGradient.map((slopeThere, index) => slopeThere - gradient[index]!)
    const curvature = product(step, change)
    if (curvature > 1e-12) memory.push({ step, change, curvature })
    if (memory.length > remembered) memory.shift()
    point = next
    value = nextValue
    gradient = nextGradient
  }
  return point
}
