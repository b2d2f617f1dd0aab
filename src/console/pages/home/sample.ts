/** Pseudo-random numbers between 0 and 1, the same ones each time. */
const numbers = (): (() => number) => {
  let state = 42
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

/** The districts, and the extra rent per month in each. */
const districts = [
  ['harbour', 260],
  ['market', 90],
  ['old town', 140],
  ['hillside', 0],
] as const

/** An invented table of homes with rents, as CSV. A model can learn from it what a rent depends on. */
export const sampleHomes = (rows = 600): string => {
  const next = numbers()
  const lines = Array.from({ length: rows }, () => {
    const size = Math.round(25 + 110 * next())
    const rooms = Math.max(1, Math.round(size / 28 + next()))
    const [district, more] = districts[Math.floor(next() * districts.length)] ?? districts[0]
    const built = Math.round(1900 + 124 * next())
    const rent = Math.round(180 + 9.5 * size + 35 * rooms + more + (built > 2000 ? 120 : 0) + 120 * (next() - 0.5))
    return `${size},${rooms},${district},${built},${rent}`
  })
  return `size,rooms,district,built,rent\n${lines.join('\n')}\n`
}
