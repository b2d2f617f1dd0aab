import type { DuckDBConnection } from '@duckdb/node-api'
import { showSelects } from '../ast/duckdb.js'
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
  // What the grammar itself turns into a function, such as [1, 2], stands in the schema main.
  if (kind !== 'WINDOW' && (kind !== 'FUNCTION' || item['is_operator'] === true || textOf(item, 'schema') !== '')) return undefined
  const name = textOf(item, 'function_name').toLowerCase()
  return name === 'count_star' ? 'count' : name
}

const wholes = new Set(['INTEGER', 'BIGINT'])

/** A text is named by itself, and so is a whole number; a decimal's digits stand apart from its point. */
const constantText = (item: AstNode): string | undefined => {
  const held = textOf(item, 'class') === 'CONSTANT' ? nodeOf(item, 'value') : undefined
  const value = held?.['value']
  if (typeof value === 'string') return value
  return value instanceof NumberText && wholes.has(textOf(nodeOf(held ?? {}, 'type') ?? {}, 'id')) ? value.text : undefined
}

/** TRUE and FALSE reach us as a text that is cast; clients know them as `True` and `False`. */
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

/** Names what has a name by rule, and gives back the items whose name is DuckDB's text of them. */
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
 * Gives every item of a SELECT list that has no alias the name that the user expects: a function its name and a number
 * (`count_0`), a text its value, anything else the name that DuckDB would give it. Done before any rewriting, which would
 * change DuckDB's names and show what stands behind them.
 *
 * @example SELECT count(*), a + 1, 'x' FROM t // count_0, (a + 1), x
 */
export const nameItems = async (connection: DuckDBConnection, tree: AstNode): Promise<void> => {
  const unnamed: { item: AstNode; written: AstNode }[] = []
  walk(tree, (node) => {
    if (!isQuery(node) || textOf(node, 'type') !== 'SELECT_NODE') return true
    // Copied before the queries inside are named, which DuckDB's name would show.
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
