import type { DuckDBConnection } from '@duckdb/node-api'
import { foldName } from '../../../../events/common.js'
import { parseSelect } from '../ast/checked-text.js'
import type { AstNode, AstValue } from '../ast/json.js'
import { isNode, isReference, locationOf, textOf, textsOf, walk } from '../ast/nodes.js'
import { isMarked } from '../session/sources.js'

/**
 * Finds the node of a byte in the printed text: walks through the tree of the printed text and the tree before the printing, side by side.
 */
class Search {
  found: number | undefined

  constructor(private readonly bytes: number) {}

  /** `above` is the location of the nearest outer node that has a location in a source. */
  pair(printed: AstValue | undefined, tree: AstValue | undefined, above: number | undefined): void {
    if (Array.isArray(printed) && Array.isArray(tree)) printed.forEach((item, i) => this.pair(item, tree[i], above))
    if (!isNode(printed) || !isNode(tree)) return
    const own = locationOf(tree)
    const nearest = isMarked(own) ? own : above
    if (locationOf(printed) === this.bytes) this.found = nearest
    for (const [key, member] of Object.entries(printed)) this.pair(member, tree[key], nearest)
  }
}

/**
 * The marked location of the node at DuckDB's position in a printed text: the location of the node itself, or of the nearest outer node
 * that the user wrote.
 */
export const locationAt = async (connection: DuckDBConnection, text: string, tree: AstNode, bytes: number): Promise<number | undefined> => {
  const search = new Search(bytes)
  search.pair(await parseSelect(connection, text), tree, undefined)
  return search.found
}

const lastOf = (names: readonly string[]): string => names.at(-1) ?? ''

const isNamed = (node: AstNode, name: string): boolean =>
  [lastOf(textsOf(node, 'column_names')), textOf(node, 'relation_name'), textOf(node, 'function_name')].some(
    (known) => known !== '' && foldName(known) === name,
  )

/** The location of the first expression that reads a column or table of this name. */
export const locationOfName = (tree: AstNode, name: string): number | undefined => {
  let found: number | undefined
  walk(tree, (node) => {
    if (found === undefined && isNamed(node, foldName(name)) && isMarked(locationOf(node))) found = locationOf(node)
    return found === undefined
  })
  return found
}

/** The tables of a tree with this name or alias, in the order of the text. */
export const tablesNamed = (tree: AstNode, name: string): AstNode[] => {
  const found: AstNode[] = []
  walk(tree, (node) => {
    if (isReference(node) && foldName(textOf(node, 'alias')) === foldName(name)) found.push(node)
    return true
  })
  return found
}
