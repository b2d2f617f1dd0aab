import { foldName } from '../../events/common.js'
import { closest } from '../basics/nearest.js'

/**
 * The known name that is most similar to a wrong one, or undefined if none is similar.
 *
 * @example similarName('skils', ['skills', 'agents']) // 'skills'
 */
export const similarName = (name: string, known: Iterable<string>): string | undefined => {
  const mostChars = 100
  const mostEdits = Math.max(1, Math.floor(Math.min(foldName(name).length, mostChars) / 3))
  return closest(name, known, { fold: foldName, mostChars, mostEdits })
}

/** The entry under a name, compared without regard to case. */
export const named = <T extends { name: string }>(items: Iterable<T>, name: string): T | undefined => {
  const wanted = foldName(name)
  for (const item of items) if (foldName(item.name) === wanted) return item
  return undefined
}

/**
 * A hint for a name that is no column: the column that may be meant, in the form of the text, or all columns.
 *
 * @example columnHint('sise', ['size', 'price'], (name) => `t.${name}`) // 'Did you mean t.size?'
 */
export const columnHint = (name: string, columns: readonly string[], written: (name: string) => string): string => {
  const like = similarName(name, columns)
  return like === undefined ? `Its columns are ${columns.join(', ')}.` : `Did you mean ${written(like)}?`
}

/**
 * The name of the caller in the form for clients.
 *
 * @example accountOf('ada') // 'ada@localhost'
 */
export const accountOf = (user = 'mindledger'): string => `${user}@localhost`

/** The key of a name in several parts: equal names have the same key. @example nameKey(['files', 'Cars']) // '["files","cars"]' */
export const nameKey = (parts: readonly string[]): string => JSON.stringify(parts.map(foldName))
