import { foldName } from '../../events/common.js'

/** The edits that turn one name into another; two letters that changed places are one. */
const distance = (a: string, b: string): number => {
  let before: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? Infinity) + 1 : Infinity
      row.push(Math.min(replaced, swapped, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1))
    }
    before = previous
    previous = row
  }
  return previous[b.length] ?? 0
}

/**
 * The known name that is most like a wrong one, or undefined when none is like it.
 *
 * @example nearest('skils', ['skills', 'agents']) // 'skills'
 */
export const nearest = (name: string, known: Iterable<string>): string | undefined => {
  const wanted = foldName(name).slice(0, 100)
  let best: { name: string; distance: number } | undefined
  for (const candidate of known) {
    const edits = distance(wanted, foldName(candidate).slice(0, 100))
    if (edits <= Math.max(1, Math.floor(wanted.length / 3)) && (best === undefined || edits < best.distance))
      best = { name: candidate, distance: edits }
  }
  return best?.name
}

/** The entry under a name, compared without case. */
export const named = <T extends { name: string }>(items: Iterable<T>, name: string): T | undefined => {
  const wanted = foldName(name)
  for (const item of items) if (foldName(item.name) === wanted) return item
  return undefined
}

/**
 * What to do about a name that no column has: the one that may be meant, as it is to be written, or which there are.
 *
 * @example columnHint('sise', ['size', 'price'], (name) => `t.${name}`) // 'Did you mean t.size?'
 */
export const columnHint = (name: string, columns: readonly string[], written: (name: string) => string): string => {
  const like = nearest(name, columns)
  return like === undefined ? `Its columns are ${columns.join(', ')}.` : `Did you mean ${written(like)}?`
}
