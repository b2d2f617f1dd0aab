import { Random } from '../../../src/models/numerics/random.js'

/** So many values of a function of the time. */
export const series = (length: number, at: (t: number) => number): Float64Array => Float64Array.from({ length }, (_, t) => at(t))

/** Numbers of about a standard normal distribution, the same for the same seed. */
export const noise = (seed: number): (() => number) => {
  const random = new Random(seed)
  return () => {
    let sum = -6
    for (let i = 0; i < 12; i++) sum += random.next() / 4_294_967_296
    return sum
  }
}
