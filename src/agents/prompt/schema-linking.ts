import { LRUCache } from 'lru-cache'
import { foldName } from '../../../events/common.js'
import { limits } from '../../basics/limits.js'
import type { ScopeTable } from '../scope/tables-in.js'

/** The words of a text, folded and shortened to their beginnings, so that `orders` matches `order`. */
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

/** `isLearned`: the columns are those of the table, and not words of a view's query. */
type Words = { name: ReadonlySet<string>; columns: ReadonlySet<string>; isLearned: boolean }

type KnownTable = Pick<ScopeTable, 'path' | 'state' | 'query'> & { columns?: readonly { name: string }[] }

/** The words of tables and of their columns, kept for each state of a table. The query of a view has the names of most of its columns. */
class TableWords {
  readonly #kept = new LRUCache<string, Words>({
    maxSize: limits.agentTableWordsKept,
    sizeCalculation: ({ name, columns }) => 1 + name.size + columns.size,
  })

  of(table: KnownTable): Words {
    const known = this.#kept.get(keyOf(table))
    return known && (known.isLearned || !table.columns) ? known : this.keep(table)
  }

  keep(table: KnownTable): Words {
    const { path, columns, query = '' } = table
    const words = {
      name: wordsOf(path.slice(1).join(' ')),
      columns: wordsOf(columns?.map(({ name }) => name).join(' ') ?? query),
      isLearned: columns !== undefined,
    }
    this.#kept.set(keyOf(table), words)
    return words
  }
}

const keyOf = ({ path, state }: KnownTable): string => JSON.stringify([path, state])

/** Finds the right tables for a question. */
export class TableLinks {
  readonly #words = new TableWords()

  /** Keeps the columns of a table that was described or listed. */
  learn(table: ScopeTable, columns: readonly { name: string }[]): void {
    this.#words.keep({ ...table, columns })
  }

  /** Whether the columns of a table were learned, even if it has none. */
  knows(table: ScopeTable): boolean {
    return this.#words.of(table).isLearned
  }

  /**
   * Tables ordered by how well they fit the question: by the words of their names, then of their columns. Equal tables keep their order.
   *
   * @example links.linked(tables, 'Which customers ordered most?')[0]?.path // ['shop', 'customer_orders']
   */
  linked(tables: readonly ScopeTable[], asked: string): ScopeTable[] {
    const words = wordsOf(asked)
    const scored = tables.map((table, place) => {
      const { name, columns } = this.#words.of(table)
      return { table, place, score: 3 * share(name, words) + share(columns, words) }
    })
    return scored.sort((a, b) => b.score - a.score || a.place - b.place).map(({ table }) => table)
  }
}
