import { limits } from '../../basics/limits.js'

export type ColumnRename = { from: string; to: string }

/** SQL compares column names without case, so `ID` and `id` would be the same name. */
const fold = (name: string) => name.normalize('NFC').toLowerCase()

const cut = (name: string, suffix = '') => name.slice(0, limits.nameMaxChars - suffix.length).replace(/\p{Cs}$/u, '') + suffix

/** Control characters and line breaks become blanks, outer blanks are removed; an empty name becomes `column_<n>`. */
const tidy = (name: string, index: number): string => {
  const tidied = name
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\ufeff]+/gu, ' ')
    .trim()
    .normalize('NFC')
  return cut(tidied === '' ? `column_${index + 1}` : tidied)
}

/**
 * Makes a table's column names valid and unique, always in the same way: the first of equal names keeps it, the next ones become `x_1`,
 * `x_2`, skipping names that the file itself has. Changes are reported.
 *
 * @example columnNames(['x', 'X', '']) // { names: ['x', 'X_1', 'column_3'], renamed: [{ from: 'X', to: 'X_1' }, { from: '', to: 'column_3' }] }
 */
export const columnNames = (given: readonly string[]): { names: string[]; renamed: ColumnRename[] } => {
  const tidied = given.map(tidy)
  const reserved = new Set(tidied.map(fold))
  const used = new Set<string>()
  // The next number to try for each name, so that thousands of equal names are not counted from 1 each.
  const next = new Map<string, number>()
  const free = (name: string): string => {
    for (let n = next.get(fold(name)) ?? 1; ; n++) {
      const candidate = cut(name, `_${n}`)
      if (reserved.has(fold(candidate)) || used.has(fold(candidate))) continue
      next.set(fold(name), n + 1)
      return candidate
    }
  }
  const names = tidied.map((name) => {
    const unique = used.has(fold(name)) ? free(name) : name
    used.add(fold(unique))
    return unique
  })
  const renamed = given.map((from, index) => ({ from, to: names[index] ?? '' })).filter(({ from, to }) => from !== to)
  return { names, renamed }
}
