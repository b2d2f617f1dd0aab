import { nameText, quoteText } from '../../../dialect/strings.js'
import type { AstNode } from './json.js'
import { isNode } from './nodes.js'

/** The keys of a tree that hold names of the user. */
const nameKeys = new Set([
  ...['alias', 'aliases', 'catalog_name', 'column', 'column_name_alias', 'column_names', 'cte_name', 'exclude_list', 'groups', 'key'],
  ...['relation_name', 'schema_name', 'table', 'table_name', 'unpivot_names', 'using_columns'],
])

/** Keys that also hold DuckDB's own words: `DECIMAL`, the `key` of a MAP, the collation `nocase`. */
const wordKeys = new Set(['catalog', 'collation', 'first', 'name', 'pivot_enum', 'schema'])

const word = /^[a-z_][a-z0-9_]*$/i

/** A constant has a type; the new name in `* RENAME (a AS b)` has none. */
const isText = ({ type }: AstNode): boolean => !isNode(type) || type['id'] === 'VARCHAR'

const prefix = 'ledger_name_'

const isHidden = (text: string, key: string, holder: AstNode): boolean => {
  if (text === '') return false
  if (key === 'value') return isText(holder)
  return nameKeys.has(key) || (wordKeys.has(key) && (!word.test(text) || text.includes(prefix)))
}

/** The tokens of a printed text that can hold a name: a string, a quoted name, a word. */
const tokens = /'(?:[^']|'')*'|"(?:[^"]|"")*"|[a-z_][a-z0-9_]*/gi

/**
 * The names and texts of a tree, each under a number. DuckDB prints the tree with `ledger_name_<number>` in their places, so that it prints
 * no name of a user. Afterwards the names are put back, in quotes where they need them.
 *
 * @example
 * const names = new HiddenNames()
 * names.hide('x y', 'relation_name', star) // 'ledger_name_0'
 * names.restore('SELECT ledger_name_0.*') // 'SELECT "x y".*'
 */
export class HiddenNames {
  readonly #texts: string[] = []
  readonly #numbers = new Map<string, number>()

  /** The printed name that replaces a text of the tree. The text is under a key of its holder. */
  readonly hide = (text: string, key: string, holder: AstNode): string => {
    if (!isHidden(text, key, holder)) return text
    const number = this.#numbers.get(text) ?? this.#texts.push(text) - 1
    this.#numbers.set(text, number)
    return prefix + String(number)
  }

  /** The printed text with the names put back; undefined if a name was printed as a part of something else. */
  restore(printed: string): string | undefined {
    const unknown: string[] = []
    const text = printed.replace(tokens, (token) => {
      if (!token.includes(prefix)) return token
      const quote = token.startsWith("'") || token.startsWith('"') ? 1 : 0
      const name = this.#named(token.slice(quote, token.length - quote))
      if (name === undefined) unknown.push(token)
      else if (token.startsWith("'")) return quoteText(name)
      else return nameText(name)
      return token
    })
    return unknown.length === 0 ? text : undefined
  }

  #named(placeholder: string): string | undefined {
    return placeholder.startsWith(prefix) ? this.#texts[Number(placeholder.slice(prefix.length))] : undefined
  }
}
