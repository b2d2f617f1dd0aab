import type { DuckDBConnection } from '@duckdb/node-api'
import { showSelects } from '../ast/checked-text.js'
import { cloneAst, NumberText, type AstNode } from '../ast/json.js'
import { emptyRef, isColumnRef, isQuery, nodeOf, nodesOf, selectNode, textOf, walk } from '../ast/nodes.js'

const holdsStar = (item: AstNode): boolean => {
  let found = false
  walk(item, (node) => {
    if (textOf(node, 'class') === 'STAR') found = true
    return !found && !isQuery(node)
  })
  return found
}

const functionOf = (item: AstNode): string | undefined => {
  const kind = textOf(item, 'class')
  // Functions that the grammar itself makes from other forms, such as [1, 2], are in the schema main.
  if (kind !== 'WINDOW' && (kind !== 'FUNCTION' || item['is_operator'] === true || textOf(item, 'schema') !== '')) return undefined
  const name = textOf(item, 'function_name').toLowerCase()
  return name === 'count_star' ? 'count' : name
}

const wholes = new Set(['INTEGER', 'BIGINT'])

/** A text is its own name, and so is a whole number. The tree has the digits of a decimal without its point. */
const constantText = (item: AstNode): string | undefined => {
  const held = textOf(item, 'class') === 'CONSTANT' ? nodeOf(item, 'value') : undefined
  const value = held?.['value']
  if (typeof value === 'string') return value
  return value instanceof NumberText && wholes.has(textOf(nodeOf(held ?? {}, 'type') ?? {}, 'id')) ? value.text : undefined
}

/** TRUE and FALSE arrive as a text with a cast; clients know them as `True` and `False`. */
const booleanText = (item: AstNode): string | undefined => {
  const target = nodeOf(item, 'cast_type')
  const child = nodeOf(item, 'child')
  if (textOf(item, 'class') !== 'CAST' || !target || !child || textOf(target, 'id') !== 'BOOLEAN') return undefined
  const text = constantText(child)
  return text === 't' ? 'True' : text === 'f' ? 'False' : undefined
}

const keepsItsName = (item: AstNode): boolean =>
  textOf(item, 'alias') !== '' ||
  isColumnRef(item) ||
  textOf(item, 'class') === 'POSITIONAL_REFERENCE' ||
  holdsStar(item) ||
  textOf(item, 'function_name').toLowerCase() === 'unnest'

/** Names the items whose names follow a rule, and returns the items that DuckDB names by their text. */
const nameList = (list: readonly AstNode[]): AstNode[] => {
  const counts = new Map<string, number>()
  return list.filter((item) => {
    if (keepsItsName(item)) return false
    const made = functionOf(item)
    const count = made === undefined ? 0 : (counts.get(made) ?? 0)
    if (made !== undefined) counts.set(made, count + 1)
    const name = made === undefined ? (constantText(item) ?? booleanText(item)) : `${made}_${count}`
    if (name !== undefined && name !== '') item['alias'] = name
    return name === undefined
  })
}

const select = 'SELECT '

/**
 * Gives every item of a SELECT list without an alias the name that the user expects: a function gets its name and a number (`count_0`), a
 * text its value, anything else the name that DuckDB would give it. This precedes any rewriting, because rewriting would change DuckDB's
 * names and show internal names.
 *
 * @example SELECT count(*), a + 1, 'x' FROM t // count_0, (a + 1), x
 */
export const nameItems = async (connection: DuckDBConnection, tree: AstNode): Promise<void> => {
  const unnamed: { item: AstNode; written: AstNode }[] = []
  walk(tree, (node) => {
    if (!isQuery(node) || textOf(node, 'type') !== 'SELECT_NODE') return true
    // Copied before the inner queries get names, because DuckDB's name would show these.
    for (const item of nameList(nodesOf(node, 'select_list'))) unnamed.push({ item, written: selectNode([cloneAst(item)], emptyRef()) })
    return true
  })
  if (unnamed.length === 0) return
  const texts = await showSelects(
    connection,
    unnamed.map(({ written }) => written),
  )
  unnamed.forEach(({ item }, i) => (item['alias'] = texts[i]?.slice(select.length) ?? ''))
}
