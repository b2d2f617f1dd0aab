/**
 * The number of edits that turn one text into another. An edit adds, drops or replaces a letter, or swaps two neighbours.
 *
 * @example editDistance('skils', 'skills') // 1
 */
export const editDistance = (one: string, other: string): number => {
  let before: number[] = []
  let previous = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1)
      const swapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1] ? (before[j - 2] ?? Infinity) + 1 : Infinity
      row.push(Math.min(replaced, swapped, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1))
    }
    before = previous
    previous = row
  }
  return previous[other.length] ?? 0
}

/**
 * The known name that a misspelt one most likely means, compared without case; the first of equally near ones.
 *
 * @example nearest('sqfeet', ['location', 'sqft']) // 'sqft'
 */
export const nearest = (name: string, known: readonly string[]): string => {
  const folded = name.toLowerCase().slice(0, 255)
  const distances = known.map((each) => editDistance(folded, each.toLowerCase()))
  return known[distances.indexOf(Math.min(...distances))] ?? ''
}
