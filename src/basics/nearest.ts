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
 * The number of letter pairs that one search compares, about ten milliseconds. If there are very many long names, only the first ones are
 * compared.
 */
const mostPairs = 1_000_000

type Closeness = { fold: (name: string) => string; mostChars: number; mostEdits: number }

/** The first of the known names nearest to a name; all are folded and cut. Undefined if none is near enough. */
export const closest = (name: string, known: Iterable<string>, { fold, mostChars, mostEdits }: Closeness): string | undefined => {
  const wanted = fold(name).slice(0, mostChars)
  let pairs = 0
  let best: { name: string; edits: number } | undefined
  for (const candidate of known) {
    const other = fold(candidate).slice(0, mostChars)
    // Each additional or missing letter is an edit.
    if (Math.abs(other.length - wanted.length) > Math.min(mostEdits, (best?.edits ?? Infinity) - 1)) continue
    if ((pairs += wanted.length * other.length) > mostPairs) break
    const edits = editDistance(wanted, other)
    if (edits <= mostEdits && edits < (best?.edits ?? Infinity)) best = { name: candidate, edits }
  }
  return best?.name
}

const folding = { fold: (name: string) => name.toLowerCase(), mostChars: 255, mostEdits: Infinity }

/**
 * The known name that a misspelt name most likely means, compared without case; the first one if several are equally near.
 *
 * @example nearest('sqfeet', ['location', 'sqft']) // 'sqft'
 */
export const nearest = (name: string, known: readonly string[]): string => closest(name, known, folding) ?? known[0] ?? ''
