/** How many letters have to be added, dropped or replaced to turn one text into the other (Levenshtein). */
const distance = (one: string, other: string): number => {
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const replaced = previous[column - 1]! + (one[row - 1] === other[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, previous[column]! + 1, current[column - 1]! + 1))
    }
    previous = current
  }
  return previous[other.length]!
}

/**
 * The known name that a misspelt one most likely means, compared without case; the first of equally near ones.
 *
 * @example nearest('sqfeet', ['location', 'sqft']) // 'sqft'
 */
export const nearest = (name: string, known: readonly string[]): string => {
  const folded = name.toLowerCase().slice(0, 255)
  const distances = known.map((each) => distance(folded, each.toLowerCase()))
  return known[distances.indexOf(Math.min(...distances))] ?? ''
}
