import { foldName } from '../../../events/common.js'
import type { ScopeTable } from '../scope/tables-in.js'

/** The words of a text, folded, each with its beginning alone, so that `orders` meets `order`. */
const wordsOf = (text: string): Set<string> => {
  const spaced = text.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
  const words = foldName(spaced).match(/[\p{L}\p{N}]+/gu) ?? []
  return new Set(words.filter((word) => word.length > 1).map((word) => (word.length > 4 ? word.replace(/(?:ies|es|s|y)$/, '') : word)))
}

const share = (of: ReadonlySet<string>, asked: ReadonlySet<string>): number => {
  let found = 0
  for (const word of of) if (asked.has(word)) found += 1
  return found
}

/**
 * Tables in the order in which they fit what is asked: by the words of their names, then of their columns. Those that fit equally keep
 * their order.
 *
 * @example linked(tables, 'Which customers ordered most?')[0]?.path // ['shop', 'customer_orders']
 */
export const linked = (tables: readonly ScopeTable[], asked: string): ScopeTable[] => {
  const words = wordsOf(asked)
  const scored = tables.map((table, place) => ({
    table,
    place,
    score:
      3 * share(wordsOf(table.path.slice(1).join(' ')), words) +
      share(wordsOf((table.columns ?? []).map(({ name }) => name).join(' ')), words),
  }))
  return scored.sort((a, b) => b.score - a.score || a.place - b.place).map(({ table }) => table)
}
